import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ActivePath } from '../../src/heads/path.js'
import { deadOnPath, isPosition, revisedAfter, revisionsOf, revisionsOnPath } from '../../src/supersede/entity.js'
import { resolvedIn } from '../../src/supersede/resolved.js'
import { ask, deadOn, entitiesOn, MESSAGE, type Node, pathTo, resolvedOn, TreeIndex, trees } from '../heads/tree.js'
import { RUNS, settings } from '../property/settings.js'

const endsOf = (nodes: readonly Node[]) => nodes.flatMap(({ type }, i) => (type === 'head' ? [] : [i + 1]))
const founders = (nodes: readonly Node[]) => [...new Set(nodes.map(({ founder }) => founder))]

test('CORE-17: an entity is its whole chain, whatever the branches', () =>
  fc.assert(
    fc.asyncProperty(trees, async (nodes) => {
      const index = new TreeIndex(nodes)
      for (const founder of founders(nodes)) {
        const expected = nodes.flatMap((node, i) => (node.founder === founder ? [i + 1] : []))
        assert.equal(await ask(revisionsOf(index, founder)), expected)
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('CORE-18: on a path the first record of an entity gives its position, and the last is in force', () =>
  fc.assert(
    fc.asyncProperty(trees, fc.boolean(), async (nodes, waits) => {
      const index = new TreeIndex(nodes, waits)
      for (const end of endsOf(nodes)) {
        const on = pathTo(nodes, end)
        const entities = entitiesOn(nodes, on)
        const path = new ActivePath(index, end)
        for (const founder of founders(nodes)) {
          const records = entities.get(founder) ?? []
          assert.equal(await ask(revisionsOnPath(path, founder)), records)
          const revisions = records.filter((pos) => pos !== founder)
          assert.equal(
            (await ask(revisedAfter(path, 0))).get(founder),
            revisions.length === 0 ? undefined : { first: revisions[0], last: revisions.at(-1) },
          )
          for (const pos of records) assert.is(await ask(isPosition(path, pos, founder)), pos === records[0])
        }
      }
    }),
    settings(Math.ceil(RUNS / 8)),
  ))

test('CORE-19: what the tombstones of a path end is out of it, and each live entity stands there once', () =>
  fc.assert(
    fc.asyncProperty(trees, async (nodes) => {
      const index = new TreeIndex(nodes)
      for (const end of endsOf(nodes)) {
        const on = pathTo(nodes, end)
        const path = new ActivePath(index, end)
        const dead = await ask(deadOnPath(path))
        assert.equal(dead, deadOn(nodes, on))
        const revised = await ask(revisedAfter(path, 0))
        const resolved: [number, number][] = []
        for (const pos of on) {
          const [inForce] = await ask(resolvedIn(path, dead, revised, { from: pos, to: pos }))
          if (inForce !== undefined) resolved.push([pos, inForce])
        }
        assert.equal(resolved, resolvedOn(nodes, on))
        const whole: number[] = []
        for (const span of await ask(path.spansAfter(0)))
          whole.push(...(await ask(resolvedIn(path, dead, revised, span))))
        assert.equal(
          whole,
          resolved.map(([, inForce]) => inForce),
        )
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('CORE-18: a revision on another branch changes nothing here', async () => {
  const nodes: Node[] = [
    { ...MESSAGE, parent: 0, founder: 1 },
    { ...MESSAGE, parent: 1, founder: 1 },
    { ...MESSAGE, parent: 1, founder: 3 },
    { ...MESSAGE, parent: 3, founder: 1 },
  ]
  const index = new TreeIndex(nodes)
  const revised = async (end: number) => (await ask(revisedAfter(new ActivePath(index, end), 0))).get(1)?.last
  assert.equal([await revised(1), await revised(2), await revised(3), await revised(4)], [undefined, 2, undefined, 4])
})

test('CORE-18: a branch that begins behind the founder takes its first revision there for the position', async () => {
  const nodes: Node[] = [
    { ...MESSAGE, parent: 0, founder: 1 },
    { ...MESSAGE, parent: 0, founder: 2 },
    { ...MESSAGE, parent: 2, founder: 1 },
    { ...MESSAGE, parent: 3, founder: 1 },
  ]
  const path = new ActivePath(new TreeIndex(nodes), 4)
  const revised = await ask(revisedAfter(path, 0))
  const resolved = [2, 3, 4].map((pos) => ask(resolvedIn(path, new Set(), revised, { from: pos, to: pos })))
  assert.equal(await Promise.all(resolved), [[2], [4], []])
})

test.run()
