import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Dictionary, type DictionaryPart, SHAPES_MAX } from '../../src/log/format/dictionary.js'
import { RUNS, settings } from '../property/settings.js'

const keys = (n: number, name = 'k') => Array.from({ length: n }, (_, i) => `${name}${i}`)

test('a shape earns an id at its second sight', () => {
  const dictionary = new Dictionary()
  assert.is(dictionary.earnsId(['a', 'b']), false)
  assert.is(dictionary.earnsId(['b', 'a']), false, 'another order is another shape')
  assert.is(dictionary.earnsId(['a', 'b']), true)
})

test('a map in disguise earns none: too many keys, or too much text in them', () => {
  const dictionary = new Dictionary()
  for (const shape of [keys(65), keys(9, 'k'.repeat(120))]) {
    for (let sight = 0; sight < 3; sight++) assert.is(dictionary.earnsId(shape), false)
  }
  assert.is(dictionary.earnsId(keys(64)), false)
  assert.is(dictionary.earnsId(keys(64)), true)
})

test('a thousand shapes that are never seen again do not grow the memory of sights', () => {
  const dictionary = new Dictionary()
  for (let n = 0; n < 100_000; n++) assert.is(dictionary.earnsId([`once${n}`]), false)
  const { seen } = dictionary as unknown as { seen: Set<string> }
  assert.ok(seen.size <= 1_024)
})

test('a full dictionary gives out no more ids', () => {
  const dictionary = new Dictionary()
  for (let n = 0; n < SHAPES_MAX; n++) dictionary.shapes.push([`k${n}`])
  dictionary.earnsId(['new'])
  assert.is(dictionary.earnsId(['new']), false)
})

/** What a writer says and a reader hears, with the parts of each write; some writes do not come about. */
interface Write {
  shapes: number
  fails: boolean
}

const writes = fc.array(fc.record({ shapes: fc.integer({ min: 1, max: 3 }), fails: fc.boolean() }), { maxLength: 12 })

function partsOf(plan: Write[]): { parts: DictionaryPart[]; all: string[][] } {
  const dictionary = new Dictionary()
  const parts: DictionaryPart[] = []
  for (const { shapes, fails } of plan) {
    const mark = dictionary.mark()
    for (let n = 0; n < shapes; n++) dictionary.shapes.push([`k${dictionary.shapes.length}`])
    const part = dictionary.nextPart()
    dictionary.markWritten()
    if (fails) dictionary.restore(mark)
    else parts.push(structuredClone(part))
  }
  return { parts, all: dictionary.shapes.slice(0, dictionary.written) }
}

test('a reader of all parts knows what was written, and what a failed write said is said again', () =>
  fc.assert(
    fc.property(writes, (plan) => {
      const { parts, all } = partsOf(plan)
      const reader = new Dictionary()
      for (const part of parts) assert.is(reader.adopt(part), true)
      assert.equal(reader.shapes, all)
      assert.is(reader.written, all.length)
    }),
    settings(RUNS),
  ))

test('any one part can be lost: the next one repeats it', () =>
  fc.assert(
    fc.property(writes, fc.nat(), (plan, dice) => {
      const { parts, all } = partsOf(plan)
      if (parts.length < 2) return
      const lost = dice % (parts.length - 1)
      const reader = new Dictionary()
      for (const part of parts.toSpliced(lost, 1)) assert.is(reader.adopt(part), true)
      assert.equal(reader.shapes, all)
    }),
    settings(RUNS),
  ))

test('with two parts lost the next is refused, and the whole dictionary mends it', () => {
  const { parts, all } = partsOf(Array.from({ length: 4 }, () => ({ shapes: 2, fails: false })))
  const reader = new Dictionary()
  reader.adopt(parts[0])
  assert.is(reader.adopt(parts[3]), false)
  assert.is(reader.shapes.length, 2)
  assert.is(reader.adopt({ from: 0, shapes: all }), true)
  assert.equal(reader.shapes, all)
})

test('a writer that goes on after reading keeps the promise too', () => {
  const { parts } = partsOf(Array.from({ length: 3 }, () => ({ shapes: 2, fails: false })))
  const writer = new Dictionary()
  for (const part of parts) writer.adopt(part)
  writer.shapes.push(['new'])
  const next = writer.nextPart()
  const reader = new Dictionary()
  for (const part of [...parts.slice(0, 2), next]) reader.adopt(part)
  assert.equal(reader.shapes, writer.shapes)
})

test.run()
