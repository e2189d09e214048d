/**
 * A process that appends batches to a store until it is told to stop: `node readers-writer.js <folder> <batch>`. Each
 * batch has records `<n>.1` … `<n>.<batch>`. Each line of its input is a command, answered by a line.
 */
import { createInterface } from 'node:readline'
import { type AsrRecord, openStore, type Stream } from '../../src/main.js'
import { bytesOf } from '../support/collect.js'
import { header, jsonl } from '../support/records.js'

const [folder, batch] = process.argv.slice(2)
const store = await openStore(folder)
let stream: Stream = await store.createStream(header())
let writing = true
let n = 0

async function write(): Promise<void> {
  while (writing) {
    n++
    const records: AsrRecord[] = []
    for (let i = 1; i <= Number(batch); i++) {
      records.push({ type: 'message', id: `${n}.${i}`, [`key${n % 50}`]: n, text: 'words '.repeat(i) })
    }
    await stream.append(records)
    // Lets commands through, and the reader's processor time too.
    await new Promise((resolve) => setTimeout(resolve, n % 10 === 0 ? 1 : 0))
  }
}

const commands: { [name: string]: () => Promise<unknown> } = {
  stop: async () => {
    writing = false
    await running
    return stream.length
  },
  /** A file with many more records than the stream, more than are written at once. */
  extend: async () => {
    const more = Array.from({ length: 3_000 }, (_, i) => ({
      type: 'message',
      id: `more${i}`,
      text: 'words '.repeat(20),
    }))
    await store.importJsonl([await bytesOf(stream.exportJsonl()), jsonl(...more)])
    return stream.length
  },
  remake: async () => {
    await store.deleteStream('s')
    stream = await store.createStream(header())
    await stream.append({ type: 'message', id: 'anew' })
    return 'done'
  },
  end: async () => {
    await store.close()
    process.exit(0)
  },
}

const running = write()
process.stdout.write('open\n')
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${line} ${await commands[line]()}\n`)
}
