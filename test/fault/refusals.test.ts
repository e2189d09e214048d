/**
 * Battery 13 to 15: what the system refuses: descriptors, rights, writing at all, room; paths that are no folder; a folder that
 * is taken away. A code in less than a second, no half-made files, and all goes on once the cause is gone.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAsrError, openStore } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import { cases, figure } from './battery.js'
import { imageOf, keptFolder, putDown } from './folder.js'
import { hasMounts, hasNamespaces, hasShell, isRoot, smallDisk, testWhere } from './machine.js'
import type { Outcome } from './machine-child.js'
import { OTHER } from './place.js'
import { holdsPromises } from './promises.js'
import { evenRecords, written } from './written.js'

const CHILD = fileURLToPath(new URL('./machine-child.js', import.meta.url))

const withLimits = testWhere(hasShell, 'there is no `ulimit -n`')
const asNobody = testWhere(isRoot, 'only root can become somebody without rights')
const inNamespace = testWhere(hasNamespaces, '`unshare -m` is not allowed')
const besideProc = testWhere(existsSync('/proc/self'), 'there is no /proc')
const onSmallDisk = testWhere(hasMounts, 'mounting one is not allowed; the faulty storage does it everywhere')

/** Runs the child, behind what comes before it on the command line. */
function child<T = Outcome>(task: string, folder: string, before: string[] = [], after = ''): T {
  const command =
    after === ''
      ? [...before, process.execPath, CHILD, task, folder]
      : ['sh', '-c', `${after} exec ${process.execPath} ${CHILD} ${task} ${folder}`]
  const { stdout, stderr, status, signal } = spawnSync(command[0], command.slice(1), { encoding: 'utf8' })
  assert.is(status, 0, `${task} ended with ${signal ?? status}: ${stderr}`)
  return JSON.parse(stdout) as T
}

async function filled(): Promise<string> {
  const folder = join(tempFolder(), 'store')
  putDown((await keptFolder(evenRecords(20), 1)).image, folder)
  return folder
}

async function stillWhole(folder: string, more = 0): Promise<void> {
  const store = await openStore(folder)
  if (more === 0) await holdsPromises(store, [written('s', evenRecords(20)), OTHER])
  assert.is((await store.stream('s')).length, 20 + more)
  assert.is((await store.verify()).ok, true)
  await store.close()
}

withLimits(
  'few descriptors: every call fails with a code or not at all, and the store is whole afterwards',
  async () => {
    const image = (await keptFolder(evenRecords(20), 1)).image
    const folder = join(tempFolder(), 'store')
    const outcomes: string[] = []
    for (let left = 0; left <= 24; left++) {
      putDown(image, folder)
      const { open, append, close, tookMs, acknowledged } = child('few', `${folder} ${left}`, [], 'ulimit -n 256;')
      for (const code of [open, append ?? 'ok', close ?? 'ok'])
        assert.match(code, /^(ok|ASR_(IO|IN_DOUBT|POISONED))$/, `${left} left: ${code}`)
      assert.ok(tookMs < 1_000)
      outcomes.push(open)
      const store = await openStore(folder)
      const { length } = await store.stream('s')
      assert.ok(length >= 20 + acknowledged, `${left} left: ${acknowledged} acknowledged, ${length} there`)
      assert.is((await store.verify()).ok, true)
      await store.close()
    }
    assert.is(outcomes[0], 'ASR_IO', 'none was too few')
    assert.is(outcomes.at(-1), 'ok', 'two dozen were enough')
  },
)

withLimits(
  'few left at the very first opening, before all is loaded: a code, too, and stores can be opened later',
  async () => {
    for (let left = 0; left <= 26; left += 2) {
      const folder = join(tempFolder(), 'store')
      const { open, later } = child<{ open: string; later: string }>('soon', `${folder} ${left}`, [], 'ulimit -n 256;')
      assert.is(open, left < 16 ? 'ASR_IO' : 'ok', `${left} left`)
      assert.is(later, 'ok', `${left} left at first`)
    }
  },
)

withLimits('400 open streams work with 250 descriptors, and with 30: files are closed and opened again', async () => {
  for (const left of [250, 30]) {
    const folder = join(tempFolder(), 'store')
    const outcome = child('many', `${folder} ${left}`, [], 'ulimit -n 300;')
    assert.equal(outcome, { created: 'ok', listed: 'ok', closed: 'ok' }, `${left} left`)
  }
})

