/**
 * A02: a kill leaves a stub of a record, and the next record is glued onto it.
 */
import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { collect, idsOf, linesOf } from '../support/collect.js'
import { fails, said } from '../support/fails.js'
import { onlyLogFile } from '../support/logs.js'
import { header, jsonl, message } from '../support/records.js'
import { importOf, openMemory, streamOf } from '../support/stores.js'
import { tempFolder } from '../support/temp.js'
import { startWriter } from '../support/writer.js'

const RECORDS = 100
const CUT_BYTES = 50

test('A02, CORE-12: a spliced line is one refused line, what stands around it is kept, and the path tells of it', async () => {
  const { stream, report } = await importOf(
    message('m1'),
    `{"type":"message","id":"m2","parentId":"m1","te${JSON.stringify(message('m3'))}`,
    message('m4'),
    message('m5'),
  )
  assert.equal(said(report.diagnostics), ['3 bad_json'])
  const path = await stream.activePath()
  assert.equal(await collect(path.ids()), ['m1', 'm4', 'm5'])
  assert.equal(path.gaps, ['m4'])
  assert.equal((await stream.contextView()).gaps, ['m4'])
})

test('A02, CORE-2: a stub at the end of the file is a torn tail, and the rest is kept', async () => {
  const { store } = await openMemory()
  const report = await store.importJsonl([jsonl(header(), message('m1')), '{"type":"message","id":"m2","te'])
  assert.equal(said(report.diagnostics), ['3 torn_tail'])
  assert.is(report.diagnostics[0].severity, 'refused')
  assert.equal(await idsOf((await store.stream('s')).records()), ['m1'])
})

test('A02, CORE-10: a log cut short after a kill loses the last record only, says so, and goes on', async () => {
  const folder = tempFolder()
  const writer = startWriter(folder, 's', RECORDS)
  await writer.told('done')
  await writer.kill()
  const logs = join(folder, 'streams')
  const [file] = readdirSync(logs).filter((name) => name.endsWith('.log'))
  truncateSync(join(logs, file), statSync(join(logs, file)).size - CUT_BYTES)

  const store = await openStore(folder)
  const stream = await store.stream('s')
  assert.is(stream.length, RECORDS - 1)
  assert.ok(store.notices.length > 0, 'opening says what was cut')
  assert.equal(await stream.heads(), [{ name: 'primary', recordId: 'm99', pos: 99 }])
  assert.is(await stream.get('m100'), undefined)
  await stream.append(message('again'))
  await store.close()

  const later = await openStore(folder)
  const ids = await idsOf((await later.stream('s')).records())
  assert.equal([ids.length, ids.at(-2), ids.at(-1)], [RECORDS, 'm99', 'again'])
  assert.is((await later.verify()).ok, true)
  await later.close()
})

test('A02, CORE-10: a log that was closed and is shorter now has lost its tail; on request the rest is had', async () => {
  const { location, store } = await streamOf(...Array.from({ length: RECORDS }, (_, index) => message(`m${index + 1}`)))
  await store.close()
  const { name, bytes } = await onlyLogFile(location.log)
  await location.log.truncate(name, bytes.length - CUT_BYTES)

  const opened = await openStore(location)
  const short = await opened.stream('s')
  const questions = [
    () => short.digest(),
    () => short.heads(),
    () => short.contextView(),
    () => short.append(message('new')),
  ]
  for (const question of [...questions, () => idsOf(short.records()), () => short.get('m100')]) {
    const error = await fails('ASR_LOST_TAIL', question)
    assert.equal([error.sessionId, error.pos], ['s', RECORDS])
  }
  assert.is((await short.get('m1'))?.id, 'm1', 'what is intact can be read')
  const rest = await linesOf(short.exportJsonl({ salvage: true }))
  assert.is(rest.length, RECORDS + 1)
  assert.match(rest[RECORDS], `"from":${RECORDS},"to":${RECORDS},`)
  assert.is((await opened.verify()).ok, false)
  await opened.close()

  const accepting = await openStore(location, { acceptLoss: true })
  const stream = await accepting.stream('s')
  assert.is(stream.length, RECORDS - 1)
  assert.is((await stream.activePath()).length, RECORDS - 1)
  assert.ok(accepting.notices.length > 0, 'opening says what was lost')
  await accepting.close()
})

test.run()
