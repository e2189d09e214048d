import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Level } from 'level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { type IndexSnapshot, snapshotIndex } from '../../src/store/node/index-snapshot.js'
import { header } from '../support/records.js'

const WRITER = new URL('./snapshot-writer.js', import.meta.url)
const LIBRARY = new URL('../../src/main.js', import.meta.url)
const MODULE = new URL('../../src/store/node/index-snapshot.js', import.meta.url)

/** Of this test alone, for what snapshots leave there. */
process.env.TMPDIR = fs.mkdtempSync(join(tmpdir(), 'asr-test-tmp-'))

const folders: string[] = [process.env.TMPDIR]
const children: ChildProcess[] = []
const threads: Worker[] = []

function makeFolder(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'asr-test-snapshot-'))
  folders.push(folder)
  return folder
}

/** Snapshots that are there: beside the index, and among the temporary files. */
function leftovers(index: string): string[] {
  const readers = join(dirname(index), 'readers')
  return [
    ...(fs.existsSync(readers) ? fs.readdirSync(readers) : []),
    ...fs.readdirSync(tmpdir()).filter((name) => name.startsWith('asr-index-')),
  ]
}

/** A level with tables, a log and some rows in each. */
async function makeIndex(): Promise<{ folder: string; level: Level }> {
  const folder = join(makeFolder(), 'index')
  const level = new Level(folder)
  await level.put('in a table', '1')
  // Opening turns the log it finds into a table.
  await level.close()
  await level.open()
  await level.put('in the log', '2')
  return { folder, level }
}

async function rowsOf(snapshot: IndexSnapshot | undefined): Promise<Record<string, string>> {
  assert.ok(snapshot)
  const level = new Level(snapshot.folder, { createIfMissing: false })
  try {
    return Object.fromEntries(await level.iterator().all())
  } finally {
    await level.close()
    snapshot.remove()
  }
}

function patched(calls: Partial<typeof fs>, run: () => void): void {
  const originals = Object.fromEntries(Object.keys(calls).map((name) => [name, fs[name as keyof typeof fs]]))
  Object.assign(fs, calls)
  syncBuiltinESMExports()
  try {
    run()
  } finally {
    Object.assign(fs, originals)
    syncBuiltinESMExports()
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

test.after(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const thread of threads) void thread.terminate()
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true })
})

test('a snapshot of an index in use holds its tables and its log, and the writer goes on', async () => {
  const { folder, level } = await makeIndex()
  const snapshot = snapshotIndex(folder)
  await level.put('later', '3')
  assert.equal(await rowsOf(snapshot), { 'in a table': '1', 'in the log': '2' })
  assert.is(await level.get('later'), '3')
  await level.close()
  assert.equal(await rowsOf(snapshotIndex(folder)), { 'in a table': '1', 'in the log': '2', later: '3' })
})

test('tables are linked where the file system can, and copied where it cannot; LOCK is never taken', async () => {
  const { folder, level } = await makeIndex()
  const tableOf = (at: string) => fs.readdirSync(at).find((name) => /\.(ldb|sst)$/.test(name)) ?? 'no table'
  const inode = fs.statSync(join(folder, tableOf(folder))).ino
  for (const code of ['', 'EXDEV', 'EPERM', 'EMLINK']) {
    const refusing = () => {
      throw failure(code)
    }
    const { copyFileSync } = fs
    const copied: string[] = []
    const recording = (from: string, to: string, mode?: number) => {
      copied.push(from)
      copyFileSync(from, to, mode)
    }
    let snapshot: IndexSnapshot | undefined
    patched({ copyFileSync: recording as never, ...(code === '' ? {} : { linkSync: refusing }) }, () => {
      snapshot = snapshotIndex(folder)
    })
    assert.ok(snapshot)
    const sameFile = fs.statSync(join(snapshot.folder, tableOf(snapshot.folder))).ino === inode
    if (code !== '') assert.not(sameFile, code)
    assert.is(copied.includes(join(folder, tableOf(folder))), !sameFile)
    assert.not(fs.readdirSync(snapshot.folder).includes('LOCK'))
    assert.not(copied.some((path) => path.endsWith('LOCK')))
    assert.equal(await rowsOf(snapshot), { 'in a table': '1', 'in the log': '2' }, code)
  }
  await level.close()
})

