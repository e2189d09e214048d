import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compactionInForce, endsAtBadExtent } from '../../src/context-view/compaction.js'
import { ActivePath } from '../../src/heads/path.js'
import { BAD_TARGET } from '../../src/index/entry.js'
import { deadOnPath } from '../../src/supersede/entity.js'
import { ask, entitiesOn, inForceOn, line, MESSAGE, type Node, pathTo, TreeIndex, trees } from '../heads/tree.js'
import { RUNS, settings } from '../property/settings.js'

const endsOf = (nodes: readonly Node[]) => nodes.flatMap(({ type }, i) => (type === 'head' ? [] : [i + 1]))

async function inForce(nodes: readonly Node[], end = nodes.length) {
  const path = new ActivePath(new TreeIndex(nodes), end)
  return ask(compactionInForce(path, await ask(deadOnPath(path))))
}

test('CORE-23: the compaction in force is the last that is live, completed and of a good extent', () =>
  fc.assert(
    fc.asyncProperty(trees, async (nodes) => {
      for (const end of endsOf(nodes)) {
        assert.equal(await inForce(nodes, end), inForceOn(nodes, pathTo(nodes, end)), `at ${end}`)
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('CORE-23: import is told of the compaction that will be passed over, at its own record', () =>
  fc.assert(
    fc.asyncProperty(trees, async (nodes) => {
      for (const end of endsOf(nodes)) {
        const path = pathTo(nodes, end)
        const { type, target, founder } = nodes[end - 1]
        const [position] = entitiesOn(nodes, path).get(founder)!
        const isBad = target !== 0 && !path.filter((pos) => pos < position).includes(target)
        const expected = type === 'compaction' && isBad
        assert.is(await ask(endsAtBadExtent(new ActivePath(new TreeIndex(nodes), end))), expected)
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

const compaction = (parent: number, founder: number, target = 0): Node => ({
  ...MESSAGE,
  type: 'compaction',
  completed: true,
  parent,
  founder,
  target,
})

test('CORE-23: without an extent all before the nearest participant is replaced; with one, what it names', async () => {
  const nodes = [...line(3), compaction(3, 4)]
  assert.equal(await inForce(nodes), { compaction: 4, through: 3, passedOver: [] })
  assert.equal(await inForce([...line(3), compaction(3, 4, 1)]), { compaction: 4, through: 1, passedOver: [] })
  assert.equal(await inForce([compaction(0, 1)]), { compaction: 1, through: 0, passedOver: [] })
})

test('CORE-23: an extent at its own position, or not on the path, is bad, and the one before is in force', async () => {
  const good = [...line(3), compaction(3, 4, 2)]
  for (const target of [5, BAD_TARGET]) {
    assert.equal(await inForce([...good, compaction(4, 5, target)]), { compaction: 4, through: 2, passedOver: [5] })
  }
})

test('CORE-23: a revision changes what is replaced, its position stays', async () => {
  const nodes = [...line(3), compaction(3, 4, 2), { ...MESSAGE, parent: 4, founder: 5 }, compaction(5, 4, 1)]
  assert.equal(await inForce(nodes), { compaction: 6, through: 1, passedOver: [] })
  const beyond = nodes.with(5, compaction(5, 4, 5))
  assert.equal(await inForce(beyond), { compaction: 0, through: 0, passedOver: [6] }, 'T must lie before the position')
  const undone = nodes.with(5, { ...compaction(5, 4, 1), completed: false })
  assert.equal(await inForce(undone), { compaction: 0, through: 0, passedOver: [] })
})

test.run()
