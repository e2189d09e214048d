import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FrameReader } from '../../src/log/files/frame-reader.js'
import { locate, saltOf } from '../../src/log/files/segment.js'
import { bytesOfSegment, framesOf, inNewSegment, logOf, recordEntry } from './handmade.js'

async function sample() {
  const large = { type: 'x', noise: Array.from({ length: 20_000 }, (_, n) => Math.sin(n)) }
  const values = Array.from({ length: 200 }, (_, n) => (n === 50 ? large : { type: 'x', n, text: 'words '.repeat(20) }))
  const { storage, log } = await logOf(values)
  await inNewSegment(log, () => log.append([[recordEntry({ type: 'x' }, 201)]]))
  const places = log.segments.flatMap((segment) =>
    framesOf(bytesOfSegment(storage, segment)).map(({ at, pos, check }) => ({
      location: locate(segment.number, at),
      pos,
      check,
    })),
  )
  let reads = 0
  let bytes = 0
  const reader = new FrameReader((number, offset, length) => {
    const read = storage.read(log.segments[number].file, offset, length)
    reads++
    bytes += read.length
    return read
  }, saltOf(log.identity))
  return { reader, places, counts: () => ({ reads, bytes }) }
}

test('every frame is found at its place, forwards, backwards, and in both segments', async () => {
  const { reader, places } = await sample()
  for (const order of [places, places.toReversed(), places.filter((_, i) => i % 7 === 0)]) {
    for (const { location, pos, check } of order) {
      const frame = reader.held(location) ?? (await reader.load(location))
      assert.equal([frame?.pos, frame?.check, frame?.body.length], [pos, check, frame?.bodyBytes])
    }
  }
})

test('what lies close together comes with few reads, and a single frame does not bring a megabyte', async () => {
  const { reader, places, counts } = await sample()
  await reader.load(places[100].location)
  assert.ok(counts().bytes <= 8 * 1024)
  const before = counts().reads
  for (const { location } of places) if (reader.held(location) === undefined) await reader.load(location)
  assert.ok(counts().reads - before < 20, `${counts().reads} reads for ${places.length} frames`)
})

test('where no frame begins there is none, and nothing is held of another segment', async () => {
  const { reader, places } = await sample()
  assert.is(await reader.load(places[3].location + 1), undefined)
  await reader.load(places[3].location)
  assert.is(reader.held(places[3].location + locate(1, 0)), undefined)
  assert.is(await reader.load(locate(1, 10_000_000)), undefined)
})

test.run()
