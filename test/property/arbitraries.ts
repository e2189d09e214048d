/**
 * Random commands for a stream. A command is plain data: what it refers to are numbers and words, which `records.ts` turns
 * into ids of the stream as it then is, so that a shrunk run still means something.
 */
import fc from 'fast-check'
import type { Json } from './json.js'

/** Which record a field points at. */
export type Ref =
  /** of the records that are not head records */
  | { kind: 'nth'; n: number }
  | { kind: 'last' }
  | { kind: 'nthHead'; n: number }
  | { kind: 'nthOfType'; n: number }
  | { kind: 'named'; id: string }
  | { kind: 'self' }
  | { kind: 'ghost' }

export type Through = Ref | { kind: 'absent' } | { kind: 'json'; value: Json } | { kind: 'onPath'; n: number }

export interface Draft {
  type: string
  /** index into the names that its type's entity id is drawn from; null: none; a number: no string */
  entity: string | number | null
  id: string | null
  seq: 'absent' | 'next' | 'gap' | 'fall' | 'same'
  parent: Ref | { kind: 'implied' } | { kind: 'root' }
  supersedes: Ref | { kind: 'absent' } | { kind: 'fit'; n: number }
  head: string | null
  target: Ref
  /** of a head record */
  name: Json
  drop: boolean
  through: Through
  status: Json | undefined
  flags: 'none' | 'notice' | 'user' | 'prompt'
  payload: Json | undefined
}

export interface Repeat {
  n: number
  how: 'equal' | 'withoutSeq' | 'withoutHead' | 'otherField' | 'otherHead' | 'otherParent'
}

/** Commands that do not wait for each other when they are given together. */
export type Write =
  | { kind: 'append'; batch: (Draft | Repeat)[]; expected: 'none' | 'right' | 'old' | 'ahead'; head: string | null }
  | { kind: 'setHead'; name: string; target: Ref | null }
  | { kind: 'reviseHeader'; patch: { [key: string]: Json } }

export type Command =
  | Write
  | { kind: 'together'; writes: Write[] }
  | { kind: 'malformed'; at: number; batch: Draft[]; how: number }
  | { kind: 'reopen' }
  | { kind: 'rebuildIndex' }
  | { kind: 'copyElsewhere'; stay: boolean }

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })

/** Names that maps, keys and codecs stumble over, beside plain ones. */
const HEAD_NAMES = ['primary', 'side', 'x', '', '__proto__', 'a\ud800', 'a\ud801', 'a\ufffd', 'Primary']
const ENTITY_IDS = ['e1', 'e2', 'e3', '', 'r1', 'r2', 'r3', 'constructor', 'e\udc00', 'e\udc01', 'e\ufffd', 'é\u0000']
const RECORD_IDS = [
  ...['r1', 'r2', 'r3', 'r4', 'r5', 'r7', 'r9', 'r12', 'r3.1', 'r3.2', 'r5.1', 'r05', 'r', 'R1', '', 'e1', 'e2'],
  ...['__proto__', 'constructor', 'toString', '😀', 'é', 'e\u0301', 'a/b', 'a\u0000b', '\u2028', 'primary'],
  '0192f0c1-7a7e-7cc3-98c4-dc0c0c07398f',
]
const TYPES: [number, string][] = [
  [8, 'message'],
  [5, 'tool_call'],
  [5, 'tool_result'],
  [4, 'compaction'],
  [3, 'plan'],
  [3, 'tombstone'],
  [3, 'head'],
  [2, 'state'],
  [1, 'instructions'],
  [1, 'permission'],
  [1, 'input_request'],
  [1, 'terminal'],
  [1, 'subagent'],
  [1, 'session_info'],
  [1, 'com.example.agent/some/thing_1'],
  [1, 'no-known-type'],
  [1, '__proto__'],
  [1, ''],
]

export const headName = fc.constantFrom(...HEAD_NAMES)
export const entityIds = ENTITY_IDS
export const recordIds = RECORD_IDS

