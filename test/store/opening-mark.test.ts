/**
 * An index that ended the process that opened it is not opened again.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { diedOpening, markOpening } from '../../src/store/node/opening-mark.js'
import { processIdentity } from '../../src/store/node/process-identity.js'
import { header, message } from '../support/records.js'
import { tempFolder } from '../support/temp.js'

function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}

test('the mark of a living process, of this one or of nobody says nothing', () => {
  const folder = tempFolder()
  assert.is(diedOpening(folder), false)
  const opened = markOpening(folder)
  assert.is(diedOpening(folder), false)
  opened()
  assert.is(existsSync(join(folder, 'index.opening')), false)
  writeFileSync(join(folder, 'index.opening'), 'garbage')
  assert.is(diedOpening(folder), false)
})

test('an opener of another container is not taken for dead', () => {
  const folder = tempFolder()
  const other = { ...processIdentity(), pid: deadPid(), pidNamespace: 'elsewhere' }
  writeFileSync(join(folder, 'index.opening'), JSON.stringify(other))
  assert.is(diedOpening(folder), false)
})

test('CORE-10: when a process died while it opened the index, the index is built again and all is there', async () => {
  const folder = tempFolder()
  const store = await openStore(folder)
  await (await store.createStream(header())).append([message('m1'), message('m2')])
  await store.close()
  writeFileSync(join(folder, 'index.opening'), JSON.stringify({ ...processIdentity(), pid: deadPid() }))
  const again = await openStore(folder)
  assert.equal(
    again.notices.map(({ code }) => code),
    ['index_rebuilt'],
  )
  assert.is((await (await again.stream('s')).get('m2'))?.id, 'm2')
  assert.is((await again.verify()).ok, true)
  await again.close()
  const third = await openStore(folder)
  assert.equal(third.notices, [])
  await third.close()
})

test.run()
