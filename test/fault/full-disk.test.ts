/**
 * A disk that is full: streams can be deleted there, and then there is room; what is sound is not copied. On a real disk, a small
 * one in memory, where mounting is allowed.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAsrError, openStore } from '../../src/main.js'
import type { StreamStore } from '../../src/store/store.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { hasMounts, smallDisk, testWhere } from './machine.js'

const onSmallDisk = testWhere(hasMounts, 'mounting one is not allowed; the faulty storage does it everywhere')

/** Two streams, of which one is to be deleted; ended as told. */
const TWO_STREAMS = `
  import { openStore } from '${new URL('../../src/main.js', import.meta.url)}'
  const [folder, durability, end] = process.argv.slice(1)
  const store = await openStore(folder, { durability })
  for (const sessionId of ['doomed-session', 'kept']) {
    const stream = await store.createStream({ type: 'header', asr: '1', sessionId })
    for (let n = 0; n < 12; n++)
      await stream.append(Array.from({ length: 1000 }, () => ({ type: 'message', text: Math.random() + 'x'.repeat(60) })))
  }
  if (end === 'closed') await store.close()
  else process.kill(process.pid, 'SIGKILL')`

function fillUp(disk: string): void {
  for (let bytes = 256 * 1024; bytes >= 1; ) {
    try {
      appendFileSync(join(disk, 'ballast'), Buffer.alloc(bytes))
    } catch {
      bytes = bytes >> 1
    }
  }
}

onSmallDisk(
  'on a full disk a stream can be deleted, by who has the store open and by who opens it; then there is room',
  async () => {
    const disk = smallDisk('16m')
    const outcomes = new Set<string>()
    try {
      for (const durability of ['process', 'disk'] as const) {
        for (const end of ['closed', 'killed', 'open', 'no reserve'] as const) {
          const folder = join(disk.folder, 'store')
          rmSync(folder, { recursive: true, force: true })
          rmSync(join(disk.folder, 'ballast'), { force: true })
          const how = end === 'open' ? 'closed' : end === 'closed' ? end : 'killed'
          const made = spawnSync(process.execPath, ['--input-type=module', '-e', TWO_STREAMS, folder, durability, how])
          assert.is(made.signal ?? 'closed', how === 'killed' ? 'SIGKILL' : 'closed', made.stderr.toString())
          if (end === 'no reserve') rmSync(join(folder, 'reserve'))
          const early = end === 'open' ? await openStore(folder, { durability }) : undefined
          await early?.stream('kept')
          fillUp(disk.folder)
          const store = early ?? (await openStore(folder, { durability }).catch((error: unknown) => error))
          if (end === 'no reserve') {
            assert.ok(isAsrError(store, 'ASR_NO_SPACE'), String(store))
            outcomes.add('refused')
            continue
          }
          assert.not.instance(store, Error, `${durability}, ${end}: ${store}`)
          const opened = store as StreamStore
          if (opened.environment.withoutIndex !== undefined) {
            outcomes.add('without an index')
            await fails('ASR_NO_SPACE', () => opened.stream('kept'))
            await fails('ASR_NO_SPACE', () => opened.createStream(header('new')))
            await fails('ASR_NO_SPACE', () => opened.rebuildIndex({ sessionId: 'kept' }))
          } else outcomes.add('with its index')
          await opened.deleteStream('doomed-session')
          await opened.close()
          const files = readdirSync(folder, { recursive: true }) as string[]
          for (const file of files.filter((name) => statSync(join(folder, name)).isFile()))
            assert.not(readFileSync(join(folder, file)).includes('doomed-session'), file)
          const again = await openStore(folder, { durability })
          assert.is((await (await again.stream('kept')).append({ type: 'message' })).last, 12_001)
          assert.is((await again.verify()).ok, true)
          assert.equal(
            (await collect(again.streams())).map(({ sessionId }) => sessionId),
            ['kept'],
          )
          await again.close()
          assert.is(statSync(join(folder, 'reserve')).size, 65_536, 'there is a reserve again')
        }
      }
      assert.ok(outcomes.has('with its index') && outcomes.has('without an index'), [...outcomes].join())
    } finally {
      disk.unmount()
    }
  },
)

onSmallDisk(
  'a stream whose end was never synced is opened under `disk` on a full disk: nothing is copied',
  async () => {
    const disk = smallDisk('16m')
    try {
      const folder = join(disk.folder, 'store')
      const args = ['--input-type=module', '-e', TWO_STREAMS, folder, 'process', 'killed']
      assert.is(spawnSync(process.execPath, args).signal, 'SIGKILL')
      const store = await openStore(folder, { durability: 'disk' })
      fillUp(disk.folder)
      const before = readdirSync(join(folder, 'streams'))
      assert.is((await store.stream('kept')).length, 12_000)
      assert.equal(readdirSync(join(folder, 'streams')), before)
      await store.close().catch((error: unknown) => assert.ok(isAsrError(error, 'ASR_NO_SPACE'), String(error)))
    } finally {
      disk.unmount()
    }
  },
)

onSmallDisk(
  'a log that was cut short on a disk that is full is damaged to readers too, or they say what they miss',
  async () => {
    const disk = smallDisk('16m')
    const { TMPDIR } = process.env
    try {
      const folder = join(disk.folder, 'store')
      const args = ['--input-type=module', '-e', TWO_STREAMS, folder, 'process', 'closed']
      assert.is(spawnSync(process.execPath, args).status, 0)
      for (const log of readdirSync(join(folder, 'streams'))) {
        const path = join(folder, 'streams', log)
        truncateSync(path, statSync(path).size - 5_000)
      }
      fillUp(disk.folder)
      for (const isRoomElsewhere of [true, false]) {
        if (!isRoomElsewhere) process.env.TMPDIR = disk.folder
        const reader = await openStore(folder, { readOnly: true })
        assert.is((await reader.verify()).ok, !isRoomElsewhere)
        const isTold = reader.notices.some(({ code }) => code === 'index_in_memory')
        assert.is(isTold, !isRoomElsewhere)
        await reader.close()
      }
      assert.not(existsSync(join(folder, 'readers')))
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
      disk.unmount()
    }
  },
)

test.run()
