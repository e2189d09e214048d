import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { foldCompaction } from '../../../src/acp/fold/compaction.js'
import { assemblyOf, blocksOf, type Content } from '../../../src/acp/fold/content.js'
import { foldMessage, foldPrompt, type MessageState } from '../../../src/acp/fold/message.js'
import { chunkMeta, patchedMeta, patchedText } from '../../../src/acp/fold/patch.js'
import { foldPlan } from '../../../src/acp/fold/plan.js'
import { foldSessionMessage } from '../../../src/acp/fold/session-message.js'
import { foldSubagent } from '../../../src/acp/fold/subagent.js'
import { foldTerminal, outputBytes, type TerminalState } from '../../../src/acp/fold/terminal.js'
import { foldToolCall, itemsOf, type ToolCallState } from '../../../src/acp/fold/tool-call.js'
import type { JsonObject } from '../../../src/acp/json.js'
import { textBlock, type Update } from '../support.js'

function folded<S>(fold: (state: S | undefined, update: JsonObject) => S | undefined, ...updates: Update[]): S {
  let state: S | undefined
  for (const update of updates) state = fold(state, update) ?? state
  return state as S
}

function chunk(words: string, messageId = 'm'): Update {
  return { sessionUpdate: 'agent_message_chunk', messageId, content: textBlock(words) }
}

function whole(content: unknown, fields: object = {}): Update {
  return { sessionUpdate: 'agent_message', messageId: 'm', content, ...fields }
}

const shown = (state: MessageState): JsonObject[] => blocksOf(state.content as Content)

test('ASR-704: an omitted field stays, null clears it, a value replaces it, a malformed one counts as omitted', () => {
  assert.is(patchedText('a', undefined), 'a')
  assert.is(patchedText('a', null), undefined)
  assert.is(patchedText('a', 'b'), 'b')
  assert.is(patchedText('a', 7), 'a')
})

test('ASR-708: _meta is patched by key, null removes a key, and on an upsert null removes all', () => {
  assert.equal(patchedMeta({ a: 1, b: 2 }, { a: null, c: { d: 1 } }), { b: 2, c: { d: 1 } })
  assert.equal(patchedMeta({ a: { x: 1 } }, { a: { y: 1 } }), { a: { y: 1 } }, 'no deep merge')
  assert.is(patchedMeta({ a: 1 }, null), undefined)
  assert.is(patchedMeta({ a: 1 }, { a: null }), undefined)
  assert.equal(patchedMeta({ a: 1 }, 'x'), { a: 1 })
  const hostile = patchedMeta({}, JSON.parse('{"__proto__":{"x":1},"constructor":2}'))
  assert.equal(Object.keys(hostile ?? {}), ['__proto__', 'constructor'])
  assert.is(({} as { x?: number }).x, undefined)
})

test('ASR-708, M4: the _meta of a chunk adds to its entity by key, and null does not clear it', () => {
  assert.equal(chunkMeta({ a: 1 }, { b: 2 }), { a: 1, b: 2 })
  assert.equal(chunkMeta({ a: 1 }, null), { a: 1 })
})

test('ASR-704: chunks of text are one block, and a full update replaces what they made', () => {
  assert.equal(shown(folded(foldMessage, chunk('a'), chunk('b'))), [textBlock('ab')])
  const state = folded(foldMessage, chunk('X'), whole([textBlock('XY')]), chunk('Z'))
  assert.equal(shown(state), [textBlock('XY'), textBlock('Z')])
  assert.is(assemblyOf(state.content as Content), 'folded')
})

test('ASR-704: content [] and null clear, and what follows comes from chunks', () => {
  for (const nothing of [[], null]) {
    const state = folded(foldMessage, chunk('old'), whole(nothing), chunk('new'), chunk('er'))
    assert.equal(shown(state), [textBlock('newer')])
    assert.is(assemblyOf(state.content as Content), 'chunks')
  }
  assert.equal(shown(folded(foldMessage, chunk('a'), whole(undefined, { _meta: { k: 1 } }))), [textBlock('a')])
})

test('ASR-211: text that carries more than its text is a block of its own', () => {
  const noted = { ...textBlock('b'), annotations: { audience: ['user'] } }
  const state = folded(foldMessage, chunk('a'), { ...chunk(''), content: noted }, chunk('c'), chunk('d'))
  assert.equal(shown(state), [textBlock('a'), noted, textBlock('cd')])
})

test('items of a list that are no blocks are left out, a list that is none counts as omitted', () => {
  assert.equal(shown(folded(foldMessage, whole([textBlock('a'), 3, {}, { type: 'image', data: '' }]))), [
    textBlock('a'),
    { type: 'image', data: '' },
  ])
  assert.equal(shown(folded(foldMessage, whole([textBlock('a')]), whole('text'))), [textBlock('a')])
})

test('an update without an id, and a chunk without content, can not be folded', () => {
  assert.is(foldMessage(undefined, { sessionUpdate: 'agent_message', content: [] }), undefined)
  assert.is(foldMessage(undefined, { sessionUpdate: 'agent_message_chunk', messageId: 'm' }), undefined)
  assert.is(foldToolCall(undefined, { sessionUpdate: 'tool_call_update' }), undefined)
  assert.is(foldPlan(undefined, { sessionUpdate: 'plan_update', plan: { type: 'items' } }), undefined)
  assert.is(foldTerminal(undefined, { sessionUpdate: 'terminal_output_chunk', terminalId: 't' }), undefined)
  assert.is(foldCompaction(undefined, { sessionUpdate: 'compaction_update' }), undefined)
  assert.is(foldSubagent(undefined, { sessionUpdate: 'subagent_update' }), undefined)
  assert.is(foldSessionMessage(undefined, { sessionUpdate: 'session_message_chunk', messageId: 'm' }), undefined)
})

