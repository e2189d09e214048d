/**
 * Reads a log from its files, by spec/log-format.md alone. Uses nothing of the engine, so that the two can be compared.
 */
import { createHash } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import xxhash from 'xxhash-wasm'
import { decodeMsgpack, type Value } from './independent-msgpack.js'

const { h64Raw } = await xxhash()
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const HEAD = 52
const [SEGMENT, HEADER, RECORD, DICTIONARY] = [1, 2, 3, 4]
const [END, GAP, ORPHAN] = [1, 2, 4]

export interface LogFile {
  name: string
  bytes: Uint8Array
}

export interface ReadEntry {
  value: { [field: string]: Value }
  /** the line of JSON */
  line: string
  hash: string
}

export interface ReadRecord extends ReadEntry {
  pos: number
  parent: number
  gap: boolean
  orphan: boolean
  /** the last of its append */
  end: boolean
  chain: string
}

export interface ReadLog {
  sessionId: string
  /** the one in force; undefined when none could be read */
  header: ReadEntry | undefined
  records: ReadRecord[]
  shapes: string[][]
  /** how many dictionary frames there are */
  dictionaries: number
  /** how many bodies are deflated, and how many are text */
  deflated: number
  texts: number
  digest: string
  /** lost positions, `lastPos` less than `firstPos` where there are none */
  damage: { firstPos: number; lastPos: number }[]
  /** behind the last whole append */
  tornBytes: number
  /** they are not the beginning of an append: somebody changed them */
  tailWasChanged: boolean
}

interface Frame {
  kind: number
  flags: number
  encoding: number
  shapes: number
  pos: number
  parent: number
  hash: bigint
  chain: bigint
  previous: number
  check: number
  body: Uint8Array
  /** the body is all there, and its check holds */
  whole: boolean
  size: number
}

interface Place {
  file: number
  offset: number
}

function check(bytes: Uint8Array, seed = 0n): number {
  return Number(h64Raw(bytes, seed) & 0xffffffffn)
}

function hashOfTwo(a: bigint, b: bigint): bigint {
  const bytes = new Uint8Array(16)
  const view = new DataView(bytes.buffer)
  view.setBigUint64(0, a)
  view.setBigUint64(8, b)
  return h64Raw(bytes)
}

function hex(hash: bigint): string {
  return hash.toString(16).padStart(16, '0')
}

/** What a log's files say, in any order of the files. @throws when the files are of no log, or of another format */
export function readLog(files: readonly LogFile[]): ReadLog {
  const segments = files.map(({ name, bytes }) => ({ ...parseName(name), bytes })).sort((a, b) => a.number - b.number)
  const walk = new Walk(segments)
  walk.run()
  return decodeAll(walk)
}

interface SegmentFile {
  name: string
  incarnation: string
  number: number
  bytes: Uint8Array
}

function parseName(path: string): Omit<SegmentFile, 'bytes'> {
  const match = /([0-9a-f]{32})-([0-9a-f]{16})-([0-9]{6,})\.log$/.exec(path)
  if (match === null) throw new Error(`${path} is no file of a log`)
  return { name: match[1], incarnation: match[2], number: Number(match[3]) }
}

class Walk {
  readonly taken: Frame[] = []
  readonly damage: { firstPos: number; lastPos: number }[] = []
  tornBytes = 0
  tailWasChanged = false
  private readonly salt: bigint
  private pos = 0
  private chain: bigint | undefined = 0n
  private previous = 0

  constructor(readonly segments: readonly SegmentFile[]) {
    this.salt = BigInt(`0x${segments[0].incarnation.slice(8)}`)
  }

  run(): void {
    let append: Frame[] = []
    let complete: Place = { file: 0, offset: 0 }
    let place: Place | undefined = { file: 0, offset: 0 }
    for (;;) {
      place = this.next(place)
      if (place === undefined) break
      const frame = this.frameAt(place)
      this.pos = frame.pos
      this.chain = frame.chain
      this.previous = frame.check
      append.push(frame)
      place = { file: place.file, offset: place.offset + frame.size }
      if ((frame.flags & END) === 0) continue
      this.taken.push(...append)
      append = []
      complete = place
    }
    this.tornBytes =
      this.segments.slice(complete.file).reduce((sum, { bytes }) => sum + bytes.length, 0) - complete.offset
  }

