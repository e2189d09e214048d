import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { memoryLocation, openStore } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { header, message } from '../support/records.js'

/** Counts what is read. */
class CountingStorage extends MemoryStorage {
  bytesRead = 0

  override read(name: string, offset: number, length: number): Uint8Array {
    const bytes = super.read(name, offset, length)
    this.bytesRead += bytes.length
    return bytes
  }
}

test('to find what is intact, a log is read a few times, whatever it holds', async () => {
  const log = new CountingStorage()
  const store = await openStore({ log, index: memoryLocation().index })
  const stream = await store.createStream(header())
  await stream.append(Array.from({ length: 3_000 }, (_, n) => message(`n${n}`)))
  await stream.append(message('large', { words: 'x'.repeat(3_000_000) }))
  await stream.append(message('last'))
  const [{ bytes }] = await collect(store.streams())
  log.bytesRead = 0
  const lines = (await collect(stream.exportJsonl({ salvage: true }))).map((chunk) => new TextDecoder().decode(chunk))
  assert.is(lines.join('').split('\n').length, 3_000 + 4)
  assert.ok(log.bytesRead < 12 * bytes + 8_000_000, `${log.bytesRead} bytes read of ${bytes}`)
  await store.close()
})

test.run()