asNobody('without rights to the folder: refused with a code, nothing is made or changed', async () => {
  const folder = await filled()
  chmodSync(dirname(folder), 0o755)
  for (const [mode, codes] of [
    [0o700, ['ASR_IO', 'ASR_READ_ONLY']],
    [0o755, ['ASR_READ_ONLY']],
  ] as const) {
    chmodSync(folder, mode)
    const before = imageOf(folder)
    const { open, tookMs } = child('nobody', folder)
    assert.ok((codes as readonly string[]).includes(open), open)
    assert.ok(tookMs < 1_000)
    assert.equal(imageOf(folder), before)
  }
  const missing = join(folder, 'new')
  assert.ok(['ASR_READ_ONLY', 'ASR_IO'].includes(child('nobody', missing).open))
  await stillWhole(folder)
})

asNobody('single files without rights: the logs, the index, FORMAT; each is refused with a code', async () => {
  for (const name of ['streams', 'index', 'FORMAT']) {
    const folder = await filled()
    for (const path of ['', ...(readdirSync(folder, { recursive: true }) as string[])])
      chownSync(join(folder, path), 65_534, 65_534)
    chmodSync(dirname(folder), 0o755)
    for (const path of name === 'FORMAT'
      ? ['FORMAT']
      : readdirSync(join(folder, name)).map((file) => join(name, file))) {
      chownSync(join(folder, path), 0, 0)
      chmodSync(join(folder, path), 0o600)
    }
    const outcome = child('nobody', folder)
    const codes = [outcome.open, outcome.append ?? '', outcome.close ?? '']
    assert.ok(
      codes.every((code) => /^(|ok|ASR_(IO|READ_ONLY|IN_DOUBT|POISONED|STREAM_NOT_FOUND))$/.test(code)),
      `${name}: ${codes}`,
    )
    assert.ok(
      name === 'index' || codes.some((code) => code !== 'ok' && code !== ''),
      `${name}: somebody has to say something`,
    )
    for (const path of readdirSync(folder, { recursive: true }) as string[]) chownSync(join(folder, path), 0, 0)
    const store = await openStore(folder)
    assert.ok((await store.stream('s')).length >= 20)
    assert.is((await store.verify()).ok, true)
    await store.close()
  }
})

inNamespace('a file system that is read-only: refused with a code; reading works', async () => {
  const folder = await filled()
  const script = 'mount --bind "$2" "$2" && mount -o remount,ro,bind "$2" && exec "$0" "$1" attempt "$2"'
  const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', script, process.execPath, CHILD, folder], {
    encoding: 'utf8',
  })
  assert.is(stdout === '' ? stderr : (JSON.parse(stdout) as Outcome).open, 'ASR_READ_ONLY')
  await stillWhole(folder)
})

test('paths that are no folder for a store: refused with a code, and left as they are', async () => {
  const top = tempFolder()
  writeFileSync(join(top, 'file'), 'a file')
  symlinkSync(join(top, 'nowhere', 'at', 'all'), join(top, 'dangling'))
  symlinkSync(join(top, 'loop'), join(top, 'loop'))
  mkdirSync(join(top, 'full'))
  writeFileSync(join(top, 'full', 'letter.txt'), 'dear all')
  const paths: [string, string[]][] = [
    [join(top, 'file'), ['ASR_FORMAT']],
    [join(top, 'file', 'below'), ['ASR_IO']],
    [join(top, 'full'), ['ASR_FORMAT']],
    [join(top, 'loop'), ['ASR_IO']],
    [join(top, 'dangling'), ['ASR_IO']],
    [join(top, 'x'.repeat(300)), ['ASR_IO']],
    [join(top, ...Array.from({ length: 30 }, () => 'y'.repeat(200))), ['ASR_IO']],
  ]
  const before = imageOf(join(top, 'full'))
  for (const [path, codes] of paths) {
    for (const options of [{}, { create: false }, { readOnly: true }]) {
      const error = await openStore(path, options).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      assert.ok(isAsrError(error), `${path.slice(0, 80)}: ${error}`)
      assert.ok(codes.includes(error.code) || error.code === 'ASR_FORMAT', `${path.slice(0, 80)}: ${error.code}`)
    }
  }
  assert.equal(imageOf(join(top, 'full')), before)
  assert.equal(readdirSync(top).sort(), ['dangling', 'file', 'full', 'loop'])
})

besideProc('folders that are there and take no others: refused with a code, and soon', async () => {
  for (const path of ['/proc/none', '/proc/none/below', '/proc/self/none/below', '/dev/null/none', '/proc/self/exe']) {
    const { stdout, stderr } = spawnSync(process.execPath, [CHILD, 'attempt', path], {
      encoding: 'utf8',
      timeout: 120_000,
      killSignal: 'SIGKILL',
    })
    assert.match(
      stdout === '' ? `no answer ${stderr}` : (JSON.parse(stdout) as Outcome).open,
      /^ASR_(IO|FORMAT|READ_ONLY)$/,
      path,
    )
  }
})

