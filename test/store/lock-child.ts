/**
 * A contender for a store's folder in a process or thread of its own: does what it is told and answers how it went.
 */
import { join } from 'node:path'
import { isMainThread, parentPort } from 'node:worker_threads'
import { Level } from 'level'
import { errnoOf } from '../../src/log/storage/io-error.js'
import { FolderLock } from '../../src/store/node/lock.js'

export interface Told {
  step: 'acquire' | 'openLevel' | 'closeLevel' | 'announce' | 'check' | 'release' | 'exit'
  folder: string
}

/** `ok`, or the code of what was thrown. */
export type Answer = string

let lock: FolderLock | undefined
let level: Level | undefined

const steps: Record<Told['step'], (folder: string) => unknown> = {
  acquire: (folder) => {
    lock = FolderLock.acquire(folder)
  },
  openLevel: async (folder) => {
    level = new Level(join(folder, 'index'))
    await level.open()
  },
  closeLevel: () => level?.close(),
  announce: () => lock?.announce(),
  check: () => lock?.check(),
  release: () => lock?.release(),
  exit: () => process.exit(),
}

async function answer({ step, folder }: Told): Promise<Answer> {
  try {
    await steps[step](folder)
    return 'ok'
  } catch (error) {
    const cause = error instanceof Error ? errnoOf(error.cause) : undefined
    return cause === 'LEVEL_LOCKED' ? cause : (errnoOf(error) ?? String(error))
  }
}

if (isMainThread) {
  process.on('message', async (told: Told) => process.send?.(await answer(told)))
  process.on('disconnect', () => process.exit())
} else {
  parentPort?.on('message', async (told: Told) => parentPort?.postMessage(await answer(told)))
}
