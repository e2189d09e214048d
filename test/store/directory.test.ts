/**
 * The folder of many streams: what one of them costs, the others do not pay for.
 */
import { join } from 'node:path'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { NodeStorage } from '../../src/log/storage/node-storage.js'
import type { StoredFile } from '../../src/log/storage/storage.js'
import { openStore } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header, message } from '../support/records.js'
import { tempFolder } from '../support/temp.js'

/** Reads wait at a gate while it is closed; it counts what is listed. */
class GatedStorage extends MemoryStorage {
  gate: Promise<void> | undefined
  listed = 0

  override read(name: string, offset: number, length: number): Uint8Array {
    const read = (): Uint8Array => super.read(name, offset, length)
    const { gate } = this
    return (gate === undefined ? read() : gate.then(read)) as Uint8Array // as a storage may
  }

  override list(folder: string, prefix = ''): StoredFile[] {
    const files = super.list(folder).filter(({ name }) => name.slice(folder.length + 1).startsWith(prefix))
    this.listed += files.length
    return files
  }
}

test('while one stream is being opened, others are made, opened, listed and deleted', async () => {
  const log = new GatedStorage()
  const index = new MemoryLevel<string, Uint8Array>({ valueEncoding: 'view' })
  const before = await openStore({ log, index })
  for (const id of ['a', 'b', 'c']) await (await before.createStream(header(id))).append(message('m'))
  await before.close()
  const store = await openStore({ log, index: new MemoryLevel<string, Uint8Array>({ valueEncoding: 'view' }) })
  await store.stream('b')
  let open = (): void => undefined
  log.gate = new Promise((resolve) => {
    open = resolve
  })
  let isOpen = false
  const opening = store.stream('a').then((stream) => {
    isOpen = true
    return stream
  })
  const again = store.stream('a')
  await store.createStream(header('new'))
  await store.stream('b')
  await store.deleteStream('c')
  await fails('ASR_STREAM_EXISTS', () => store.createStream(header('b')))
  const made = store.createStream(header('a')).catch(({ code }) => code)
  assert.is(isOpen, false)
  const closing = store.close()
  log.gate = undefined
  open()
  assert.is((await opening).length, 1)
  const code = (error: { code: string }): string => error.code
  assert.equal(
    [await again.catch(code), await made],
    ['ASR_CLOSED', 'ASR_CLOSED'],
    'what waited finds the store closed',
  )
  await closing
})

test('a reader that asks for one stream looks at its files alone', async () => {
  const log = new GatedStorage()
  const index = new MemoryLevel<string, Uint8Array>({ valueEncoding: 'view' })
  const writer = await openStore({ log, index })
  for (let n = 0; n < 200; n++) await writer.createStream(header(`s${n}`))
  const reader = await openStore({ log, index }, { readOnly: true })
  log.listed = 0
  for (let n = 0; n < 200; n++) {
    await reader.stream(`s${n}`)
    await reader.stream(`s${n}`)
  }
  assert.ok(log.listed <= 200, `${log.listed} files listed`)
  await writer.createStream(header('new'))
  assert.is((await reader.stream('new')).length, 0)
  await writer.deleteStream('s7')
  await fails('ASR_STREAM_NOT_FOUND', () => reader.stream('s7'))
  await writer.createStream(header('s7'))
  assert.is((await reader.stream('s7')).length, 0)
  assert.is((await collect(reader.streams())).length, 201)
  await reader.close()
  await writer.close()
})

test('a folder is synced once for all files in it that are new', async () => {
  const folder = tempFolder()
  const synced: string[] = []
  class Watched extends NodeStorage {
    override syncFolder(path: string): Promise<void> {
      synced.push(path)
      return super.syncFolder(path)
    }
  }
  const storage = new Watched(folder)
  for (let n = 0; n < 50; n++) storage.append(`streams/${n}`, Uint8Array.of(1))
  for (let n = 0; n < 50; n++) await storage.sync(`streams/${n}`)
  assert.equal(synced, [join(folder, 'streams'), folder])
  storage.append('streams/more', Uint8Array.of(1))
  await storage.sync('streams/more')
  assert.is(synced.length, 4)
  storage.close()
})

test.run()