  /** Where the next frame to take stands: here, in the next segment, or behind damage. */
  private next(place: Place): Place | undefined {
    let { file, offset } = place
    if (offset >= this.segments[file].bytes.length) {
      if (file + 1 >= this.segments.length) return undefined
      file++
      offset = 0
    }
    const here = { file, offset }
    const frame = this.soundAt(here)
    if (frame !== undefined && this.follows(frame)) return here
    const found = this.search(here)
    if (found === undefined) {
      this.tailWasChanged = !this.isCutShort(here)
      return undefined
    }
    const { kind, pos, previous } = this.frameAt(found)
    const lastPos = kind === RECORD ? pos - 1 : pos
    this.damage.push({ firstPos: this.pos + 1, lastPos })
    this.pos = lastPos
    this.chain = undefined
    this.previous = previous
    return found
  }

  /** The file ends within the frame that begins here. */
  private isCutShort({ file, offset }: Place): boolean {
    const left = this.segments[file].bytes.length - offset
    const frame = this.headAt({ file, offset })
    return left < HEAD || (frame !== undefined && left < frame.size)
  }

  private follows(frame: Frame): boolean {
    if (frame.previous !== this.previous) return false
    if (frame.kind !== RECORD) return frame.pos === this.pos && (this.chain === undefined || frame.chain === this.chain)
    if (frame.pos !== this.pos + 1) return false
    return this.chain === undefined || frame.chain === hashOfTwo(this.chain, frame.hash)
  }

  private search(from: Place): Place | undefined {
    const bad = this.headAt(from)
    const skipped = bad !== undefined && !bad.whole ? bad.size : 0
    for (let file = from.file; file < this.segments.length; file++) {
      const { bytes } = this.segments[file]
      for (let offset = file === from.file ? from.offset + skipped : 0; offset + HEAD <= bytes.length; offset++) {
        const frame = this.headAt({ file, offset })
        if (frame?.whole && this.counts(frame, { file, offset })) return { file, offset }
      }
    }
    return undefined
  }

  private counts(frame: Frame, { file, offset }: Place): boolean {
    if (frame.kind === RECORD ? frame.pos <= this.pos : frame.pos < this.pos) return false
    if (frame.kind === SEGMENT && offset > 0) return false
    const behind = this.headAt({ file, offset: offset + frame.size })
    return behind === undefined || behind.previous === frame.check
  }

  private soundAt(place: Place): Frame | undefined {
    const frame = this.headAt(place)
    return frame?.whole ? frame : undefined
  }

  private frameAt(place: Place): Frame {
    return this.headAt(place) as Frame
  }

  /** A frame whose head's check holds. */
  private headAt({ file, offset }: Place): Frame | undefined {
    const { bytes } = this.segments[file]
    if (offset + HEAD > bytes.length) return undefined
    if (bytes[offset] !== 0xf7 || bytes[offset + 1] !== 0xa5 || bytes[offset + 2] !== 0xff) return undefined
    const view = new DataView(bytes.buffer, bytes.byteOffset + offset, HEAD)
    const kind = view.getUint8(3)
    const seed = kind === SEGMENT ? 0n : this.salt
    if (check(bytes.subarray(offset, offset + 48), seed) !== view.getUint32(48)) return undefined
    const size = view.getUint32(8)
    const body = bytes.subarray(offset + HEAD, offset + HEAD + size)
    return {
      kind,
      flags: view.getUint8(4),
      encoding: view.getUint8(5),
      shapes: view.getUint16(6),
      pos: view.getUint16(12) * 2 ** 32 + view.getUint32(14),
      parent: view.getUint16(18) * 2 ** 32 + view.getUint32(20),
      hash: view.getBigUint64(24),
      chain: view.getBigUint64(32),
      previous: view.getUint32(40),
      check: view.getUint32(48),
      body,
      whole: body.length === size && check(body) === view.getUint32(44),
      size: HEAD + size,
    }
  }
}

