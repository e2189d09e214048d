/**
 * What is stored is its owner's alone: 0600 and 0700 everywhere, whatever the umask; and a store that was open to others is
 * closed to them once, and says so.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { header, message } from '../support/records.js'
import { tempFolder } from '../support/temp.js'

const LIBRARY = new URL('../../src/main.js', import.meta.url)

/** All paths below a folder, and the folder, whose mode is another than it should be. */
function openToOthers(folder: string): string[] {
  return ['', ...(readdirSync(folder, { recursive: true }) as string[])]
    .map((name) => ({ name, stats: statSync(join(folder, name)) }))
    .filter(({ stats }) => (stats.mode & 0o777) !== (stats.isDirectory() ? 0o700 : 0o600))
    .map(({ name, stats }) => `${name || '.'} ${(stats.mode & 0o777).toString(8)}`)
}

async function filled(folder: string): Promise<void> {
  const store = await openStore(folder)
  await (await store.createStream(header())).append([message('m1')])
  await store.close()
}

const WORK = `
  import { openStore } from '${LIBRARY}'
  process.umask(Number(process.argv[2]))
  const store = await openStore(process.argv[1])
  const stream = await store.createStream({ type: 'header', asr: '1', sessionId: 's' })
  const records = Array.from({ length: 2000 }, (_, i) => ({ type: 'message', content: 'record ' + i }))
  for (let n = 0; n < 3; n++) await stream.append(records)
  await store.createStream({ type: 'header', asr: '1', sessionId: 'gone' })
  await store.deleteStream('gone')
  await store.rebuildIndex()
  const reader = await openStore(process.argv[1], { readOnly: true })
  await reader.stream('s')
  await reader.close()
  await store.close()
  const again = await openStore(process.argv[1], { durability: 'disk' })
  await (await again.stream('s')).append({ type: 'message' })
  if (process.argv[3] === 'killed') process.kill(process.pid, 'SIGKILL')
  await again.close()`

test('files are 0600 and folders 0700 whatever the umask, in a new folder and in one that was there', () => {
  for (const [umask, was] of [
    [0o000, 'absent'],
    [0o022, 'there'],
    [0o277, 'absent'],
  ] as const) {
    const folder = join(tempFolder(), 'store')
    if (was === 'there') {
      mkdirSync(folder)
      chmodSync(folder, 0o755)
    }
    const args = ['--input-type=module', '-e', WORK, folder, String(umask)]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.is(status, 0, stderr)
    assert.equal(openToOthers(folder), [], `umask ${umask.toString(8)}, ${was}`)
  }
})

test('what a killed process leaves lies in folders of its owner alone, and the next opening closes the rest', async () => {
  const folder = join(tempFolder(), 'store')
  const args = ['--input-type=module', '-e', WORK, folder, '0', 'killed']
  assert.is(spawnSync(process.execPath, args).signal, 'SIGKILL')
  const left = openToOthers(folder)
  assert.ok(
    left.every((path) => path.startsWith('index/')),
    left.join(),
  )
  await (await openStore(folder)).close()
  assert.equal(openToOthers(folder), [])
})

function openUp(folder: string, file: number, above: number): void {
  for (const name of ['', ...(readdirSync(folder, { recursive: true }) as string[])]) {
    const path = join(folder, name)
    chmodSync(path, statSync(path).isDirectory() ? above : file)
  }
}

test('permissions_tightened: a store that others could read is closed to them, and told about it once', async () => {
  const folder = join(tempFolder(), 'store')
  await filled(folder)
  openUp(folder, 0o644, 0o755)
  writeFileSync(join(folder, 'notes.txt'), 'of somebody', { mode: 0o644 })
  const store = await openStore(folder)
  assert.equal(
    store.notices.map(({ code }) => code),
    ['permissions_tightened'],
  )
  assert.match(store.notices[0].message, folder)
  await store.close()
  assert.equal(openToOthers(folder), ['notes.txt 644'], 'only what is not the store’s')
  const again = await openStore(folder)
  assert.equal(again.notices, [])
  await again.close()
})

test('what links in a store lead to keeps its modes: it may be anything', async () => {
  const folder = join(tempFolder(), 'store')
  await filled(folder)
  openUp(folder, 0o644, 0o755)
  const outside = join(tempFolder(), 'outside')
  mkdirSync(join(outside, 'deep'), { recursive: true, mode: 0o755 })
  writeFileSync(join(outside, 'deep', 'file'), 'of somebody', { mode: 0o644 })
  const before = openToOthers(outside)
  assert.ok(before.length > 0)
  for (const link of ['native', 'streams/aside', 'index/aside']) symlinkSync(outside, join(folder, link))
  symlinkSync(folder, join(folder, 'streams', 'round'))
  const store = await openStore(folder)
  assert.equal(
    store.notices.map(({ code }) => code),
    ['permissions_tightened'],
  )
  await store.close()
  assert.equal(openToOthers(outside), before)
  assert.is(statSync(join(folder, 'streams')).mode & 0o777, 0o700)
})

test('who opens the folder to a group afterwards means it: it stays open, and nothing is said', async () => {
  const folder = join(tempFolder(), 'store')
  await filled(folder)
  chmodSync(folder, 0o750)
  const store = await openStore(folder)
  assert.equal(store.notices, [])
  await store.close()
  assert.is(statSync(folder).mode & 0o777, 0o750)
})

test('a store without FORMAT that others could read is closed to them too', async () => {
  const folder = join(tempFolder(), 'store')
  await filled(folder)
  openUp(folder, 0o644, 0o755)
  writeFileSync(join(folder, 'FORMAT'), 'damaged')
  const store = await openStore(folder)
  assert.equal(store.notices.map(({ code }) => code).sort(), ['format_rewritten', 'permissions_tightened'])
  await store.close()
  assert.equal(openToOthers(folder), [])
})

test('a reader changes no mode', async () => {
  const folder = join(tempFolder(), 'store')
  await filled(folder)
  openUp(folder, 0o644, 0o755)
  const before = openToOthers(folder)
  const reader = await openStore(folder, { readOnly: true })
  await reader.stream('s')
  await reader.close()
  assert.equal(openToOthers(folder), before)
})

test.run()
