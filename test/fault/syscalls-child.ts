/**
 * A small writer whose system calls fail: `node syscalls-child.js <folder> <log> <durability> <n>`. From the n-th record on, what it
 * tries and what came of it goes to a file, by a call that no injection names.
 */
import { openSync, writevSync } from 'node:fs'
import { isAsrError, openStore } from '../../src/main.js'
import { header } from '../support/records.js'

const [folder, log, durability, from] = process.argv.slice(2)
const fd = openSync(log, 'a')

function say(words: { id?: string; code: string }): void {
  writevSync(fd, [Buffer.from(JSON.stringify(words)), Buffer.from('\n')]) // of a single buffer it would be a `write`
}

async function codeOf(call: () => Promise<unknown>): Promise<string> {
  try {
    await call()
    return 'ok'
  } catch (error) {
    return isAsrError(error) ? error.code : `raw ${error}`
  }
}

async function writeSome(first: number): Promise<void> {
  const store = await openStore(folder, { durability: durability as 'process' | 'disk' })
  try {
    let stream = await store.stream('s').catch(() => store.createStream(header('s')))
    for (let n = first; n < first + 8; n++) {
      const id = `m${n}`
      say({ id, code: 'tried' })
      const code = await codeOf(() => stream.append({ type: 'message', id }))
      say({ id, code })
      if (code !== 'ok') stream = await store.stream('s')
    }
  } finally {
    await store.close()
  }
}

const first = await codeOf(() => writeSome(Number(from)))
say({ code: first === 'ok' ? await codeOf(() => writeSome(Number(from) + 8)) : first })
process.exit(0)
