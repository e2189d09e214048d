import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAsrError } from '../../src/base/error.js'
import { failureOf } from '../../src/conformance/check.js'
import { logStorageConformance } from '../../src/conformance/main.js'
import { errnoOf } from '../../src/log/storage/io-error.js'
import { NodeStorage } from '../../src/log/storage/node-storage.js'
import { addCases } from '../conformance/support.js'

const NAME = 'streams/a.log'
const roots: string[] = []

function makeRoot(): string {
  const root = fs.mkdtempSync(join(tmpdir(), 'asr-test-storage-'))
  roots.push(root)
  return root
}

test.after(() => {
  for (const root of roots) fs.rmSync(root, { recursive: true, force: true })
})

/** Runs with some of Node's file calls replaced. */
async function patched(calls: Partial<typeof fs>, run: () => void | Promise<void>): Promise<void> {
  const originals = Object.fromEntries(Object.keys(calls).map((name) => [name, fs[name as keyof typeof fs]]))
  Object.assign(fs, calls)
  syncBuiltinESMExports()
  try {
    await run()
  } finally {
    Object.assign(fs, originals)
    syncBuiltinESMExports()
  }
}

/** What the descriptors of this process mean, below a folder. */
function openPaths(root: string): string[] {
  const paths = fs.readdirSync('/proc/self/fd').map((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
  return paths.filter((path) => path.startsWith(root)).map((path) => path.slice(root.length + 1))
}

const onLinux = process.platform === 'linux' ? test : test.skip

addCases(test, logStorageConformance({ make: () => new NodeStorage(makeRoot()) }))

test('a root that is not there is made by the first append, not before', async () => {
  const root = join(makeRoot(), 'deep', 'store')
  const storage = new NodeStorage(root)
  assert.is(storage.size(NAME), undefined)
  assert.not(fs.existsSync(dirname(root)))
  assert.is(storage.append(NAME, Uint8Array.of(1)), 1)
  await storage.sync(NAME)
  assert.equal([...fs.readFileSync(join(root, NAME))], [1])
  storage.close()
})

test('another storage of the root sees what is there, and the size tells of another writer', () => {
  const root = makeRoot()
  const one = new NodeStorage(root)
  const other = new NodeStorage(root)
  assert.is(one.append(NAME, Uint8Array.of(1, 2)), 2)
  assert.is(other.append(NAME, Uint8Array.of(3)), 3)
  assert.is(one.append(NAME, Uint8Array.of(4)), 4)
  assert.equal([...other.read(NAME, 0, 9)], [1, 2, 3, 4])
  one.close()
  other.close()
})

test('short writes and short reads are gone on with', async () => {
  const storage = new NodeStorage(makeRoot())
  const bytes = Uint8Array.from({ length: 100 }, (_, i) => i)
  const { writeSync, readSync } = fs
  let calls = 0
  const short = {
    writeSync: (fd: number, from: Uint8Array, offset: number, length: number) => {
      calls++
      return writeSync(fd, from, offset, Math.min(length, 7))
    },
    readSync: (fd: number, into: Uint8Array, offset: number, length: number, at: number) => {
      calls++
      return readSync(fd, into, offset, Math.min(length, 7), at)
    },
  } as Partial<typeof fs>
  await patched(short, () => {
    assert.is(storage.append(NAME, bytes), 100)
    assert.is(calls, 15)
    assert.equal([...storage.read(NAME, 10, 1000)], [...bytes.subarray(10)])
    assert.equal([...storage.read(NAME, 10, 50)], [...bytes.subarray(10, 60)])
  })
  storage.close()
})

test('a write that fails half-way rejects with the system’s error and leaves what was written', async () => {
  const storage = new NodeStorage(makeRoot())
  const { writeSync } = fs
  let calls = 0
  const full = {
    writeSync: (fd: number, from: Uint8Array, offset: number) => {
      if (calls++ > 0) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
      return writeSync(fd, from, offset, 2)
    },
  } as Partial<typeof fs>
  await patched(full, () => {
    let thrown: unknown
    try {
      storage.append(NAME, Uint8Array.of(1, 2, 3))
    } catch (error) {
      thrown = error
    }
    assert.is(errnoOf(thrown), 'ENOSPC')
  })
  assert.equal([...storage.read(NAME, 0, 9)], [1, 2])
  storage.close()
})

test('a new file, or one of a new name, is synced with its folder and the folders above it, once', async () => {
  const root = makeRoot()
  const storage = new NodeStorage(root)
  const { openSync, fdatasync, fsync } = fs
  const opened = new Map<number, string>()
  let synced: string[] = []
  const recording = {
    openSync: (path: string, ...rest: [number | string]) => {
      const fd = openSync(path, ...rest)
      opened.set(fd, path.slice(root.length + 1))
      return fd
    },
    fdatasync: (fd: number, done: fs.NoParamCallback) => {
      synced.push(`data of ${opened.get(fd)}`)
      fdatasync(fd, done)
    },
    fsync: (fd: number, done: fs.NoParamCallback) => {
      synced.push(`folder ${opened.get(fd)}`)
      fsync(fd, done)
    },
  } as Partial<typeof fs>
  const syncsOf = async (name: string) => {
    synced = []
    await storage.sync(name)
    return synced
  }
  await patched(recording, async () => {
    storage.append(NAME, Uint8Array.of(1))
    assert.equal(await syncsOf(NAME), ['data of streams/a.log', 'folder streams', 'folder '])
    storage.append(NAME, Uint8Array.of(1))
    assert.equal(await syncsOf(NAME), ['data of streams/a.log'])
    storage.close()
    assert.equal(await syncsOf(NAME), ['data of streams/a.log'])
    storage.rename(NAME, 'b.log')
    assert.equal((await syncsOf('b.log')).slice(1), ['folder '])
    assert.is((await syncsOf('b.log')).length, 1)
  })
  storage.close()
})

onLinux('a sync leaves the event loop to others, and its file open as long as it takes', async () => {
  const root = makeRoot()
  const storage = new NodeStorage(root, { descriptors: 1 })
  storage.append('a', Uint8Array.of(1))
  const { fdatasync } = fs
  const held: (() => void)[] = []
  const slow = (fd: number, done: fs.NoParamCallback) => held.push(() => fdatasync(fd, done))
  await patched({ fdatasync: slow as never }, async () => {
    const synced = Promise.all([storage.sync('a'), storage.sync('a')])
    storage.append('b', Uint8Array.of(1))
    assert.is(storage.append('a', Uint8Array.of(2)), 2)
    storage.close()
    await new Promise((resolve) => setTimeout(resolve))
    assert.equal(openPaths(root), ['a'])
    for (const go of held) go()
    await synced
    assert.equal(openPaths(root), [])
  })
})

test('a sync of a folder that fails is tried again by the next', async () => {
  const storage = new NodeStorage(makeRoot())
  storage.append(NAME, Uint8Array.of(1))
  let calls = 0
  const failing = {
    fsync: (_: number, done: fs.NoParamCallback) => {
      calls++
      done(Object.assign(new Error('EIO'), { code: 'EIO' }))
    },
  } as Partial<typeof fs>
  await patched(failing, async () => {
    for (let n = 0; n < 2; n++) assert.match(String(await failureOf(() => storage.sync(NAME))), 'EIO')
  })
  assert.is(calls, 2)
  await storage.sync(NAME)
  storage.close()
})

onLinux('at most so many descriptors are open, and the least recently used is closed', () => {
  const root = makeRoot()
  const storage = new NodeStorage(root, { descriptors: 3 })
  for (const name of ['a', 'b', 'c']) storage.append(name, Uint8Array.of(1))
  storage.read('a', 0, 1)
  storage.append('d', Uint8Array.of(1))
  assert.equal(openPaths(root).sort(), ['a', 'c', 'd'])
  assert.is(storage.append('b', Uint8Array.of(2)), 2)
  assert.equal(openPaths(root).sort(), ['a', 'b', 'd'])
  storage.close()
  assert.equal(openPaths(root), [])
})

onLinux('a thousand files cost 256 descriptors, and none when removed', async () => {
  const root = makeRoot()
  const storage = new NodeStorage(root)
  const names = Array.from({ length: 1000 }, (_, i) => `streams/${i}`)
  for (const round of [1, 2]) for (const name of names) assert.is(storage.append(name, Uint8Array.of(round)), round)
  assert.is(openPaths(root).length, 256)
  assert.is((await storage.list('streams')).length, 1000)
  for (const name of names) storage.remove(name)
  assert.equal(openPaths(root), [])
  assert.equal(await storage.list('streams'), [])
})

onLinux('where no descriptor is left, files that rest are closed for what is to be done', async () => {
  const root = makeRoot()
  const storage = new NodeStorage(root)
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) storage.append(name, Uint8Array.of(1))
  const { openSync } = fs
  let refusals = 0
  const refusing = (...args: Parameters<typeof openSync>) => {
    if (refusals-- > 0) throw Object.assign(new Error('no descriptors'), { code: 'EMFILE' })
    return openSync(...args)
  }
  await patched({ openSync: refusing as never }, async () => {
    refusals = 1
    assert.is(storage.append('g', Uint8Array.of(1)), 1)
    assert.equal(openPaths(root).sort(), ['e', 'f', 'g'])
    refusals = 1
    await storage.rewrite('a', 0)
    await storage.sync('g')
    assert.equal([...storage.read('a', 0, 9)], [1])
    refusals = 100
    assert.throws(() => storage.append('h', Uint8Array.of(1)), /no descriptors/)
    assert.equal(openPaths(root), [], 'it gave all up')
    refusals = 0
    assert.is(storage.append('h', Uint8Array.of(1)), 1)
  })
  storage.close()
})

onLinux('a rename keeps one descriptor, of the file and not of the one replaced', () => {
  const root = makeRoot()
  const storage = new NodeStorage(root)
  storage.append('a', Uint8Array.of(1))
  storage.append('b', Uint8Array.of(2))
  storage.rename('a', 'b')
  assert.equal(openPaths(root), ['b'])
  storage.close()
})

test('appending to a file that somebody removed is an error, not a write into nowhere', () => {
  const root = makeRoot()
  const storage = new NodeStorage(root)
  storage.append(NAME, Uint8Array.of(1))
  fs.unlinkSync(join(root, NAME))
  assert.throws(() => storage.append(NAME, Uint8Array.of(2)), /was removed/)
  storage.close()
})

test('a reader goes on in a file that was removed, and turns to one that took its place, asked for or listed', async () => {
  const root = makeRoot()
  const storage = new NodeStorage(root, { readOnly: true })
  fs.mkdirSync(join(root, 'streams'))
  fs.writeFileSync(join(root, NAME), 'old')
  assert.is(storage.read(NAME, 0, 3).length, 3)
  fs.unlinkSync(join(root, NAME))
  assert.is(storage.size(NAME), undefined)
  assert.equal([...storage.read(NAME, 0, 3)], [...Buffer.from('old')])
  fs.writeFileSync(join(root, NAME), 'newer')
  assert.is(storage.size(NAME), 5)
  assert.equal([...storage.read(NAME, 0, 9)], [...Buffer.from('newer')])
  fs.renameSync(join(root, NAME), join(root, `${NAME}.cut-0`))
  fs.writeFileSync(join(root, NAME), 'newest')
  assert.ok((await storage.list('streams')).some(({ name, size }) => name === NAME && size === 6))
  assert.equal([...storage.read(NAME, 0, 9)], [...Buffer.from('newest')])
  storage.close()
})

test('open for reading only, nothing is written or made', async () => {
  const root = makeRoot()
  const storage = new NodeStorage(root, { readOnly: true })
  fs.writeFileSync(join(root, 'a'), 'abc')
  for (const call of [
    () => storage.append('a', Uint8Array.of(1)),
    () => storage.append('new/b', Uint8Array.of(1)),
    () => storage.truncate('a', 0),
    () => storage.rename('a', 'new/b'),
    () => storage.remove('a'),
  ]) {
    assert.throws(call, (error: unknown) => isAsrError(error, 'ASR_READ_ONLY'))
  }
  assert.ok(isAsrError(await failureOf(() => storage.sync('a')), 'ASR_READ_ONLY'))
  assert.equal([...storage.read('a', 1, 9)], [...Buffer.from('bc')])
  assert.equal(await storage.list(''), [{ name: 'a', size: 3 }])
  assert.throws(() => storage.read('new/b', 0, 1), /ENOENT/)
  assert.equal(fs.readdirSync(root), ['a'])
  storage.close()
})

test('a file in the place of a folder is the system’s error, and folders are no files', async () => {
  const root = makeRoot()
  const storage = new NodeStorage(root)
  fs.writeFileSync(join(root, 'streams'), '')
  assert.throws(() => storage.append(NAME, Uint8Array.of(1)), /ENOTDIR/)
  const listing = await storage.list('streams').catch((error: Error) => error.message)
  assert.match(String(listing), /ENOTDIR/)
  fs.mkdirSync(join(root, 'folder'))
  assert.equal(await storage.list(''), [{ name: 'streams', size: 0 }])
  storage.close()
})

test.run()
