/**
 * Random JSONL files, sound and hostile, as bytes.
 */
import fc from 'fast-check'
import { type Draft, draft, patch, type Repeat, recordIds, repeat } from './arbitraries.js'
import { has, type Json, plain, type Rec } from './json.js'
import { ModelStream, wrongKind } from './model.js'
import { recordOf } from './records.js'

export const SESSION = 'import/é😀'
const HEADER: Rec = { type: 'header', asr: '1', sessionId: SESSION, agent: { name: 'a' } }

type Item =
  | { kind: 'record'; item: Draft | Repeat; forward: string | null; dress: string | null; spaced: boolean }
  | { kind: 'refused'; text: string }
  | { kind: 'bytes'; bytes: number[] }
  | { kind: 'header'; patch: { [key: string]: Json }; dress: string | null; session: string }
  | { kind: 'blank'; text: string }

export interface FileDraft {
  mark: boolean
  before: Item[]
  headed: boolean
  /** a field of the header as it is written; null: none */
  headerDress: string | null
  items: Item[]
  crlf: boolean[]
  /** what stands behind the last LF; null: the last LF is missing */
  tail: string | null
}

const REFUSED = [
  ...[
    'broken',
    '{"type":"message"',
    '{"type":"x",}',
    "{'type':'x'}",
    '{"type":"x"}{"type":"x"}',
    '\ufeff\ufeff{"type":"x"}',
    '\u0000',
  ],
  ...[
    '{"type":"x","a":1e400}',
    '{"type":"x","a":[-1e999]}',
    '{"type":"x","a":01}',
    '{"type":"x","a":NaN}',
    '{"type":"x\u0001"}',
  ],
  ...['[1]', '5', 'null', '"text"', 'true', '[]', '[{"type":"x"}]'],
  ...[
    '{}',
    '{"type":5}',
    '{"id":"a"}',
    '{"type":null}',
    '{"type":"x","seq":-1}',
    '{"type":"x","seq":1.5}',
    '{"type":"x","seq":"1"}',
  ],
  ...[
    '{"type":"x","seq":9007199254740993}',
    '{"type":"x","seq":null}',
    '{"type":"x","id":5}',
    '{"type":"x","id":null}',
  ],
  ...[
    '{"type":"x","id":"a\\ud800"}',
    '{"type":"x","parentId":0}',
    '{"type":"x","supersedes":null}',
    '{"type":"x","head":[]}',
  ],
  ...[
    '{"type":"head","name":"x"}',
    '{"type":"head","name":"x","recordId":1}',
    '{"type":"tombstone"}',
    '{"type":"tombstone","targetId":null}',
  ],
]

/** Not UTF-8: a stray byte, a cut character, an overlong form, half a surrogate pair, beyond Unicode. */
const NOT_UTF8 = [[0xff], [0xe2, 0x82], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80]]

/** Field values that only their text says exactly, or nearly so. */
const DRESS = [
  ...[
    '1.0',
    '1E2',
    '-0',
    '0.10',
    '[ 1 ]',
    '"\\u0061"',
    '"\\/"',
    '"\\uD83D"',
    '"\\ud83d"',
    '"\\ud83d\\ude00"',
    '"\u2028"',
  ],
  ...[
    '9007199254740993',
    '-12345678901234567890',
    '0.30000000000000001',
    '1e-400',
    '123456789012345680000',
    '1e308',
    '5e-324',
  ],
  ...[
    '{"10":1,"2":2}',
    '{"2":1,"10":2}',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '{"__proto__":1,"__proto__":[]}',
    '{"":0}',
  ],
  ...[
    '"9007199254740993"',
    '"\\"9007199254740993"',
    '"\\\\", "b": 9007199254740993',
    '[]',
    'null',
    '{"a":{"b":[{},[[]]]}}',
  ],
]

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const refused = fc.record({ kind: fc.constant('refused' as const), text: fc.constantFrom(...REFUSED) })
const badBytes = fc.record({ kind: fc.constant('bytes' as const), bytes: fc.constantFrom(...NOT_UTF8) })
const blank = fc.record({ kind: fc.constant('blank' as const), text: fc.constantFrom('', ' ', '\t ', '\r') })
const record = fc.record({
  kind: fc.constant('record' as const),
  item: fc.oneof(often(8, draft), often(1, repeat)),
  forward: fc.oneof(often(12, fc.constant(null)), often(1, fc.constantFrom(...recordIds))),
  dress: fc.option(fc.constantFrom(...DRESS), { nil: null, freq: 3 }),
  spaced: fc.nat(9).map((n) => n === 0),
})
export const headerDress = fc.option(fc.constantFrom(...DRESS), { nil: null, freq: 2 })
const header = fc.record({
  kind: fc.constant('header' as const),
  patch,
  dress: headerDress,
  session: fc.oneof(often(12, fc.constant(SESSION)), often(1, fc.constant('another'))),
})
const item: fc.Arbitrary<Item> = fc.oneof(
  often(24, record),
  often(3, refused),
  often(1, badBytes),
  often(2, header),
  often(1, blank),
)

