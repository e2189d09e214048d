import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Flow, runFlow } from '../../src/base/flow.js'
import type { IndexLevel } from '../../src/index/level.js'
import { formatKey, type RowKey } from '../../src/index/row-key.js'
import {
  clearLog,
  getRow,
  IndexDamaged,
  logRows,
  purgeAll,
  purgeLog,
  RowBatch,
  readRow,
  settleRows,
} from '../../src/index/rows.js'
import { memoryLocation } from '../../src/main.js'
import { flipped } from '../log/handmade.js'
import { waitingLevel } from '../support/levels.js'
import { tempFolder } from '../support/temp.js'

const LOG = '00112233445566ff'
const NEXT = '0011223344556700'
const page = (incarnation: string, number: number): RowKey => ({ kind: 'page', incarnation, number })
const ENCODINGS = { keyEncoding: 'utf8', valueEncoding: 'view' } as const

async function damaged(read: Flow<unknown>): Promise<void> {
  const outcome = await Promise.resolve()
    .then(() => runFlow(read))
    .catch((error: unknown) => error)
  assert.instance(outcome, IndexDamaged)
}

for (const [how, makeLevel] of [
  ['at once', () => memoryLocation().index],
  ['later', waitingLevel],
] as const) {
  test(`CORE-10: a row is given ${how} under the check it was named with, and only as it was written`, async () => {
    const level = makeLevel()
    await level.open()
    const batch = new RowBatch()
    const value = Uint8Array.of(1, 2, 3)
    const check = batch.put(page(LOG, 1), value)
    assert.is(await runFlow(getRow(level, page(LOG, 1))), undefined, 'not before the batch is written')
    await batch.write(level)
    assert.equal(new Uint8Array(await runFlow(readRow(level, page(LOG, 1), check))), value)
    await damaged(readRow(level, page(LOG, 1), check ^ 1))
    await damaged(readRow(level, page(LOG, 2), check))
    await level.put(formatKey(page(LOG, 1)), flipped(value, 1), ENCODINGS)
    await damaged(readRow(level, page(LOG, 1), check))
  })

  test(`a level that answers ${how} and can not be read is a damaged index`, async () => {
    const level = makeLevel()
    await level.open()
    await level.close()
    await damaged(getRow(level, page(LOG, 1)))
  })
}

test('the rows of a log are listed and removed without its neighbours', async () => {
  const level = waitingLevel()
  const batch = new RowBatch()
  for (const log of [LOG, NEXT]) for (const number of [2, 0, 1]) batch.put(page(log, number), Uint8Array.of(number))
  batch.delete(page(LOG, 2))
  await batch.write(level)
  const keysOf = async (log: string) => {
    const keys: string[] = []
    for await (const [key] of logRows(level, log)) keys.push(key)
    return keys
  }
  assert.equal(await keysOf(LOG), [page(LOG, 0), page(LOG, 1)].map(formatKey))
  await clearLog(level, LOG)
  assert.equal([await keysOf(LOG), (await keysOf(NEXT)).length], [[], 3])
})

test('a purge leaves no value of a log in any file, also of rows that were deleted before and that nothing lies above', async () => {
  for (const purge of [(level: IndexLevel) => purgeLog(level, LOG), purgeAll]) {
    const folder = tempFolder()
    const level = new Level<string, Uint8Array>(folder, { keyEncoding: 'utf8', valueEncoding: 'view' })
    const word = 'Qzjvkwpxhgbfyd'
    await level.put(formatKey({ kind: 'root', incarnation: LOG }), new TextEncoder().encode(word))
    await level.put('ffffffffffffffff/a', new TextEncoder().encode('kept'))
    await clearLog(level, LOG)
    await settleRows(level) // the value and what deletes it are one table
    const holders = (): string[] =>
      readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(word))
    assert.is(holders().length, 1, 'level keeps it')
    await purge(level)
    assert.equal(holders(), [])
    assert.equal(new TextDecoder().decode(await level.get('ffffffffffffffff/a')), 'kept')
    await level.close()
  }
})

test.run()