/** Any JSON value, hostile keys, -0, and lone surrogates included. */
export const json = (maxDepth = 3): fc.Arbitrary<Json> => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.array(fc.nat(0xffff), { maxLength: 4 }).map((codes) => String.fromCharCode(...codes)),
    fc.constantFrom(
      '',
      '\ud83d',
      '\ude00',
      '\ud83d\ude00',
      '\u2028',
      '\u0000',
      '\ufeff',
      '9007199254740993',
      '\\ud800',
    ),
  )
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(-0, 0, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53, 2 ** 64, -(2 ** 63), 4294967295.5),
  )
  const key = fc.oneof(
    text,
    fc.constantFrom(
      '__proto__',
      'constructor',
      'toJSON',
      'toString',
      '',
      '0',
      '10',
      '2',
      'length',
      'hasOwnProperty',
      'then',
    ),
  )
  return fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth, depthSize: 'small' },
      fc.oneof(fc.constant(null), fc.boolean(), number, text),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((entries): Json => Object.fromEntries(entries)),
    ),
  })).value
}

const nat = fc.nat(60)
const nth = fc.record({ kind: fc.constant('nth' as const), n: nat })
const last = fc.constant({ kind: 'last' as const })
const stray: fc.Arbitrary<Ref> = fc.oneof(
  fc.record({ kind: fc.constant('nthHead' as const), n: nat }),
  fc.record({ kind: fc.constant('named' as const), id: fc.constantFrom(...RECORD_IDS) }),
  fc.constant({ kind: 'self' as const }),
  fc.constant({ kind: 'ghost' as const }),
)
const ref: fc.Arbitrary<Ref> = fc.oneof(often(20, nth), often(6, last), often(1, stray))

const through: fc.Arbitrary<Through> = fc.oneof(
  often(4, fc.record({ kind: fc.constant('onPath' as const), n: nat })),
  often(2, fc.constant({ kind: 'absent' as const })),
  often(2, ref),
  often(
    1,
    fc.record({ kind: fc.constant('json' as const), value: fc.constantFrom<Json>(null, 7, '', [], { a: 1 }, false) }),
  ),
)

const FLAGS = ['none', 'none', 'none', 'notice', 'user', 'prompt'] as const
const STATUS: (Json | undefined)[] = [undefined, undefined, 'completed', 'completed', null, 'failed', 'in_progress', 5]

export const draft: fc.Arbitrary<Draft> = fc.record({
  type: fc.oneof(...TYPES.map(([weight, type]) => often(weight, fc.constant(type)))),
  entity: fc.oneof(
    often(5, fc.constantFrom('e1', 'e2')),
    often(3, fc.constantFrom(...ENTITY_IDS)),
    often(3, fc.constant(null)),
    often(1, fc.constant(5)),
  ),
  id: fc.oneof(often(12, fc.constant(null)), often(2, fc.constantFrom(...RECORD_IDS)), often(1, fc.uuid())),
  seq: fc.constantFrom<Draft['seq'][]>('absent', 'absent', 'absent', 'absent', 'next', 'gap', 'fall', 'same'),
  parent: fc.oneof(
    often(12, fc.constant({ kind: 'implied' as const })),
    often(6, ref),
    often(1, fc.constant({ kind: 'root' as const })),
  ),
  supersedes: fc.oneof(
    often(10, fc.constant({ kind: 'absent' as const })),
    often(6, fc.record({ kind: fc.constant('fit' as const), n: nat })),
    often(1, fc.record({ kind: fc.constant('nthOfType' as const), n: nat })),
    often(1, ref),
  ),
  head: fc.oneof(often(5, fc.constant(null)), often(1, headName)),
  target: ref,
  name: fc.oneof(often(12, headName), often(1, fc.constantFrom<Json>(5, null, ['x']))),
  drop: fc.nat(3).map((n) => n === 0),
  through,
  status: fc.constantFrom(...STATUS),
  flags: fc.constantFrom(...FLAGS),
  payload: fc.option(json(2), { nil: undefined, freq: 3 }),
})