const encoder = new TextEncoder()

export const fileDraft = (length: number): fc.Arbitrary<FileDraft> =>
  fc.record({
    mark: fc.nat(4).map((n) => n === 0),
    before: fc.array(fc.oneof(often(3, blank), often(1, refused), often(1, badBytes)), { maxLength: 2, size: 'small' }),
    headed: fc.nat(19).map((n) => n !== 0),
    headerDress,
    items: fc.array(item, { maxLength: length, size: 'max' }),
    crlf: fc.oneof(
      fc.constant<boolean[]>([false]),
      fc.constant<boolean[]>([true]),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
    ),
    tail: fc.oneof(
      often(6, fc.constant('')),
      often(2, fc.constant(null)),
      often(2, fc.constantFrom('{"type":"mess', '{"', '{"type":"x"}', '12', ' ')),
    ),
  })

function textOf(stream: ModelStream, { item, forward, dress, spaced }: Item & { kind: 'record' }): string {
  const record = recordOf(stream, item)
  if (forward !== null && !('how' in item)) record.parentId = forward
  if (wrongKind(record) === null && !(has(record, 'id') && stream.byId(record.id as string) !== undefined))
    stream.enter(stream.complete(record))
  const text = plain(record)
  const line = dressed(text, 'how' in item ? null : dress)
  return spaced ? ` ${line} ` : line
}

const dressed = (text: string, dress: string | null) =>
  dress === null ? text : `${text.slice(0, -1)},"dress":${dress}}`

/** The lines of a file, without their ends: each the bytes of one. */
export function linesOf(file: FileDraft): Uint8Array[] {
  const stream = new ModelStream(HEADER)
  const header = dressed(plain(HEADER), file.headerDress)
  const items: (Item | string)[] = [...file.before, ...(file.headed ? [header] : []), ...file.items]
  return items.map((item) => {
    if (typeof item === 'string') return encoder.encode(item)
    switch (item.kind) {
      case 'record':
        return encoder.encode(textOf(stream, item))
      case 'bytes':
        return Uint8Array.from([...encoder.encode('{"type":"x","a":"'), ...item.bytes, ...encoder.encode('"}')])
      case 'header':
        return encoder.encode(
          dressed(plain({ ...item.patch, type: 'header', asr: '1', sessionId: item.session }), item.dress),
        )
      default:
        return encoder.encode(item.text)
    }
  })
}

export function fileOf(file: FileDraft, lines = linesOf(file)): Uint8Array {
  const bytes: number[] = []
  lines.forEach((line, i) => {
    if (file.mark && i % 2 === 0) bytes.push(0xef, 0xbb, 0xbf)
    bytes.push(...line)
    const last = i === lines.length - 1 && file.tail === null
    if (!last) bytes.push(...(file.crlf[i % file.crlf.length] ? [13, 10] : [10]))
  })
  if (file.tail !== null) bytes.push(...encoder.encode(file.tail))
  return Uint8Array.from(bytes)
}

/** A file of what the stream holds, some of what import forgives left out, and then some new records. */
export function rewritten(stream: ModelStream, dice: number, added: readonly Draft[]): Uint8Array {
  const lines = stream.rows.map((row, i) => {
    const record = { ...row.record }
    for (const [bit, key] of ['seq', 'head', 'id'].entries()) if ((dice >> ((i * 3 + bit) % 24)) & 1) delete record[key]
    return plain(record)
  })
  const trial = stream.copy()
  for (const [i, draft] of added.entries()) {
    const item = {
      kind: 'record',
      item: draft,
      forward: null,
      dress: i % 2 === 0 ? '1.0' : null,
      spaced: false,
    } as const
    lines.push(textOf(trial, item))
  }
  return encoder.encode([plain(stream.header), ...lines].map((line) => `${line}\n`).join(''))
}

/** The same bytes in pieces, cut anywhere; as text where the bytes are text and it is asked for. */
export function chunked(bytes: Uint8Array, cuts: readonly number[], asText: boolean): (Uint8Array | string)[] {
  let whole: Uint8Array | string = bytes
  try {
    if (asText) whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    whole = bytes
  }
  const { length } = whole
  const places = [0, ...cuts.map((cut) => cut % (length + 1)).toSorted((a, b) => a - b), length]
  return places.slice(1).map((to, i) => whole.slice(places[i], to))
}