test('taking a snapshot does not give up the lock of a writer in the same process', async () => {
  const { folder, level } = await makeIndex()
  snapshotIndex(folder)?.remove()
  const opening = `import { Worker } from 'node:worker_threads'
import { Level } from 'level'
    const level = new Level(process.argv[1])
    level.open().then(() => console.log('open'), (error) => console.log(error.cause.code))`
  const outcome = execFileSync(process.execPath, ['--input-type=module', '-e', opening, folder], {
    cwd: new URL('.', import.meta.url),
  })
  assert.is(outcome.toString().trim(), 'LEVEL_LOCKED')
  await level.close()
})

test('a writer’s own table files are whole after a snapshot was opened, written to and removed', async () => {
  const { folder, level } = await makeIndex()
  const snapshot = snapshotIndex(folder)
  assert.ok(snapshot)
  const copy = new Level(snapshot.folder)
  await copy.put('in a table', 'changed')
  await copy.close()
  await copy.open()
  await copy.close()
  snapshot.remove()
  await level.close()
  const again = new Level(folder)
  assert.equal(await again.iterator().all(), [
    ['in a table', '1'],
    ['in the log', '2'],
  ])
  await again.close()
})

test('beside a writer that rotates and compacts, each snapshot opens and is of one moment', async () => {
  const folder = join(makeFolder(), 'index')
  const writer = fork(WRITER, [folder])
  children.push(writer)
  await once(writer, 'message')
  let before = 0
  for (let round = 0; round < 20; round++) {
    const rows = await rowsOf(snapshotIndex(folder))
    const last = Number(rows.last)
    assert.ok(last >= before, `${last} after ${before}`)
    assert.is(Object.keys(rows).length, last + 1, 'a row for each number, and the last')
    before = last
  }
  assert.ok(before > 500)
  writer.send('stop')
  assert.equal(await once(writer, 'exit'), [0, null], 'the writer noticed nothing')
  const rows = await rowsOf(snapshotIndex(folder))
  assert.is(Object.keys(rows).length, Number(rows.last) + 1)
})

test('a table that the writer has just made is not emptied by whoever opens the snapshot', async () => {
  const { folder, level } = await makeIndex()
  await level.close()
  // As a writer's that are not in the manifest yet; the numbers are those that the snapshot's opener will use.
  const fresh = Array.from({ length: 40 }, (_, i) => join(folder, `${String(i + 1).padStart(6, '0')}.ldb`))
  const made = fresh.filter((path) => !fs.existsSync(path))
  for (const path of made) fs.writeFileSync(path, `the writer's`)
  assert.equal(await rowsOf(snapshotIndex(folder)), { 'in a table': '1', 'in the log': '2' })
  for (const path of made) assert.is(fs.readFileSync(path, 'utf8'), `the writer's`, path)
})

test('a file that vanishes meanwhile makes it try again', async () => {
  const { folder, level } = await makeIndex()
  const { copyFileSync } = fs
  let calls = 0
  const vanishing = (from: string, to: string, mode?: number) => {
    if (calls++ < 2) throw failure('ENOENT')
    copyFileSync(from, to, mode)
  }
  let snapshot: IndexSnapshot | undefined
  const before = leftovers(folder).length
  patched({ copyFileSync: vanishing as never }, () => {
    snapshot = snapshotIndex(folder)
  })
  assert.is(leftovers(folder).length, before + 1)
  assert.equal(await rowsOf(snapshot), { 'in a table': '1', 'in the log': '2' })
  calls = Number.NEGATIVE_INFINITY
  patched({ copyFileSync: vanishing as never }, () => {
    assert.is(snapshotIndex(folder), undefined)
  })
  assert.is(leftovers(folder).length, before)
  await level.close()
})

test('a log or a manifest that is replaced meanwhile makes it try again', async () => {
  const { folder, level } = await makeIndex()
  await level.close()
  const log = fs.readdirSync(folder).find((name) => name.endsWith('.log')) ?? 'none'
  const { copyFileSync } = fs
  for (const change of ['log', 'manifest'] as const) {
    let manifests = 0
    const changing = (from: string, to: string, mode?: number) => {
      copyFileSync(from, to, mode)
      if (!from.includes('MANIFEST-') || manifests++ > 0) return
      if (change === 'log') fs.renameSync(join(folder, log), join(folder, '999999.log'))
      else fs.writeFileSync(join(folder, 'CURRENT'), 'MANIFEST-999999\n')
      if (change === 'manifest') copyFileSync(from, join(folder, 'MANIFEST-999999'))
    }
    let snapshot: IndexSnapshot | undefined
    patched({ copyFileSync: changing as never }, () => {
      snapshot = snapshotIndex(folder)
    })
    assert.ok(snapshot)
    assert.is(manifests, 2, change)
    const current = fs.readFileSync(join(snapshot.folder, 'CURRENT'), 'latin1')
    assert.is(current, fs.readFileSync(join(folder, 'CURRENT'), 'latin1'))
    assert.ok(fs.existsSync(join(snapshot.folder, '999999.log')), change)
    assert.not(fs.existsSync(join(snapshot.folder, log)))
    snapshot.remove()
  }
})