test('ASR-713: the prompt is the content until the agent tells it', () => {
  const prompt = foldPrompt(undefined, 'm', [textBlock('asked')], undefined)
  assert.is(prompt.content, undefined)
  const echo = { sessionUpdate: 'user_message_chunk', messageId: 'm', content: textBlock('told') }
  const told = foldMessage(prompt, echo) as MessageState
  assert.equal(shown(told), [textBlock('told')])
  assert.equal(told.prompt, [textBlock('asked')])
})

const call = (fields: object): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: 't', ...fields })
const item = (words: string) => ({ type: 'content', content: textBlock(words) })
const itemChunk = (content: object): Update => ({
  sessionUpdate: 'tool_call_content_chunk',
  toolCallId: 't',
  content,
})

test('ASR-704: fields of a call are patched, its content is replaced as a whole and grows by chunks', () => {
  const state: ToolCallState = folded(
    foldToolCall,
    call({ title: 'Run', rawInput: {}, content: [item('A')], locations: [{ path: '/a' }] }),
    call({ title: 'Run ls', rawInput: { cmd: 'ls' }, locations: null, rawOutput: 1 }),
    call({ status: 'in_progress', rawOutput: null, kind: 7 }),
    itemChunk(item('B')),
    itemChunk(item('C')),
    itemChunk({ type: 'terminal', terminalId: 'x' }),
    itemChunk(item('D')),
  )
  assert.equal(itemsOf(state), [item('A'), item('BC'), { type: 'terminal', terminalId: 'x' }, item('D')])
  const { title, status, kind, locations, rawInput, rawOutput } = state
  assert.equal(
    [title, status, kind, locations, rawInput, rawOutput],
    ['Run ls', 'in_progress', undefined, undefined, { cmd: 'ls' }, undefined],
  )
})

test("M8: a plan is its last snapshot, also when its kind changes; its _meta is the snapshot's", () => {
  const state = folded(
    foldPlan,
    { sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries: [] }, _meta: { a: 1 } },
    { sessionUpdate: 'plan_update', plan: { type: 'markdown', planId: 'p', content: '#' }, _meta: { b: 1 } },
  )
  assert.equal(state, { planId: 'p', plan: { type: 'markdown', planId: 'p', content: '#' }, meta: { b: 1 } })
})

test('pieces of terminal output are decoded one by one: base64 texts are not joined', () => {
  const piece = (data: string): Update => ({ sessionUpdate: 'terminal_output_chunk', terminalId: 't', data })
  const state: TerminalState = folded(foldTerminal, piece('b2sgMSDi'), piece('gJM='), piece('IQ=='))
  assert.is(new TextDecoder().decode(outputBytes(state)), 'ok 1 –!')
  assert.is(foldTerminal(state, piece('%')), undefined)
})

test('terminal output is replaced by an update of it, cleared by null, and ends with an exit status, even an empty one', () => {
  const update = (fields: object): Update => ({ sessionUpdate: 'terminal_update', terminalId: 't', ...fields })
  const state = folded(
    foldTerminal,
    update({ command: 'ls', output: { data: 'YQ==' } }),
    { sessionUpdate: 'terminal_output_chunk', terminalId: 't', data: 'Yg==' },
    update({ exitStatus: {} }),
  )
  assert.is(new TextDecoder().decode(outputBytes(state)), 'ab')
  assert.equal([state.command, state.exitStatus, state.fromChunks], ['ls', {}, false])
  assert.is(folded(foldTerminal, update({ output: { data: 'YQ==' } }), update({ output: null })).output, undefined)
})

test('M20: a compaction is in progress from its first chunk on, and keeps its error', () => {
  const state = folded(
    foldCompaction,
    { sessionUpdate: 'compaction_summary_chunk', compactionId: 'c', content: textBlock('a') },
    { sessionUpdate: 'compaction_summary_chunk', compactionId: 'c', content: textBlock('b') },
  )
  assert.is(state.status, 'in_progress')
  assert.equal(blocksOf(state.summary as Content), [textBlock('ab')])
  const failed = foldCompaction(state, {
    sessionUpdate: 'compaction_update',
    compactionId: 'c',
    status: 'failed',
    error: 'full',
  })
  assert.equal([failed?.status, failed?.error], ['failed', 'full'])
})

test('M11: sender and recipient may come late, and null does not take them away', () => {
  const state = folded(
    foldSessionMessage,
    { sessionUpdate: 'session_message', messageId: 'm', recipientSessionId: 'b' },
    { sessionUpdate: 'session_message_chunk', messageId: 'm', senderSessionId: 'a', content: textBlock('x') },
    { sessionUpdate: 'session_message', messageId: 'm', senderSessionId: null, recipientSessionId: null },
  )
  assert.equal([state.sender, state.recipient, blocksOf(state.content)], ['a', 'b', [textBlock('x')]])
})

test.run()