function decodeAll({ taken, damage, tornBytes, tailWasChanged, segments }: Walk): ReadLog {
  const shapes = dictionaryOf(taken)
  const records: ReadRecord[] = []
  let header: ReadEntry | undefined
  for (const frame of taken) {
    if (frame.kind !== HEADER && frame.kind !== RECORD) continue
    if (frame.shapes > shapes.length) {
      damage.push({ firstPos: frame.pos, lastPos: frame.pos })
      continue
    }
    const entry = entryOf(frame, shapes)
    if (frame.kind === HEADER) header = entry
    else records.push({ ...entry, ...placeOf(frame) })
  }
  const chain = taken.at(-1)?.chain ?? 0n
  return {
    sessionId: sessionOf(taken, segments),
    header,
    records,
    shapes,
    dictionaries: taken.filter(({ kind }) => kind === DICTIONARY).length,
    deflated: taken.filter(({ encoding }) => encoding >= 16).length,
    texts: taken.filter(({ kind, encoding }) => kind === RECORD && encoding % 16 === 1).length,
    digest: header === undefined ? '' : hex(hashOfTwo(BigInt(`0x${header.hash}`), chain)),
    damage,
    tornBytes,
    tailWasChanged,
  }
}

/** The session that the segment frames name; they must be of these files. */
function sessionOf(taken: readonly Frame[], [{ name, incarnation }]: readonly SegmentFile[]): string {
  let session = ''
  for (const { kind, body } of taken) {
    if (kind !== SEGMENT) continue
    const said = JSON.parse(utf8.decode(body)) as { format: number; sessionId: string; incarnation: string }
    if (said.format !== 1) throw new Error(`log format ${said.format}`)
    const digest = createHash('sha256').update(said.sessionId).digest('hex')
    if (said.incarnation !== incarnation || !digest.startsWith(name)) throw new Error('a segment of another log')
    session = said.sessionId
  }
  return session
}

function dictionaryOf(taken: readonly Frame[]): string[][] {
  const shapes: string[][] = []
  for (const { kind, body } of taken) {
    if (kind !== DICTIONARY) continue
    const part = JSON.parse(utf8.decode(body)) as { from: number; shapes: string[][] }
    if (part.from > shapes.length) continue
    part.shapes.forEach((keys, i) => {
      const known = shapes[part.from + i]
      if (known !== undefined && known.join('\0') !== keys.join('\0')) throw new Error('a shape changed its meaning')
      shapes[part.from + i] = keys
    })
  }
  return shapes
}

function placeOf({ pos, parent, flags, chain }: Frame): Omit<ReadRecord, keyof ReadEntry> {
  const [gap, orphan, end] = [GAP, ORPHAN, END].map((flag) => (flags & flag) !== 0)
  return { pos, parent, gap, orphan, end, chain: hex(chain) }
}

function entryOf({ encoding, body, hash }: Frame, shapes: readonly string[][]): ReadEntry {
  const raw = encoding < 16 ? body : inflate(body)
  const isText = encoding % 16 === 1
  const value = (isText ? JSON.parse(utf8.decode(raw)) : decodeMsgpack(raw, shapes)) as { [field: string]: Value }
  const worked = hex(h64Raw(new TextEncoder().encode(canonical(value))))
  if (worked !== hex(hash)) throw new Error(`content hash ${worked} instead of ${hex(hash)}`)
  return { value, line: isText ? utf8.decode(raw) : JSON.stringify(value), hash: worked }
}

function inflate(body: Uint8Array): Uint8Array {
  const size = new DataView(body.buffer, body.byteOffset, body.length).getUint32(0)
  const raw = inflateRawSync(body.subarray(4))
  if (raw.length !== size) throw new Error(`inflated to ${raw.length} bytes instead of ${size}`)
  return raw
}

/** RFC 8785, for values that `JSON.parse` gives. */
function canonical(value: Value): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}
