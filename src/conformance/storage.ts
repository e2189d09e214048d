/**
 * What every `LogStorage` must do.
 */
import { errnoOf } from '../log/storage/io-error.js'
import type { LogStorage } from '../log/storage/storage.js'
import type { ConformanceCase, StorageConformanceOptions } from './api.js'
import { failureOf, holds, same } from './check.js'

type Check = (storage: LogStorage) => Promise<void>

const NAME = 'streams/0a1b-000001.log'

function bytes(...values: number[]): Uint8Array {
  return Uint8Array.from(values)
}

async function contents(storage: LogStorage, name = NAME): Promise<number[]> {
  return [...(await storage.read(name, 0, 1_000_000))]
}

const CHECKS: Record<string, Check> = {
  'append makes the file and resolves with its size': async (storage) => {
    same(await storage.append(NAME, bytes(1, 2, 3)), 3)
    same(await storage.append(NAME, bytes(4)), 4)
    same(await contents(storage), [1, 2, 3, 4])
  },

  'append of nothing makes an empty file': async (storage) => {
    same(await storage.append(NAME, bytes()), 0)
    same(await storage.size(NAME), 0)
    same(await contents(storage), [])
  },

  'what is written again is as it was, and appends go on after it': async (storage) => {
    await storage.append(NAME, bytes(1, 2, 3, 4))
    for (const from of [0, 2, 4, 9]) await storage.rewrite?.(NAME, from)
    same(await contents(storage), [1, 2, 3, 4])
    same(await storage.append(NAME, bytes(5)), 5)
    same(await contents(storage), [1, 2, 3, 4, 5])
    const absent = await failureOf(() => storage.rewrite?.('streams/absent', 0))
    if (storage.rewrite !== undefined) same(errnoOf(absent), 'ENOENT')
  },

  'append takes the view it is given, not the buffer under it': async (storage) => {
    const view = bytes(9, 9, 1, 2, 9).subarray(2, 4)
    same(await storage.append(NAME, view), 2)
    same(await contents(storage), [1, 2])
  },

  'what is appended is copied': async (storage) => {
    const given = bytes(1, 2)
    await storage.append(NAME, given)
    given.fill(7)
    same(await contents(storage), [1, 2])
  },

  'what is read may be kept and changed': async (storage) => {
    await storage.append(NAME, bytes(1, 2))
    const read = await storage.read(NAME, 0, 2)
    read.fill(7)
    await storage.append(NAME, bytes(3))
    same([...read], [7, 7])
    same(await contents(storage), [1, 2, 3])
  },

  'read gives a plain Uint8Array that holds nothing else': async (storage) => {
    await storage.append(NAME, bytes(1, 2, 3))
    for (const length of [2, 3, 100_000]) {
      const read = await storage.read(NAME, 0, length)
      holds(Object.getPrototypeOf(read) === Uint8Array.prototype, 'what is read is a plain Uint8Array')
      same(read.buffer.byteLength, read.length)
    }
  },

  'read gives a range, and less only where the file ends': async (storage) => {
    await storage.append(NAME, bytes(0, 1, 2, 3, 4))
    same([...(await storage.read(NAME, 1, 3))], [1, 2, 3])
    same([...(await storage.read(NAME, 3, 5))], [3, 4])
    same([...(await storage.read(NAME, 5, 5))], [])
    same([...(await storage.read(NAME, 2 ** 33, 5))], [])
    same([...(await storage.read(NAME, 2, 0))], [])
  },

  'many appends of many sizes are all there': async (storage) => {
    const expected: number[] = []
    for (let i = 0; i < 200; i++) {
      const part = Array.from({ length: (i * 37) % 211 }, (_, k) => (i + k) % 256)
      for (const byte of part) expected.push(byte)
      same(await storage.append(NAME, Uint8Array.from(part)), expected.length)
    }
    same(await contents(storage), expected)
  },

  'a file that is absent has no size and cannot be read, synced, cut, renamed or removed': async (storage) => {
    await storage.append('streams/other', bytes(1))
    same(await storage.size(NAME), undefined)
    same(await storage.size('no/such/folder'), undefined)
    same(await storage.size('streams'), undefined)
    for (const call of [
      () => storage.read(NAME, 0, 1),
      () => storage.sync(NAME),
      () => storage.truncate(NAME, 0),
      () => storage.rename(NAME, 'streams/new'),
      () => storage.remove(NAME),
    ]) {
      same(errnoOf(await failureOf(call)), 'ENOENT', call.toString())
    }
    same(await storage.list('streams'), [{ name: 'streams/other', size: 1 }])
  },

  'sync of a file, new or not, changes nothing that is read': async (storage) => {
    for (const value of [1, 2]) {
      await storage.append(NAME, bytes(value))
      await storage.sync(NAME)
      await storage.sync(NAME)
    }
    same(await contents(storage), [1, 2])
  },

  'truncate cuts, and appends go on from there': async (storage) => {
    await storage.append(NAME, bytes(1, 2, 3, 4))
    await storage.truncate(NAME, 2)
    same(await storage.size(NAME), 2)
    same(await storage.append(NAME, bytes(9)), 3)
    same(await contents(storage), [1, 2, 9])
    await storage.truncate(NAME, 0)
    same(await contents(storage), [])
  },

  'truncate beyond the end fills up with zeros, not with what was cut': async (storage) => {
    await storage.append(NAME, bytes(1, 2, 3, 4))
    await storage.truncate(NAME, 1)
    await storage.truncate(NAME, 3)
    same(await contents(storage), [1, 0, 0])
  },

  'rename moves the bytes, also into a folder that is not there': async (storage) => {
    await storage.append(NAME, bytes(1))
    await storage.rename(NAME, 'trash/a')
    same(await storage.size(NAME), undefined)
    same(errnoOf(await failureOf(() => storage.read(NAME, 0, 1))), 'ENOENT')
    same(await storage.append('trash/a', bytes(2)), 2)
    same(await contents(storage, 'trash/a'), [1, 2])
    await storage.sync('trash/a')
  },

  'rename replaces a file of the new name, and the old name is free': async (storage) => {
    await storage.append('a', bytes(1))
    await storage.append('b', bytes(2, 2))
    await storage.rename('a', 'b')
    same(await storage.append('b', bytes(3)), 2)
    same(await storage.append('a', bytes(4)), 1)
    same(await contents(storage, 'b'), [1, 3])
    same(await contents(storage, 'a'), [4])
  },

  'remove takes the file away, and its name is free': async (storage) => {
    await storage.append(NAME, bytes(1, 2))
    await storage.remove(NAME)
    same(await storage.size(NAME), undefined)
    same(errnoOf(await failureOf(() => storage.read(NAME, 0, 1))), 'ENOENT')
    same(await storage.append(NAME, bytes(3)), 1)
    same(await contents(storage), [3])
  },

  'list names the files directly in a folder, by names the other calls take': async (storage) => {
    for (const name of ['streams/a', 'streams/b', 'streams/deep/c', 'streams2/d', 'e'])
      await storage.append(name, bytes(1, 2))
    await storage.append('streams/b', bytes(3))
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    const listed = [...(await storage.list('streams'))].sort(byName)
    same(listed, [
      { name: 'streams/a', size: 2 },
      { name: 'streams/b', size: 3 },
    ])
    for (const { name, size } of listed) same((await storage.read(name, 0, 100)).length, size)
    same(await storage.list('streams/deep'), [{ name: 'streams/deep/c', size: 2 }])
    same(await storage.list(''), [{ name: 'e', size: 2 }])
  },

  'list of a folder that is absent is empty': async (storage) => {
    same(await storage.list('streams'), [])
    same(await storage.list(''), [])
  },

  'a name that leaves the place, or is not one, is a TypeError and touches nothing': async (storage) => {
    await storage.append('streams/a', bytes(1))
    for (const name of ['', '/a', 'a/', 'a//b', '.', './a', '..', '../a', 'streams/../../a', 'a\\b', 'c:a', 'a\0b']) {
      for (const call of [
        () => storage.append(name, bytes(1)),
        () => storage.read(name, 0, 1),
        () => storage.size(name),
        () => storage.sync(name),
        () => storage.truncate(name, 0),
        () => storage.rename(name, 'b'),
        () => storage.rename('streams/a', name),
        () => storage.remove(name),
        ...(name === '' ? [] : [() => storage.list(name)]),
      ]) {
        holds((await failureOf(call)) instanceof TypeError, `${JSON.stringify(name)} is refused by ${call}`)
      }
    }
    same(await storage.list('streams'), [{ name: 'streams/a', size: 1 }])
    same(await storage.list(''), [])
  },

  'names may hold any other character': async (storage) => {
    for (const name of ['ü 🎉', '...', '.hidden', 'a.b-c_d', '%2e%2e']) {
      same(await storage.append(name, bytes(1)), 1)
      same(await storage.size(name), 1)
    }
  },

  'close keeps the bytes, and may come twice': async (storage) => {
    await storage.append(NAME, bytes(1))
    await storage.close()
    await storage.close()
    same(await contents(storage), [1])
  },
}

/** Every promise of a `LogStorage`, over storages that `make` gives. */
export function logStorageConformance({ make }: StorageConformanceOptions): ConformanceCase[] {
  return Object.entries(CHECKS).map(([name, check]) => ({
    name,
    run: async () => {
      const storage = await make()
      try {
        await check(storage)
      } finally {
        await storage.close()
      }
    },
  }))
}
