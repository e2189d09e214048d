/**
 * The root row: one small row a stream that names all others, and the stream's state as of the indexed length.
 */

import { check32, hex64 } from '../base/hash.js'
import { LOG_START, type LogPoint } from '../log/api.js'

export const INDEX_FORMAT = 3

/** A stream's state behind its last record; all of it follows from the log. */
export interface StreamState {
  /** behind the last entry of the log that is taken in */
  point: LogPoint
  lastSeq: number
  /** the `ts` of the last record that has one as text */
  updatedAt: string | null
  /** whether an id of the form that the store assigns is taken by a record it would not expect there */
  defaultIdsTaken: boolean
  /** the header in force */
  header: { location: number; hash: bigint; agent: { name: string; version: string } | null }
  heads: ReadonlyMap<string, number>
}

export interface RunRow {
  level: number
  number: number
  keys: number
  check: number
}

/** How far a log was once seen to reach. */
export interface Reach {
  location: number
  pos: number
}

export interface Root {
  state: StreamState
  /** never less than `state.point`; more while the index is being built again */
  reach: Reach
  title: string | null
  /** bytes of the log at the time */
  bytes: number
  /** up to here the log was synced */
  durable: number
  /** the boot of the machine under which `state.point` was reached: within one boot nothing written is lost */
  boot: string
  sessionId: string
  headsCheck: number
  dictionaryCheck: number
  directories: number[]
  runs: RunRow[]
}

/** The state of a stream of which nothing is taken in yet. */
export function emptyState(): StreamState {
  return {
    point: LOG_START,
    lastSeq: 0,
    updatedAt: null,
    defaultIdsTaken: false,
    header: { location: 0, hash: 0n, agent: null },
    heads: new Map(),
  }
}

const CHECK_DIGITS = 8

/** `log` is the incarnation under which the row is kept: its check covers it, so that no other log's root is believed. */
export function encodeRoot(root: Root, incarnation: string): Uint8Array {
  const { state, ...rest } = root
  const { point, header, heads: _, ...values } = state
  const body = JSON.stringify({
    format: INDEX_FORMAT,
    ...rest,
    ...values,
    point: { ...point, chain: hex64(point.chain) },
    header: { ...header, hash: hex64(header.hash) },
  })
  const bytes = new TextEncoder().encode(body)
  const check = checkOf(bytes, incarnation).toString(16).padStart(CHECK_DIGITS, '0')
  return new TextEncoder().encode(check + body)
}

/** The root, with no heads yet; undefined when the bytes are damaged, of another log or of another format. */
export function decodeRoot(bytes: Uint8Array, incarnation: string): Root | undefined {
  const check = Number.parseInt(new TextDecoder().decode(bytes.subarray(0, CHECK_DIGITS)), 16)
  const body = bytes.subarray(CHECK_DIGITS)
  if (checkOf(body, incarnation) !== check) return undefined
  const { format, point, header, lastSeq, updatedAt, defaultIdsTaken, ...rest } = JSON.parse(
    new TextDecoder().decode(body),
  )
  if (format !== INDEX_FORMAT) return undefined
  return {
    ...rest,
    state: {
      lastSeq,
      updatedAt,
      defaultIdsTaken,
      point: { ...point, chain: BigInt(`0x${point.chain}`) },
      header: { ...header, hash: BigInt(`0x${header.hash}`) },
      heads: new Map(),
    },
  }
}

function checkOf(body: Uint8Array, incarnation: string): number {
  const salt = BigInt(`0x${incarnation}`)
  return check32(body, salt)
}

export function encodeHeads(heads: ReadonlyMap<string, number>): Uint8Array {
  return new TextEncoder().encode(JSON.stringify([...heads].sort(([a], [b]) => (a < b ? -1 : 1))))
}

export function decodeHeads(bytes: Uint8Array): Map<string, number> {
  return new Map(JSON.parse(new TextDecoder().decode(bytes)) as [string, number][])
}
