import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Double, doublesIn, type Revision } from '../../src/supersede/doubles.js'
import { ask, type Node, pathTo, TreeIndex, trees } from '../heads/tree.js'
import { RUNS, settings } from '../property/settings.js'

/** Each revision beside all earlier ones. */
function naive(nodes: readonly Node[], revisions: readonly Revision[]): Double[] {
  return revisions.flatMap(({ pos, target }, i) => {
    if (target === undefined) return []
    const on = new Set(pathTo(nodes, pos))
    const earlier = revisions.slice(0, i).find((other) => other.target === target && on.has(other.pos))
    return earlier === undefined ? [] : [{ pos, earlier: earlier.pos, target }]
  })
}

test('CORE-18: two revisions of one target on one path are found, and none of other paths', () =>
  fc.assert(
    fc.asyncProperty(trees, fc.boolean(), fc.array(fc.nat(3), { minLength: 1 }), async (nodes, waits, targets) => {
      const revisions = nodes.flatMap(({ parent, founder, type }, i): Revision[] => {
        if (founder === i + 1 || type === 'head') return []
        const chosen = targets[i % targets.length]
        return [{ pos: i + 1, parent, target: chosen === 3 ? undefined : `${founder}/${chosen}` }]
      })
      assert.equal(await ask(doublesIn(new TreeIndex(nodes, waits), revisions)), naive(nodes, revisions))
    }),
    settings(RUNS),
  ))

test.run()
