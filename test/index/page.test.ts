import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Entry, LANDMARK_NAMES } from '../../src/index/entry.js'
import { firstOf, PAGE_POSITIONS, Page, pageOf } from '../../src/index/page.js'
import { RUNS, settings } from '../property/settings.js'
import { PlainIndex } from './plain-index.js'

/** A page and the entries that went into it. */
function filled(plain: PlainIndex, number: number, count: number): { page: Page; entries: Entry[] } {
  const first = firstOf(number)
  const entries = plain
    .upTo(first + count - 1)
    .slice(first - 1, first + count - 1)
    .map(({ entry }) => entry)
  const page = Page.empty(number)
  for (const entry of entries) page.push(entry)
  return { page, entries }
}

function expectEntries(page: Page, entries: readonly Entry[]): void {
  assert.equal([page.first, page.last], [entries[0].pos, entries.at(-1)!.pos])
  for (const entry of entries) {
    const { pos } = entry
    assert.equal(page.entry(pos), entry)
    assert.equal(
      [page.location(pos), page.type(pos), page.flags(pos), page.parent(pos), page.founder(pos), page.target(pos)],
      [entry.location, entry.type, entry.flags, entry.parent, entry.founder, entry.target],
    )
    assert.equal(page.run(pos), entry.run)
    for (const name of LANDMARK_NAMES) assert.is(page.landmark(name, pos), entry.landmarks[name])
  }
  const begun = entries.filter(({ pos, run }) => run.start === pos).map(({ run }) => run)
  assert.equal([...page.runsBegun()], begun)
}

test('a page says of each entry what was put in, and again when it was written and read', () =>
  fc.assert(
    fc.property(fc.nat(), fc.nat(2), fc.integer({ min: 1, max: 300 }), (seed, number, count) => {
      const { page, entries } = filled(new PlainIndex(seed), number, count)
      expectEntries(page, entries)
      const again = Page.decode(page.number, page.encode())
      assert.is(again.number, number)
      expectEntries(again, entries)
      assert.equal(again.encode(), page.encode())
    }),
    settings(Math.ceil(RUNS / 20)),
  ))

test('a full page, and locations far beyond 32 bits, are kept exactly', () => {
  const { page, entries } = filled(new PlainIndex(7), 30, PAGE_POSITIONS)
  assert.ok(entries.at(-1)!.location > 2 ** 33)
  const again = Page.decode(page.number, page.encode())
  expectEntries(again, entries)
  assert.ok(page.encode().length < 80_000, `${page.encode().length} bytes`)
})

test('a page that is read goes on as the one that was not', () =>
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 100 }), (seed, before, after) => {
      const plain = new PlainIndex(seed)
      const { page } = filled(plain, 1, before + after)
      const { page: begun } = filled(plain, 1, before)
      const again = Page.decode(1, begun.encode())
      for (const { entry } of plain.rows.slice(PAGE_POSITIONS - 1 + before, PAGE_POSITIONS - 1 + before + after))
        again.push(entry)
      assert.equal(again.encode(), page.encode())
    }),
    settings(Math.ceil(RUNS / 20)),
  ))

test('an empty page ends before it begins', () => {
  for (const number of [0, 1, 7]) {
    const page = Page.empty(number)
    assert.equal([page.first, page.last], [firstOf(number), firstOf(number) - 1])
    assert.equal([...page.runsBegun()], [])
  }
})

test('each position has one page, and pages begin where they should', () => {
  assert.equal([1, 4_095, 4_096, 8_191, 8_192].map(pageOf), [0, 0, 1, 1, 2])
  assert.equal([0, 1, 2].map(firstOf), [1, 4_096, 8_192])
})

test.run()