test('a folder that is taken away from under a writer: its next append is fenced, close does not hang, nothing is made again', async () => {
  const folder = await filled()
  const store = await openStore(folder)
  const stream = await store.stream('s')
  rmSync(folder, { recursive: true })
  await fails('ASR_FENCED', () => stream.append({ type: 'message' }))
  await fails('ASR_FENCED', () => store.createStream(header('new')))
  const closing = await store.close().then(
    () => 'ok',
    (error: unknown) => (isAsrError(error) ? 'ours' : `raw: ${error}`),
  )
  assert.not.match(closing, 'raw')
  assert.is(statSync(folder, { throwIfNoEntry: false }), undefined)
})

test('a folder that is taken away from under a reader: a code, or what was read before', async () => {
  const folder = await filled()
  const reader = await openStore(folder, { readOnly: true })
  const stream = await reader.stream('s')
  rmSync(folder, { recursive: true })
  const records = await collect(stream.records()).then(
    (all) => all.length,
    (error: unknown) => (isAsrError(error) ? 'ours' : `raw: ${error}`),
  )
  assert.ok(records === 20 || records === 'ours', String(records))
  await reader.close()
})

onSmallDisk('a disk that fills up and is freed again: what was acknowledged is there, and all goes on', async () => {
  const disk = smallDisk('700k')
  try {
    await cases('small disks', figure(10, 100), async (n, random, tally) => {
      const folder = join(disk.folder, 'store')
      rmSync(folder, { recursive: true, force: true })
      writeFileSync(join(disk.folder, 'ballast'), Buffer.alloc(1024 * (20 + random.below(60))))
      const store = await openStore(folder, { durability: n % 2 ? 'disk' : 'process' })
      const stream = await store.createStream(header('s'))
      const acknowledged: { type: string; id: string; text: string }[] = []
      for (let i = 0; ; i++) {
        const record = { type: 'message', id: `m${i}`, text: String(random.next()).repeat(1 + random.below(200)) }
        const error = await stream.append(record).then(
          () => undefined,
          (reason: unknown) => reason,
        )
        if (error === undefined) acknowledged.push(record)
        else {
          assert.ok(isAsrError(error, 'ASR_IN_DOUBT'), String(error))
          break
        }
      }
      tally.add('acknowledged', acknowledged.length)
      await fails('ASR_POISONED', () => stream.append({ type: 'message' }))
      await store.close().catch((error: unknown) => assert.ok(isAsrError(error), String(error)))
      const full = await openStore(folder).then(
        async (opened) => {
          const outcome = await opened.stream('s').then(
            (one) => one.length,
            (error: unknown) => error,
          )
          await opened.close().catch(() => undefined)
          return outcome
        },
        (error: unknown) => error,
      )
      if (typeof full === 'number') assert.ok(full >= acknowledged.length)
      else assert.ok(isAsrError(full, 'ASR_NO_SPACE'), String(full))
      tally.add(typeof full === 'number' ? 'opened while it was full' : 'refused while it was full')
      rmSync(join(disk.folder, 'ballast'))
      const again = await openStore(folder)
      const present = await collect((await again.stream('s')).records())
      const extra = present.slice(acknowledged.length)
      assert.ok(extra.length <= 1, 'at most what was in doubt is there, too')
      await holdsPromises(again, [written('s', [...acknowledged, ...extra])])
      await (await again.stream('s')).append({ type: 'message', id: 'room again' })
      await again.close()
    })
  } finally {
    disk.unmount()
  }
})

test('a table of the index cut short while it is in use: right answers or the process’s end, and all is there afterwards', async () => {
  const { image, expected } = await keptFolder(evenRecords(200), 3)
  const folder = join(tempFolder(), 'store')
  putDown(image, folder)
  const { stdout, status, signal } = spawnSync(process.execPath, [CHILD, 'shrunk', folder], { encoding: 'utf8' })
  if (status === 0) assert.equal(JSON.parse(stdout), { records: 200 })
  else assert.is(signal, 'SIGBUS', 'level maps its tables into memory (docs/promises.md)')
  const store = await openStore(folder)
  assert.is((await collect((await store.stream('s')).records())).length, 200)
  await store.rebuildIndex()
  await holdsPromises(store, [expected, OTHER])
  await store.close()
})

test('a table of the index cut short on the disk: the store is opened again, and its answers are right', async () => {
  const { image } = await keptFolder(evenRecords(200), 3)
  const folder = join(tempFolder(), 'store')
  const tables = [...image.keys()].filter((name) => name.endsWith('.ldb'))
  assert.ok(tables.length > 0)
  for (const table of tables) {
    putDown(image, folder)
    truncateSync(join(folder, table), Math.floor(image.get(table)!.length / 2))
    assert.equal(child('read', folder), { records: 200 })
  }
})

test.run()
