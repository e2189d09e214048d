/**
 * Streams that hold what ACP can carry, and what it can not: drafts of records with a body by their type.
 */
import fc from 'fast-check'
import { type Draft, draft } from './arbitraries.js'
import type { Json, Rec } from './json.js'

export interface Step {
  draft: Draft
  /** fields of the type, put over those of the draft */
  body: Rec
}

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const words = fc.constantFrom('', 'a', 'b c', '\ud83d\ude00', '\ud800', 'line\nline', '{"x":1}')
const some = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })

const textPart = fc.record({ type: fc.constant('text'), text: words })

/** Parts that are ACP's content blocks. */
const block: fc.Arbitrary<Json> = fc.oneof(
  often(5, textPart),
  often(1, fc.constant<Json>({ type: 'text', text: 'noted', annotations: { priority: 0.5 }, _meta: { k: [1] } })),
  often(1, fc.constant<Json>({ type: 'image', data: 'AA==', mimeType: 'image/png' })),
  often(1, fc.constant<Json>({ type: 'resource_link', name: 'n', uri: 'file:///a' })),
  often(1, fc.constant<Json>({ type: 'resource', resource: { uri: 'file:///a', text: 'r' } })),
  often(1, fc.constant<Json>({ type: '_acme/card', any: { x: null } })),
)

/** Parts that are none. */
const noBlock = fc.constantFrom<Json>(
  { type: 'text' },
  { type: 'text', text: 7 },
  { type: 'weird', text: 'x' },
  { text: 'typeless' },
  { type: 'image', data: 'AA==' },
  5,
  null,
)

const reasoning: fc.Arbitrary<Json> = fc.oneof(
  often(3, fc.record({ type: fc.constant('reasoning'), text: words })),
  often(1, fc.constant<Json>({ type: 'reasoning', summary: ['s1', 's2'] })),
  often(1, fc.constant<Json>({ type: 'reasoning', summary: [{ type: 'summary_text', text: 's3' }], opaque: 'zzz' })),
  often(1, fc.constant<Json>({ type: 'reasoning', opaque: 'zzz', signature: 'q' })),
)

const refusal = fc.constant({ type: 'refusal', refusal: 'no' })

const content = (maxLength: number): fc.Arbitrary<Json> =>
  fc.array(fc.oneof(often(8, block), often(1, noBlock)), { maxLength })

const messageContent: fc.Arbitrary<Json> = fc.oneof(
  often(6, content(3)),
  often(3, fc.array(reasoning, { minLength: 1, maxLength: 3 })),
  often(
    4,
    fc.array(fc.oneof(often(3, block), often(3, reasoning), often(1, refusal), often(1, noBlock)), { maxLength: 4 }),
  ),
  often(1, fc.constant('plain text')),
)

const path = fc.record({
  root: fc.constantFrom('root0', 'root0', 'root1', null, 'redacted', 'nowhere'),
  path: fc.constantFrom('a.ts', 'src/b.ts', '/abs/c.ts', ''),
})

const change: fc.Arbitrary<Rec> = fc
  .tuple(
    fc.constantFrom('add', 'modify', 'delete', 'move', 'copy'),
    path,
    path,
    fc.record({ fileType: fc.constant('text'), mimeType: fc.constant('text/plain') }, { requiredKeys: [] }),
  )
  .map(([op, to, from, more]) => ({
    op,
    path: to,
    ...(op === 'move' || op === 'copy' ? { oldPath: from } : {}),
    ...more,
  }))

const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>