test('without a usable index there is no snapshot, and nothing is left in the temporary folder', () => {
  const folder = join(makeFolder(), 'index')
  fs.mkdirSync(folder)
  const before = leftovers(folder).length
  assert.is(snapshotIndex(join(folder, 'absent')), undefined)
  assert.is(snapshotIndex(folder), undefined)
  for (const current of ['', 'garbage', 'MANIFEST-000001', '../MANIFEST-000001\n', 'MANIFEST-000001\n']) {
    fs.writeFileSync(join(folder, 'CURRENT'), current)
    assert.is(snapshotIndex(folder), undefined, current)
  }
  assert.is(leftovers(folder).length, before)
})

test('where no folder can be made there is no snapshot', async () => {
  const { folder, level } = await makeIndex()
  const refusing = () => {
    throw failure('ENOSPC')
  }
  patched({ mkdtempSync: refusing as never }, () => assert.is(snapshotIndex(folder), undefined))
  patched({ copyFileSync: refusing }, () => assert.is(snapshotIndex(folder), undefined))
  await level.close()
})

test('a snapshot is removed on demand, and at the process’s exit', async () => {
  const { folder, level } = await makeIndex()
  const one = snapshotIndex(folder)
  const two = snapshotIndex(folder)
  assert.ok(one && two)
  one.remove()
  one.remove()
  assert.not(fs.existsSync(one.folder))
  assert.ok(fs.existsSync(two.folder))
  two.remove()
  const code = `import { snapshotIndex } from '${MODULE}'
    snapshotIndex('${folder}').remove()
    console.log(snapshotIndex('${folder}').folder)
    console.log(snapshotIndex('${folder}').folder)`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code]).toString().trim().split('\n')
  assert.is(printed.length, 2)
  for (const path of printed) {
    assert.is(dirname(path), join(dirname(folder), 'readers'))
    assert.not(fs.existsSync(path))
  }
  await level.close()
})

/** A thread that has a store open to read, and reads its stream when it is told to. */
async function readingThread(folder: string): Promise<{ thread: Worker; read: () => Promise<unknown> }> {
  const code = `const { parentPort } = require('node:worker_threads')
    import('${LIBRARY}').then(async ({ openStore }) => {
      const reader = await openStore('${folder}', { readOnly: true })
      parentPort.on('message', async () => parentPort.postMessage((await reader.stream('s')).length))
      parentPort.postMessage('open')
    })`
  const thread = new Worker(code, { eval: true })
  threads.push(thread)
  assert.equal(await once(thread, 'message'), ['open'])
  const read = async (): Promise<unknown> => {
    thread.postMessage('read')
    return (await once(thread, 'message'))[0]
  }
  return { thread, read }
}

test('what an ended thread or a process of a reused number left is removed while others read on', async () => {
  const folder = join(makeFolder(), 'store')
  const readers = join(folder, 'readers')
  const open = `import { openStore } from '${LIBRARY}'
    await (await openStore('${folder}')).close()`
  const openers = [
    async () => (await openStore(folder)).close(),
    async () => void execFileSync(process.execPath, ['--input-type=module', '-e', open]),
  ]
  const store = await openStore(folder)
  await (await store.createStream(header())).append({ type: 'message' })
  await store.close()
  for (const reopen of openers) {
    const [ended, living] = [await readingThread(folder), await readingThread(folder)]
    const [of] = fs.readdirSync(readers)
    const reused = of.replace(/^\d+\.\d+/, `${process.ppid}.1`)
    // Not a copy: to read the lock of one that is open here would give it up.
    fs.mkdirSync(join(readers, reused))
    fs.writeFileSync(join(readers, reused, 'LOCK'), '')
    await ended.thread.terminate()
    assert.is(fs.readdirSync(readers).length, 3)
    await reopen()
    assert.is(fs.readdirSync(readers).length, 1)
    assert.is(await living.read(), 1)
    await living.thread.terminate()
  }
})

test.run()
