/**
 * Folding against a naive model, and what holds for every sequence of updates (ASR-704).
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { blocksOf, type Content } from '../../src/acp/fold/content.js'
import { foldMessage, type MessageState } from '../../src/acp/fold/message.js'
import { foldTerminal, outputBytes, type TerminalState } from '../../src/acp/fold/terminal.js'
import { foldToolCall, itemsOf, type ToolCallState } from '../../src/acp/fold/tool-call.js'
import type { JsonObject } from '../../src/acp/json.js'
import { settings } from './settings.js'

const plain = fc.record({ type: fc.constant('text'), text: fc.string({ maxLength: 4 }) })
const block = fc.oneof(
  { weight: 3, arbitrary: plain },
  fc.record({ type: fc.constant('image'), data: fc.string({ maxLength: 3 }) }),
  fc.record({ type: fc.constant('text'), text: fc.string({ maxLength: 3 }), _meta: fc.constant({ k: 1 }) }),
)
const metaPatch = fc.option(
  fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.option(fc.integer(), { nil: null }), { maxKeys: 3 }),
  { nil: undefined },
)

type Step = { chunk: boolean; content: unknown; meta: unknown }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ chunk: fc.constant(true), content: block, meta: metaPatch }) },
  fc.record({
    chunk: fc.constant(false),
    content: fc.oneof(fc.constant(undefined), fc.constant(null), fc.array(block, { maxLength: 3 }), fc.constant(5)),
    meta: fc.oneof(metaPatch, fc.constant(null)),
  }),
)

function updateOf({ chunk, content, meta }: Step): JsonObject {
  const sessionUpdate = chunk ? 'agent_message_chunk' : 'agent_message'
  return {
    sessionUpdate,
    messageId: 'm',
    ...(content !== undefined && { content }),
    ...(meta !== undefined && { _meta: meta }),
  }
}

/** Looks only at what is in force: the last full content, and the chunks behind it. */
function model(steps: Step[]): { blocks: unknown[]; meta: [string, unknown][] } {
  const last = steps.findLastIndex(({ chunk, content }) => !chunk && (content === null || Array.isArray(content)))
  const base = last === -1 ? [] : ((steps[last].content as unknown[]) ?? [])
  const chunks = steps
    .slice(last + 1)
    .filter(({ chunk }) => chunk)
    .map(({ content }) => content as JsonObject)
  const runs: JsonObject[][] = []
  for (const one of chunks) {
    const isPlain = (candidate: JsonObject | undefined) => candidate?.type === 'text' && candidate._meta === undefined
    if (isPlain(one) && isPlain(runs.at(-1)?.[0])) runs.at(-1)?.push(one)
    else runs.push([one])
  }
  const joined = runs.map((run) =>
    run.length === 1 ? run[0] : { type: 'text', text: run.map(({ text }) => text).join('') },
  )
  const meta: [string, unknown][] = []
  for (const { chunk, meta: patch } of steps) {
    if (patch === null && !chunk) meta.length = 0
    for (const [key, value] of Object.entries(patch ?? {})) {
      const at = meta.findIndex(([name]) => name === key)
      if (at !== -1) meta.splice(at, 1)
      if (value !== null) meta.push([key, value])
    }
  }
  return { blocks: [...base, ...joined], meta: meta.sort(([a], [b]) => (a < b ? -1 : 1)) }
}

function fold(steps: Step[]): MessageState | undefined {
  let state: MessageState | undefined
  for (const one of steps) state = foldMessage(state, updateOf(one))
  return state
}

function told(state: MessageState): { blocks: unknown[]; meta: [string, unknown][] } {
  const meta = Object.entries(state.meta ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return { blocks: state.content === undefined ? [] : blocksOf(state.content), meta }
}

test('ASR-704: a message is what the naive model says, after any sequence of updates', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      assert.equal(told(fold(steps) as MessageState), model(steps))
    }),
    settings(500),
  )
})

