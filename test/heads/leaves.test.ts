import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leaves } from '../../src/heads/leaves.js'
import { RUNS, settings } from '../property/settings.js'
import { ask, line, MESSAGE, TreeIndex, trees } from './tree.js'

test('CORE-15: the leaves are the records without children, head records apart, in log order', () =>
  fc.assert(
    fc.asyncProperty(trees, fc.boolean(), async (nodes, waits) => {
      const parents = new Set(nodes.filter(({ type }) => type !== 'head').map(({ parent }) => parent))
      const expected = nodes.flatMap(({ type }, i) => (type === 'head' || parents.has(i + 1) ? [] : [i + 1]))
      assert.equal(await ask(leaves(new TreeIndex(nodes, waits))), expected)
    }),
    settings(RUNS),
  ))

test('CORE-15: a stream without records has no leaf, and one of many pages has those of its branches', async () => {
  assert.equal(await ask(leaves(new TreeIndex([]))), [])
  const nodes = line(8_192)
  nodes.push({ ...MESSAGE, parent: 4_096, founder: 8_193 })
  assert.equal(await ask(leaves(new TreeIndex(nodes))), [8_192, 8_193])
  nodes.push({ ...MESSAGE, parent: 8_192, founder: 8_194 })
  assert.equal(await ask(leaves(new TreeIndex(nodes))), [8_193, 8_194])
})

test.run()
