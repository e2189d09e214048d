import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ActivePath, type Span } from '../../src/heads/path.js'
import { PARTICIPATES } from '../../src/index/entry.js'
import { RUNS, settings } from '../property/settings.js'
import { ask, line, MESSAGE, type Node, pathTo, TreeIndex, trees } from './tree.js'

const positionsOf = (spans: readonly Span[]) =>
  spans.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i))

/** Each end of a path that a tree has. */
const endsOf = (nodes: readonly Node[]) => [0, ...nodes.flatMap(({ type }, i) => (type === 'head' ? [] : [i + 1]))]

test('CORE-16: a path goes from its root to its end, and has no other record', () =>
  fc.assert(
    fc.asyncProperty(trees, fc.boolean(), async (nodes, waits) => {
      const index = new TreeIndex(nodes, waits)
      for (const end of endsOf(nodes)) {
        const expected = pathTo(nodes, end)
        const whole = new ActivePath(index, end)
        assert.is(await ask(whole.length()), expected.length)
        assert.equal(positionsOf(await ask(whole.spansAfter(0))), expected)
        const bit = new ActivePath(index, end)
        for (const pos of [end, 1, Math.ceil(end / 2), nodes.length, nodes.length + 1, 0]) {
          assert.is(await ask(bit.has(pos)), expected.includes(pos), `${pos} on the path to ${end}`)
          assert.equal(
            positionsOf(await ask(bit.spansAfter(pos))),
            expected.filter((one) => one > pos),
          )
        }
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('CORE-12: a path says at which orphan it is cut, and which gaps it has', () =>
  fc.assert(
    fc.asyncProperty(trees, async (nodes) => {
      const index = new TreeIndex(nodes)
      for (const end of endsOf(nodes)) {
        const path = pathTo(nodes, end)
        const [root] = path
        const active = new ActivePath(index, end)
        assert.is(await ask(active.cut()), root !== undefined && nodes[root - 1].orphan ? root : 0)
        assert.equal(
          await ask(active.gaps()),
          path.filter((pos) => nodes[pos - 1].gap),
        )
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('the records of a kind are found from the end of the path', () =>
  fc.assert(
    fc.asyncProperty(trees, async (nodes) => {
      const index = new TreeIndex(nodes)
      for (const end of endsOf(nodes)) {
        const back = pathTo(nodes, end).reverse()
        const active = new ActivePath(index, end)
        const ofType = (type: string) => back.filter((pos) => nodes[pos - 1].type === type)
        assert.equal(await ask(active.landmarks('compaction')), ofType('compaction'))
        assert.equal(await ask(active.landmarks('info')), ofType('session_info'))
        assert.equal(
          await ask(active.landmarks('tombstone')),
          ofType('tombstone').filter((pos) => nodes[pos - 1].target > 0),
        )
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('CORE-23: the nearest participant before a record is found, on its path only', () =>
  fc.assert(
    fc.asyncProperty(trees, async (nodes) => {
      const index = new TreeIndex(nodes)
      for (const pos of endsOf(nodes).slice(1)) {
        const before = pathTo(nodes, pos).slice(0, -1)
        const expected = before.findLast((one) => nodes[one - 1].participates) ?? 0
        assert.is(await ask(new ActivePath(index, pos).participantBefore(pos, PARTICIPATES)), expected)
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('a linear path over several pages is one span, and a branch off its middle is one more', async () => {
  const nodes = line(10_000)
  nodes.push({ ...MESSAGE, parent: 5_000, founder: 10_001 })
  nodes.push({ ...MESSAGE, parent: 10_001, founder: 10_002 })
  const index = new TreeIndex(nodes)
  const main = new ActivePath(index, 10_000)
  assert.equal(await ask(main.spansAfter(0)), [{ from: 1, to: 10_000 }])
  assert.equal(await ask(main.spansAfter(9_990)), [{ from: 9_991, to: 10_000 }])
  const branch = new ActivePath(index, 10_002)
  assert.is(await ask(branch.length()), 5_002)
  assert.equal(await ask(branch.spansAfter(4_999)), [
    { from: 5_000, to: 5_000 },
    { from: 10_001, to: 10_002 },
  ])
  assert.equal(
    [await ask(branch.has(5_001)), await ask(branch.has(4_096)), await ask(branch.has(10_001))],
    [false, true, true],
  )
  const silent = nodes.map((node, i) => (i > 2 ? { ...node, participates: false } : node))
  assert.is(await ask(new ActivePath(new TreeIndex(silent), 10_000).participantBefore(10_000, PARTICIPATES)), 3)
})

test('a question about the end of a path does not walk to its root', async () => {
  const index = new TreeIndex(line(50_000))
  let pages = 0
  const counting = {
    length: index.length,
    page: (number: number) => {
      pages++
      return index.page(number)
    },
    entry: (pos: number) => index.entry(pos),
    candidates: (key: number) => index.candidates(key),
  }
  const path = new ActivePath(counting, 50_000)
  assert.is(await ask(path.has(49_999)), true)
  assert.is(await ask(path.length()), 50_000)
  assert.ok(pages <= 2, `${pages} pages`)
})

test.run()