test('ASR-704: any split of a text into chunks gives the same content', () => {
  const pieces = fc.array(fc.string({ unit: 'binary', maxLength: 5 }), { minLength: 1, maxLength: 10 })
  fc.assert(
    fc.property(pieces, (texts) => {
      const steps = texts.map((text) => ({ chunk: true, content: { type: 'text', text }, meta: undefined }))
      const one = [{ chunk: true, content: { type: 'text', text: texts.join('') }, meta: undefined }]
      assert.equal(fold(steps)?.content, fold(one)?.content)
    }),
    settings(100),
  )
})

test('ASR-704: any split of bytes into pieces of base64 gives the same output', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 7 }), { minLength: 1, maxLength: 8 }), (pieces) => {
      let state: TerminalState | undefined
      for (const piece of pieces) {
        const data = Buffer.from(piece).toString('base64')
        state = foldTerminal(state, { sessionUpdate: 'terminal_output_chunk', terminalId: 't', data })
      }
      assert.equal(Buffer.from(outputBytes(state as TerminalState)), Buffer.concat(pieces))
    }),
    settings(100),
  )
})

test('ASR-704: a full update that says what is so already changes nothing', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
      const before = fold(steps) as MessageState
      const { blocks, meta } = told(before)
      const again = foldMessage(before, updateOf({ chunk: false, content: blocks, meta: Object.fromEntries(meta) }))
      assert.equal(told(again as MessageState), { blocks, meta })
    }),
    settings(100),
  )
})

test('ASR-704: folding neither changes an earlier state nor depends on anything but the updates in order', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 8 }), (steps) => {
      const half = fold(steps.slice(0, -1)) as MessageState
      const before = JSON.stringify(told(half))
      const next = foldMessage(half, updateOf(steps.at(-1) as Step)) as MessageState
      assert.is(JSON.stringify(told(half)), before)
      assert.is(JSON.stringify(told(next)), JSON.stringify(told(fold(steps) as MessageState)))
    }),
    settings(100),
  )
})

const CALL_FIELDS = ['name', 'title', 'kind', 'rawInput', 'rawOutput', 'locations'] as const
const patch = fc.record(
  {
    name: fc.option(fc.string({ maxLength: 2 })),
    title: fc.option(fc.string({ maxLength: 2 })),
    kind: fc.option(fc.constantFrom('read', '_x')),
    status: fc.option(fc.constantFrom('pending', 'completed', 'failed')),
    rawInput: fc.jsonValue({ maxDepth: 1 }),
    rawOutput: fc.jsonValue({ maxDepth: 1 }),
    locations: fc.option(fc.array(fc.record({ path: fc.constant('/a') }), { maxLength: 2 })),
  },
  { requiredKeys: [] },
)

test('ASR-704: each field of a call is the last one that was told, and null is none', () => {
  fc.assert(
    fc.property(fc.array(patch, { minLength: 1, maxLength: 8 }), (patches) => {
      let state: ToolCallState | undefined
      for (const one of patches)
        state = foldToolCall(state, { sessionUpdate: 'tool_call_update', toolCallId: 't', ...one })
      for (const field of CALL_FIELDS) {
        const last = patches.findLast((one) => field in one)
        assert.equal(state?.[field], last?.[field] ?? undefined, field)
      }
      const statuses = patches.filter((one) => 'status' in one).map(({ status }) => status)
      const sinceNull = statuses.slice(statuses.lastIndexOf(null) + 1)
      const last = sinceNull.findLast((status) => status !== 'pending') ?? sinceNull.at(-1)
      assert.is(state?.status, last)
    }),
    settings(100),
  )
})

test('ASR-704: content items of a call are joined as the blocks of a message are', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 10 }), (blocks) => {
      let call: ToolCallState | undefined
      let message: MessageState | undefined
      for (const content of blocks) {
        const item = { type: 'content', content }
        call = foldToolCall(call, { sessionUpdate: 'tool_call_content_chunk', toolCallId: 't', content: item })
        message = foldMessage(message, { sessionUpdate: 'agent_message_chunk', messageId: 'm', content })
      }
      const items = itemsOf(call as ToolCallState).map(({ content }) => content)
      assert.equal(items, blocksOf(message?.content as Content))
    }),
    settings(100),
  )
})

test.run()
