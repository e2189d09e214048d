/**
 * Somebody else who wants the store, in a process or a thread of its own: does what it is told, and answers how it went.
 */
import { isMainThread, parentPort } from 'node:worker_threads'
import { isAsrError, openStore, type Store } from '../../src/main.js'

export interface Told {
  step: 'open' | 'append' | 'close'
  folder: string
}

/** `ok`, or a code; and who holds the store, where that was said. */
export interface Answer {
  outcome: string
  holder?: string
}

let store: Store | undefined

const steps: { [step in Told['step']]: (folder: string) => Promise<unknown> } = {
  open: async (folder) => {
    store = await openStore(folder)
  },
  append: async () => (await store!.stream('s')).append({ type: 'message' }),
  close: async () => store?.close(),
}

async function answer({ step, folder }: Told): Promise<Answer> {
  try {
    await steps[step](folder)
    return { outcome: 'ok' }
  } catch (error) {
    return isAsrError(error) ? { outcome: error.code, holder: error.holder } : { outcome: String(error) }
  }
}

if (isMainThread) {
  process.on('message', async (told: Told) => process.send?.(await answer(told)))
  process.on('disconnect', () => process.exit())
} else {
  parentPort?.on('message', async (told: Told) => parentPort?.postMessage(await answer(told)))
}
