import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { viewPositions } from '../../src/context-view/view.js'
import { ActivePath } from '../../src/heads/path.js'
import { ask, inForceOn, line, MESSAGE, type Node, pathTo, resolvedOn, TreeIndex, trees } from '../heads/tree.js'
import { RUNS, settings } from '../property/settings.js'

/** CORE-24, from the rules. */
function expectedView(nodes: readonly Node[], end: number) {
  const path = pathTo(nodes, end)
  const { compaction, through, passedOver } = inForceOn(nodes, path)
  const entries = resolvedOn(nodes, path)
    .filter(([position, inForce]) => position > through && nodes[inForce - 1].participates)
    .map(([, inForce]) => inForce)
    .filter((inForce) => nodes[inForce - 1].type !== 'compaction')
  return { compaction, entries, passedOver }
}

test('CORE-24: the view is the compaction in force and the live participants behind what it replaces', () =>
  fc.assert(
    fc.asyncProperty(trees, fc.boolean(), async (nodes, waits) => {
      const index = new TreeIndex(nodes, waits)
      for (const [i, { type }] of nodes.entries()) {
        if (type === 'head') continue
        assert.equal(await ask(viewPositions(new ActivePath(index, i + 1))), expectedView(nodes, i + 1), `at ${i + 1}`)
      }
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('CORE-16: the view of the empty path is empty', async () => {
  const view = await ask(viewPositions(new ActivePath(new TreeIndex([]), 0)))
  assert.equal(view, { compaction: 0, entries: [], passedOver: [] })
})

test('CORE-24: behind a compaction nothing before its extent is looked at', async () => {
  const nodes = line(20_000)
  nodes.push({ ...MESSAGE, type: 'compaction', completed: true, parent: 20_000, founder: 20_001, target: 19_990 })
  const index = new TreeIndex(nodes)
  const seen = new Set<number>()
  const watching = {
    length: index.length,
    page: (number: number) => {
      seen.add(number)
      return index.page(number)
    },
    entry: (pos: number) => index.entry(pos),
    candidates: (key: number) => index.candidates(key),
  }
  const view = await ask(viewPositions(new ActivePath(watching, 20_001)))
  assert.equal(
    view.entries,
    Array.from({ length: 10 }, (_, i) => 19_991 + i),
  )
  assert.equal([...seen], [4], 'one page of five')
})

test.run()