const REPEATS = [
  'equal',
  'equal',
  'equal',
  'withoutSeq',
  'withoutHead',
  'otherField',
  'otherHead',
  'otherParent',
] as const

export const repeat: fc.Arbitrary<Repeat> = fc.record({
  n: nat,
  how: fc.constantFrom(...REPEATS),
})

const EXPECTED = [...Array(9).fill('none'), ...Array(7).fill('right'), 'old', 'ahead'] as (
  | 'none'
  | 'right'
  | 'old'
  | 'ahead'
)[]

const append = (length: number) =>
  fc.record({
    kind: fc.constant('append' as const),
    batch: fc.array(fc.oneof(often(12, draft), often(1, repeat)), {
      minLength: length === 1 ? 1 : 0,
      maxLength: length,
    }),
    expected: fc.constantFrom(...EXPECTED),
    head: fc.oneof(often(6, fc.constant(null)), often(1, headName)),
  })

export const patch = fc
  .array(
    fc.tuple(
      fc.constantFrom('agent', 'workspace', 'extra', '__proto__', '', 'type', 'asr', 'sessionId'),
      fc.oneof(fc.constantFrom<Json>(null, 'header', '1', { name: 'a' }, { name: 'b' }, 'other'), json(1)),
    ),
    { maxLength: 3 },
  )
  .map((entries) => Object.fromEntries(entries))

/** Drafts of few types and ids, so that they meet: calls with their results, plans with plans. */
const narrow = (types: string[], faulty: boolean): fc.Arbitrary<Draft> =>
  fc.record({
    ...{ type: fc.constantFrom(...types), entity: fc.constantFrom('e1', 'e1', 'e2', null), id: fc.constant(null) },
    seq: fc.constant('absent' as const),
    parent: faulty
      ? fc.constantFrom({ kind: 'implied' as const }, { kind: 'ghost' as const })
      : fc.constant({ kind: 'implied' as const }),
    supersedes: fc.constant({ kind: 'absent' as const }),
    ...{ head: fc.constant(null), target: fc.constant({ kind: 'ghost' as const }), name: fc.constant('x') },
    ...{ drop: fc.constant(false), through: fc.constant({ kind: 'absent' as const }), status: fc.constant(undefined) },
    ...{ flags: fc.constant('none' as const), payload: fc.constant(undefined) },
  })

const narrowAppend = (types: string[], length: number, faulty: boolean): fc.Arbitrary<Write> =>
  fc.record({
    kind: fc.constant('append' as const),
    batch: fc.array(narrow(types, faulty), { minLength: 1, maxLength: length }),
    expected: fc.constant('none' as const),
    head: fc.constant(null),
  })

const write: fc.Arbitrary<Write> = fc.oneof(
  often(26, append(1)),
  often(10, append(5)),
  often(4, narrowAppend(['tool_call', 'tool_call', 'tool_result'], 6, false)),
  often(3, fc.record({ kind: fc.constant('setHead' as const), name: headName, target: fc.option(ref, { nil: null }) })),
  often(2, fc.record({ kind: fc.constant('reviseHeader' as const), patch })),
)

const together = (one: fc.Arbitrary<Write>, length: number): fc.Arbitrary<Command> =>
  fc.record({ kind: fc.constant('together' as const), writes: fc.array(one, { minLength: 2, maxLength: length }) })

export const command: fc.Arbitrary<Command> = fc.oneof(
  often(40, write),
  often(3, together(write, 6)),
  often(1, together(narrowAppend(['plan', 'plan', 'message'], 2, true), 4)),
  often(
    1,
    fc.record({
      kind: fc.constant('malformed' as const),
      at: nat,
      batch: fc.array(draft, { maxLength: 2 }),
      how: nat,
    }),
  ),
  often(2, fc.constant({ kind: 'reopen' as const })),
  often(1, fc.constant({ kind: 'rebuildIndex' as const })),
  often(1, fc.record({ kind: fc.constant('copyElsewhere' as const), stay: fc.boolean() })),
)
