/**
 * Streams of records of every type that a replay looks at: branches, revisions, tombstones, shared ids, and now and then
 * a field that holds something else than it should.
 */
import fc from 'fast-check'
import { type AsrRecord, isAsrError, type Stream } from '../../../src/main.js'
import { json } from '../../property/arbitraries.js'
import { header } from '../../support/records.js'
import { openMemory } from '../../support/stores.js'

/** A record whose references are numbers yet. */
export interface Draft {
  fields: AsrRecord
  parent: number | null
  supersedes: number | null
  head: string | null
}

const junk = json(1)

/** Mostly what belongs there; now and then anything; now and then nothing. */
function field(good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: good },
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: junk },
  )
}

const words = fc.string({ maxLength: 6 })
const id = fc.constantFrom('i1', 'i2', 'i3')
const status = fc.constantFrom(
  'completed',
  'failed',
  'denied',
  'cancelled',
  'interrupted',
  'unknown',
  'partial',
  '_acme',
)
const path = fc.record({ root: fc.constantFrom('root0', 'root1', null), path: fc.constantFrom('a.ts', '', '/etc/x') })
const meta = fc.dictionary(fc.constantFrom('k', 'l'), fc.nat(3))

const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text: words }),
  fc.record({ type: fc.constant('text'), text: field(words), annotations: field(junk), _meta: field(meta) }),
  fc.record({ type: fc.constant('reasoning'), text: field(words), summary: field(fc.array(words, { maxLength: 2 })) }),
  fc.record({ type: fc.constant('refusal'), refusal: field(words) }),
  fc.record({ type: fc.constant('image'), data: field(fc.base64String()), mimeType: field(words), uri: junk }),
  fc.record({
    type: fc.constant('resource_link'),
    name: field(words),
    uri: field(fc.webUrl()),
    title: field(words),
    size: field(fc.nat()),
    icons: field(fc.array(fc.record({ src: field(fc.webUrl()), theme: field(fc.constant('dark')) }))),
  }),
  fc.record({
    type: fc.constant('resource'),
    resource: field(fc.record({ uri: fc.webUrl(), text: field(words), blob: field(words) })),
  }),
  fc.record({ type: fc.constantFrom('_acme/x', 'unheard') }),
  junk,
)
const content = fc.array(part, { maxLength: 3 })

const change = fc.record({
  op: field(fc.constantFrom('add', 'delete', 'modify', 'move', 'copy', '_acme')),
  path: field(path),
  oldPath: field(path),
  fileType: field(fc.constant('text')),
  mimeType: field(words),
})

const BY_TYPE: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  message: {
    messageId: id,
    role: fc.constantFrom('user', 'assistant', 'assistant', 'assistant', 'system'),
    origin: fc.constantFrom(undefined, undefined, 'prompt', 'notice', 'inter_session'),
    audience: fc.constantFrom(undefined, undefined, 'user'),
    content,
  },
  tool_call: {
    callId: id,
    name: words,
    title: words,
    kind: fc.constantFrom('read', '_acme'),
    input: junk,
    locations: fc.array(fc.tuple(path, field(fc.nat())).map(([ref, line]) => ({ ...ref, line }))),
  },
  tool_result: { callId: id, status, displayContent: content, content, raw: junk, exec: fc.record({ terminalId: id }) },
  file_change: {
    cause: fc.record({ callId: id }),
    changes: fc.array(change, { maxLength: 2 }),
    patch: fc.record({ format: field(fc.constant('git_patch')), text: field(words) }),
  },
  plan: {
    planId: id,
    planType: fc.constantFrom('items', 'markdown', 'file', '_acme'),
    entries: fc.array(fc.record({ content: field(words), priority: field(words), status: field(words) })),
    content: words,
    uri: fc.webUrl(),
  },
  terminal: {
    terminalId: id,
    command: words,
    cwd: path,
    status: fc.constantFrom('partial', 'exited'),
    exitCode: fc.integer({ min: -1, max: 300 }),
    signal: words,
    output: fc.record({ blob: field(fc.base64String()) }),
  },
  compaction: { compactionId: id, status, summary: content, error: words },
  state: {
    state: fc.constantFrom('running', 'idle', 'requires_action', 'unknown', '_acme', 'ended', 'resumed'),
    stopReason: fc.constantFrom('end_turn', 'error', '_acme'),
    error: fc.record({ code: field(fc.integer()), message: field(words), data: junk }),
  },
  session_info: { title: fc.option(words) },
  usage_summary: {
    scope: fc.constant('session'),
    cumulative: fc.constant(true),
    contextWindow: fc.record({ used: field(fc.nat()), size: field(fc.nat()) }),
    cost: fc.record({ amount: field(fc.double()), currency: field(fc.constantFrom('EUR', 'credits')) }),
  },
  tombstone: {},
  permission: { requestId: id },
  'com.example/thing': {},
}

const draft: fc.Arbitrary<Draft> = fc
  .constantFrom(
    ...Object.keys(BY_TYPE),
    'message',
    'message',
    'message',
    'message',
    'tool_call',
    'tool_call',
    'tool_result',
    'tool_result',
    'file_change',
  )
  .chain((type) => {
    const fields = Object.fromEntries(Object.entries(BY_TYPE[type]).map(([name, good]) => [name, field(good)]))
    return fc.record({
      fields: fc
        .record({ ...fields, _meta: field(meta) })
        .map((all) => ({ type, ...withoutUndefined(all) }) as AsrRecord),
      parent: fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(20) }),
      supersedes: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(20) }),
      head: fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constant('side') }),
    })
  })

export const drafts = fc.array(draft, { minLength: 1, maxLength: 30, size: 'max' })

function withoutUndefined(value: object): object {
  return JSON.parse(JSON.stringify(value))
}

/** A stream of the records that the store takes. */
export async function streamOfDrafts(list: readonly Draft[]): Promise<Stream> {
  const { store } = await openMemory()
  const roots = [
    { id: 'root0', path: '/home/u/proj' },
    { id: 'root1', path: null },
  ]
  const stream = await store.createStream(header('s', { workspace: { roots } }))
  const all: AsrRecord[] = []
  for (const { fields, parent, supersedes, head } of list) {
    const record: AsrRecord = { ...fields, id: `x${all.length}` }
    const alike = all.filter(({ type }) => type === record.type)
    if (parent !== null && all.length > 0) record.parentId = all[parent % all.length].id
    if (head !== null) record.head = head
    if (record.type === 'tombstone') record.targetId = `x${(supersedes ?? parent ?? 0) % Math.max(1, all.length)}`
    else if (supersedes !== null && alike.length > 0) revise(record, alike[supersedes % alike.length])
    try {
      await stream.append(record)
      all.push(record)
    } catch (error) {
      if (!isAsrError(error)) throw error
    }
  }
  return stream
}

const ID_FIELDS = ['messageId', 'callId', 'planId', 'terminalId', 'compactionId', 'requestId']

/** A revision has the id of what it revises. */
function revise(record: AsrRecord, target: AsrRecord): void {
  record.supersedes = target.id
  for (const name of ID_FIELDS) {
    if (typeof target[name] === 'string') record[name] = target[name]
    else delete record[name]
  }
}
