import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  listLogs,
  locate,
  offsetOf,
  parseSegmentFile,
  saltOf,
  segmentFile,
  segmentOf,
} from '../../src/log/files/segment.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'

const ONE = { name: '2a97516c354b68848cdbd8f54a226a0a', incarnation: '0011223344556677' }
const OTHER = { name: '2a97516c354b68848cdbd8f54a226a0a', incarnation: 'ffeeddccbbaa9988' }

test('a file name is taken apart as it was made, also past a million segments', () => {
  for (const segment of [0, 7, 999_999, 1_000_000]) {
    const file = segmentFile('streams', ONE, segment)
    assert.equal(parseSegmentFile(file), { log: ONE, segment })
    assert.equal(parseSegmentFile(file.slice('streams/'.length)), { log: ONE, segment })
  }
  assert.is(segmentFile('streams', ONE, 0), 'streams/2a97516c354b68848cdbd8f54a226a0a-0011223344556677-000000.log')
})

test('other files are no segments', () => {
  const file = segmentFile('streams', ONE, 0)
  for (const other of [
    `${file}.cut-12`,
    `${file}x`,
    file.replace('.log', ''),
    file.replace('2a', '2A'),
    'FORMAT',
    '',
  ]) {
    assert.is(parseSegmentFile(other), undefined, other)
  }
})

test('the salt is the last half of the incarnation', () => {
  assert.is(saltOf(ONE), 0x44556677n)
  assert.is(saltOf(OTHER), 0xbbaa9988n)
})

test('a location says its segment and offset, also far beyond 32 bits', () => {
  for (const [segment, offset] of [
    [0, 0],
    [0, 2 ** 32 - 1],
    [1, 0],
    [70_000, 123_456_789],
  ]) {
    const location = locate(segment, offset)
    assert.equal([segmentOf(location), offsetOf(location)], [segment, offset])
    assert.ok(Number.isSafeInteger(location))
  }
  assert.ok(locate(1, 0) > locate(0, 2 ** 32 - 1))
})

test('logs are listed with their segments in order, each incarnation for itself', async () => {
  const storage = new MemoryStorage()
  for (const [log, segment, size] of [
    [ONE, 10, 5],
    [OTHER, 0, 3],
    [ONE, 9, 4],
    [ONE, 0, 1],
  ] as const) {
    storage.append(segmentFile('streams', log, segment), new Uint8Array(size))
  }
  storage.append(`${segmentFile('streams', ONE, 0)}.cut-3`, new Uint8Array(9))
  storage.append(segmentFile('trash', ONE, 1), new Uint8Array(9))
  const logs = await listLogs(storage, 'streams')
  assert.is(logs.length, 2)
  const one = logs.find(({ identity }) => identity.incarnation === ONE.incarnation)
  assert.equal(
    one?.segments.map(({ number, size }) => [number, size]),
    [
      [0, 1],
      [9, 4],
      [10, 5],
    ],
  )
  assert.is(one?.segments[1].file, segmentFile('streams', ONE, 9))
  assert.equal(await listLogs(storage, 'staging'), [])
})

test.run()
