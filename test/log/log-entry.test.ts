/**
 * The gate of the log: what a reader takes for damage, no writer writes.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRowCache } from '../../src/index/row-cache.js'
import { StreamIndex } from '../../src/index/stream-index.js'
import { KIND } from '../../src/log/format/frame.js'
import { JudgedEntry } from '../../src/log/log-entry.js'
import type { AsrRecord, Header, StoredRecord } from '../../src/main.js'
import { catchUp } from '../../src/stream/place/catch-up.js'
import { Staging } from '../../src/stream/place/staging.js'
import { coreOf, freshLevel } from '../fault/place.js'
import { RUNS, settings } from '../property/settings.js'
import { fails } from '../support/fails.js'
import { streamOf } from '../support/stores.js'
import { emptyLog, headerEntry, INCARNATION, recordEntry } from './handmade.js'

const RECORD = { type: 'x', seq: 1, id: 'a' }

/** Whether a reader takes these values for what a log may hold, written as they are. */
async function isRead(header: object, record: object, parent: number): Promise<boolean> {
  const log = await emptyLog()
  await log.append([
    [recordEntry(header as Header, 0, { kind: KIND.header, parent: 0 })],
    [recordEntry(record as AsrRecord, 1, { parent })],
  ])
  const { damage } = await catchUp(log, new StreamIndex(freshLevel(), INCARNATION, createRowCache()))
  return damage === undefined
}

function isWritten(header: object, record: object, parent: number): boolean {
  try {
    JudgedEntry.header('s', header as Header, 0)
    JudgedEntry.record('s', record as StoredRecord, { pos: 1, parent, flags: 0 })
    return true
  } catch {
    return false
  }
}

const value = fc.oneof(
  fc.constantFrom(
    's',
    'header',
    'head',
    'tombstone',
    'x',
    '',
    '\ud800',
    null,
    true,
    -0,
    1,
    -1,
    1.5,
    2 ** 53,
    2 ** 53 - 1,
  ),
  fc.constantFrom<unknown>([], {}, [1], { a: 1 }),
)
const NAMES = ['type', 'seq', 'id', 'parentId', 'supersedes', 'head', 'recordId', 'targetId', 'sessionId', 'asr', 'x']
const changes = fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 3 })

test('CORE-3, CORE-4, CORE-12: what is written and what is read are judged alike, whatever the fields are', async () => {
  const seen = { sound: 0, bad: 0 }
  await fc.assert(
    fc.asyncProperty(changes, changes, fc.nat(2), async (forHeader, forRecord, parent) => {
      const header = { type: 'header', sessionId: 's', ...forHeader }
      const record = { ...RECORD, ...forRecord }
      const written = isWritten(header, record, parent)
      seen[written ? 'sound' : 'bad']++
      assert.is(written, await isRead(header, record, parent))
    }),
    settings(RUNS),
  )
  assert.ok(seen.sound > 0 && seen.bad > 0, JSON.stringify(seen))
})

test('CORE-4: a record that gets past every other check is stopped at the gate, and leaves no trace', async () => {
  const { stream } = await streamOf({ type: 'x', id: 'a' })
  for (const fields of [
    { head: null },
    { head: 5 },
    { supersedes: [] },
    { parentId: {} },
    { type: 1 },
    { type: 'header' },
  ]) {
    await fails('ASR_BAD_RECORD', () => {
      const staging = new Staging(coreOf(stream).lookup)
      return staging.take({ type: 'x', ...fields } as AsrRecord).next()
    })
  }
  for (const header of [{ sessionId: 'other' }, { sessionId: 5 }, { type: 'x', sessionId: 's' }, []])
    await fails('ASR_BAD_RECORD', () => JudgedEntry.header('s', header as unknown as Header, 0))
  assert.is(stream.length, 1)
  assert.is((await stream.append({ type: 'x' })).last, 2)
})

test('CORE-8: an entry is what a log made by hand holds', () => {
  const { value, plain, hash, size } = JudgedEntry.record('s', RECORD, { pos: 1, parent: 0, flags: 0 })
  assert.equal({ value, plain, hash, size }, pick(recordEntry(RECORD, 1)))
  const header = JudgedEntry.header('s', { type: 'header', asr: '1', sessionId: 's' }, 3, '{}')
  assert.equal([header.pos, header.parent, header.text, header.kind], [3, 0, '{}', KIND.header])
  assert.equal(pick(header), pick(headerEntry('s')))
})

function pick({ value, plain, hash, size }: ReturnType<typeof recordEntry>): object {
  return { value, plain, hash, size }
}

test.run()