/** What `some` left out is no field. */
function given(fields: { [key: string]: Json | undefined }): Rec {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

const record = (fields: { [key: string]: fc.Arbitrary<Json | undefined> }): fc.Arbitrary<Rec> =>
  fc.record(fields).map(given)

const STATUSES = [
  ...['completed', 'completed', 'completed', 'failed', 'denied', 'cancelled', 'interrupted', 'unknown', 'partial'],
  ...['_acme/queued', 'paused'],
]

const BODIES: { [type: string]: [number, fc.Arbitrary<Rec>] } = {
  message: [
    12,
    record({
      role: fc.constantFrom('user', 'user', 'assistant', 'assistant', 'assistant', 'system'),
      content: some(messageContent),
      origin: fc.constantFrom(undefined, undefined, undefined, undefined, 'prompt', 'inter_session', 'notice'),
      audience: fc.constantFrom(...Array(9).fill(undefined), 'user'),
      _meta: some(fc.constantFrom<Json>({ traceparent: 't' }, {})),
    }),
  ],
  tool_call: [
    8,
    record({
      name: some(words),
      title: some(words),
      kind: some(fc.constantFrom('read', 'edit', '_acme')),
      input: some(json),
      locations: some(
        fc.array(
          fc.tuple(path, some(fc.nat(9))).map(([at, line]) => given({ ...at, line })),
          { maxLength: 2 },
        ),
      ),
    }),
  ],
  tool_result: [
    8,
    record({
      status: fc.constantFrom(...STATUSES),
      displayContent: some(content(2)),
      content: some(content(2)),
      raw: some(json),
      exec: some(fc.constantFrom<Json>({ terminalId: 'e1' }, {})),
    }),
  ],
  file_change: [
    6,
    record({
      cause: fc.constantFrom<Json>(...['u0', 'u1', 'u2', 'u3', 'u4', 'e1'].map((callId) => ({ callId })), {}),
      changes: fc.array(change, { maxLength: 2 }),
      patch: some(fc.constant({ format: 'git_patch', text: '@@' })),
      status: fc.constant('applied'),
    }),
  ],
  compaction: [
    2,
    record({
      status: fc.constantFrom(undefined, 'completed', 'completed', 'failed', 'partial', 'cancelled'),
      summary: some(fc.oneof(content(2), fc.constant('so far'))),
    }),
  ],
  plan: [1, record({ planType: fc.constant('items'), entries: fc.constant([]) })],
  terminal: [1, record({ command: some(words), status: fc.constant('exited'), exitCode: some(fc.nat(3)) })],
  state: [2, record({ state: fc.constantFrom('idle', 'running', 'resumed', 'ended', 'requires_action') })],
  usage_summary: [1, fc.constant({ scope: 'session', cumulative: true, contextWindow: { used: 1, size: 2 } } as Rec)],
  session_info: [1, record({ title: fc.oneof(words, fc.constant(null)) })],
  instructions: [1, fc.constant({ text: 'be kind' } as Rec)],
  config_change: [1, fc.constant({ options: [] } as Rec)],
  tombstone: [1, fc.constant({} as Rec)],
  head: [1, fc.constant({} as Rec)],
  'com.example.agent/x': [1, fc.constant({ native: { record: {} } } as Rec)],
}

const TOOLS = ['tool_call', 'tool_result']

/** Ids of their own for most, but few for calls and results, so that they meet; and what the draft has: hostile ones, none. */
const entity = (type: string, own: Draft['entity']): fc.Arbitrary<Draft['entity']> =>
  fc.oneof(
    often(
      8,
      fc.nat(TOOLS.includes(type) ? 5 : 40).map((n) => `u${n}`),
    ),
    often(2, fc.constantFrom('e1', 'e2')),
    often(1, fc.constant(own)),
  )

/** Mostly one branch. */
const parent = (own: Draft['parent']): fc.Arbitrary<Draft['parent']> =>
  fc.oneof(often(6, fc.constant<Draft['parent']>({ kind: 'implied' })), often(1, fc.constant(own)))

export const step: fc.Arbitrary<Step> = fc
  .oneof(
    ...Object.entries(BODIES).map(([type, [weight, body]]) =>
      often(
        weight,
        body.map((fields) => ({ type, fields })),
      ),
    ),
  )
  .chain(({ type, fields }) =>
    draft.chain((one) =>
      fc.tuple(entity(type, one.entity), parent(one.parent)).map(([name, hangs]) => ({
        draft: { ...one, type, entity: name, parent: hangs, status: undefined, flags: 'none', payload: undefined },
        body: fields,
      })),
    ),
  )
