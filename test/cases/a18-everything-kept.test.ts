/**
 * A18: after loading, the texts are there, but calls, images, states, plans and unknown things are missing. What the
 * engine itself must keep: every kind of content and every unknown field, to the byte.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { collect, idsOf, linesOf } from '../support/collect.js'
import { header } from '../support/records.js'
import { copied, importOf, reopened } from '../support/stores.js'

const LINES = [
  {
    type: 'message',
    seq: 1,
    id: 'u1',
    messageId: 'u1',
    role: 'user',
    content: [
      { type: 'text', text: 'look', annotations: { audience: ['user'], priority: 0.5 } },
      { type: 'image', data: 'aGk=', mimeType: 'image/png', uri: null },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///w/a.txt', name: 'a.txt', size: 3 },
      { type: 'resource', resource: { uri: 'file:///w/b', text: 'b', mimeType: 'text/plain' }, _meta: { k: [] } },
    ],
  },
  {
    type: 'message',
    seq: 2,
    id: 'a1',
    role: 'assistant',
    content: [
      { type: 'reasoning', text: '', summary: [], signature: 'c2ln' },
      { type: 'text', text: '' },
      { type: 'com.example/unknown', payload: { x: [null, { y: {} }] } },
    ],
    'com.example/extra': { a: {}, b: [], c: '', d: null },
  },
  {
    type: 'tool_call',
    seq: 3,
    id: 't1',
    callId: 't1',
    kind: 'edit',
    input: { path: 'a.txt' },
    locations: [{ root: 'w', path: 'a.txt', line: 1 }],
    _meta: { claude: { toolName: 'Edit' } },
  },
  {
    type: 'tool_result',
    seq: 4,
    id: 't1r',
    callId: 't1',
    status: 'completed',
    displayContent: [
      { type: 'diff', path: '/w/a.txt', oldText: null, newText: 'x' },
      { type: 'terminal', terminalId: 'w1' },
      { type: 'content', content: { type: 'text', text: 'out' } },
    ],
    raw: { stdout: 'x\r\n', code: 0 },
  },
  { type: 'tool_call', seq: 5, id: 't2', callId: 't2', kind: 'other', _meta: { parent: 't1' } },
  { type: 'plan', seq: 6, id: 'p1', planId: 'p', planType: 'items', entries: [{ content: 'a', priority: 'high' }] },
  { type: 'config_change', seq: 7, id: 'c1', options: { mode: 'plan' } },
  { type: 'usage_summary', seq: 8, id: 'g1', scope: 'turn', cost: { amount: 0.125, currency: 'USD' } },
  { type: 'com.example/vendor_x', seq: 9, id: 'v1', y: 1 },
  { type: 'unheard-of', seq: 10, id: 'v2', native: { record: { raw: '\u0000\u2028' }, ref: null } },
  { type: 'message', seq: 11, id: 'a2', role: 'assistant', content: [{ type: 'text', text: 'done' }] },
]

test('A18, CORE-4, CORE-5, CORE-7: every kind of content and every unknown field is kept, in its order', async () => {
  const imported = await importOf(...LINES)
  assert.equal(imported.report.diagnostics, [])
  const { stream } = await reopened(imported)
  const stored = await collect(stream.records())
  assert.equal(
    stored.map((record) => JSON.stringify(record)),
    LINES.map((record) => JSON.stringify(record)),
  )
})

test('A18, CORE-2: the export has the lines of the import, to the byte, and so has the export of a copy', async () => {
  const { stream } = await importOf(...LINES)
  const expected = [header(), ...LINES].map((line) => JSON.stringify(line))
  assert.equal(await linesOf(stream.exportJsonl()), expected)
  assert.equal(await linesOf((await copied(stream)).stream.exportJsonl()), expected)
})

test('A18, CORE-22: replay has everything, the view has what the model sees', async () => {
  const { stream } = await importOf(...LINES)
  const ids = LINES.map(({ id }) => id)
  assert.equal(await idsOf((await stream.activePath()).resolved()), ids)
  assert.equal(await idsOf((await stream.contextView()).entries()), ['u1', 'a1', 't1', 't1r', 't2', 'a2'])
  assert.equal(await idsOf(stream.records({ types: ['plan', 'com.example/vendor_x'] })), ['p1', 'v1'])
})

test.run()
