/**
 * Calls, results and changes in any order and at any distance: in the end a client holds of each call what belongs to it.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { foldToolCall, itemsOf, type ToolCallState } from '../../../src/acp/fold/tool-call.js'
import { replay } from '../../../src/acp/replay/main.js'
import type { AsrRecord } from '../../../src/main.js'
import { settings } from '../../property/settings.js'
import { byName, streamWith } from './support.js'

type Step = { kind: 'call' | 'result' | 'partial' | 'change' | 'moved' | 'message'; id: number }

const VENDOR = '_org.agent-session.acp'

/** Few ids, so that they meet again, or many, so that what belongs together lies apart. */
const steps = fc.constantFrom(2, 12, 150).chain((ids) =>
  fc.array(
    fc.record<Step>({
      kind: fc.constantFrom('call', 'call', 'call', 'result', 'result', 'partial', 'change', 'moved', 'message'),
      id: fc.nat(ids - 1),
    }),
    { minLength: 1, maxLength: 500, size: 'max' },
  ),
)

function recordsOf({ kind, id }: Step, n: number): AsrRecord[] {
  const callId = `c${id}`
  const content = [{ type: 'text', text: `x${n}` }]
  const change = {
    type: 'file_change',
    id: `x${n}`,
    cause: { callId },
    changes: [{ op: 'add', path: { root: null, path: `/${n}` } }],
  }
  switch (kind) {
    case 'call':
      return [{ type: 'tool_call', id: `x${n}`, callId, title: `x${n}` }]
    case 'result': {
      const status = n % 2 ? 'completed' : 'failed'
      return [{ type: 'tool_result', id: `x${n}`, callId, status, displayContent: content }]
    }
    case 'partial':
      return [{ type: 'tool_result', id: `x${n}`, callId, status: 'partial', displayContent: content }]
    case 'change':
      return [change]
    case 'moved': {
      // A revision says that another call than at first made the change; at times the first is on another branch.
      const first = { ...change, cause: { callId: `c${id + 1}` }, ...(n % 2 && { head: 'aside' }) }
      return [first, { ...change, id: `y${n}`, supersedes: `x${n}` }]
    }
    default:
      return [{ type: 'message', id: `x${n}`, role: 'user', content }]
  }
}

interface Call {
  title: string
  result?: string
  changes: string[]
}

/** What the rules come to, with all of the stream at hand. */
interface Expected {
  /** of each id the last call */
  calls: Map<string, Call>
  unpaired: number
  homeless: number
  shared: number
}

function expected(list: readonly Step[]): Expected {
  const all: Expected = { calls: new Map(), unpaired: 0, homeless: 0, shared: 0 }
  const open = new Map<string, Call[]>()
  list.forEach(({ kind, id }, n) => {
    const callId = `c${id}`
    if (kind === 'call') {
      if (all.calls.has(callId)) all.shared++
      const call: Call = { title: `x${n}`, changes: [] }
      all.calls.set(callId, call)
      open.set(callId, [...(open.get(callId) ?? []), call])
    } else if (kind === 'result' || kind === 'partial') {
      const [first] = open.get(callId) ?? []
      if (first === undefined) all.unpaired++
      else first.result = `x${n}`
      if (kind === 'result') open.get(callId)?.shift()
    } else if (kind === 'change' || kind === 'moved') {
      const call = all.calls.get(callId)
      if (call === undefined) all.homeless++
      else call.changes.push(`/${n}`)
    }
  })
  return all
}

function textIn(state: ToolCallState): string | undefined {
  const [shown] = itemsOf(state).filter(({ type }) => type === 'content') as { content: { text: string } }[]
  return shown?.content.text
}

function pathsIn(state: ToolCallState): string[] {
  const diffs = itemsOf(state).filter(({ type }) => type === 'diff') as unknown as { changes: { path: string }[] }[]
  return diffs.flatMap(({ changes }) => changes.map(({ path }) => path))
}

test('CORE-25, ASR-725: whatever the order and the distance, a client ends up with what belongs to each call', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const rules = expected(list)
      const replayed = replay(await streamWith(list.flatMap(recordsOf)))
      const held = new Map<string, ToolCallState>()
      const order: string[] = []
      for await (const { update } of replayed) {
        if (update.sessionUpdate !== 'tool_call_update') continue
        const id = String(update.toolCallId)
        if (!held.has(id)) order.push(id)
        held.set(id, foldToolCall(held.get(id), update) as ToolCallState)
      }
      assert.equal(order, [...rules.calls.keys()], 'calls come in the order of their first')
      for (const [id, call] of rules.calls) {
        const state = held.get(id) as ToolCallState
        assert.equal([state.title, textIn(state), pathsIn(state)], [call.title, call.result, call.changes], id)
        const isClosed = call.result !== undefined && list[Number(call.result.slice(1))].kind === 'result'
        assert.is(state.status !== undefined, isClosed, id)
      }
      const losses = byName(await replayed.losses())
      const told = [losses[`${VENDOR}/unpaired_result`], losses.file_change, losses[`${VENDOR}/shared_id`]]
      assert.equal(
        told.map((count) => count ?? 0),
        [rules.unpaired, rules.homeless, rules.shared],
      )
    }),
    settings(40),
  )
})

test.run()
