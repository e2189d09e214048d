/**
 * XXH64 (CORE-8, CORE-9): content hashes, the chain, and the checks of stored bytes.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import xxhash from 'xxhash-wasm'
import { AsrError } from './error.js'
import { RECORD_BYTES_MAX } from './limits.js'

const xxh = await xxhash()

/** The wasm memory grows to the size of what is hashed at once, and never shrinks: large inputs go in pieces. */
const PIECE_BYTES = 64 * 1024

const encoder = new TextEncoder()
const scratch = new Uint8Array(PIECE_BYTES)

/** XXH64 of bytes. */
export function hashBytes(bytes: Uint8Array, seed = 0n): bigint {
  if (bytes.length <= PIECE_BYTES) return xxh.h64Raw(bytes, seed)
  const state = xxh.create64(seed)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) state.update(bytes.subarray(at, at + PIECE_BYTES))
  return state.digest()
}

/** The low 32 bits of XXH64: the check of stored bytes. */
export function check32(bytes: Uint8Array, seed = 0n): number {
  return Number(BigInt.asUintN(32, hashBytes(bytes, seed)))
}

/** XXH64 of a text's UTF-8. @throws ASR_TOO_LARGE */
export function hashText(text: string): bigint {
  if (text.length * 3 <= scratch.length) return xxh.h64(text)
  const state = xxh.create64()
  let size = 0
  for (let at = 0; at < text.length; ) {
    const { read, written } = encoder.encodeInto(text.slice(at, at + PIECE_BYTES / 3), scratch)
    // A pair cut by the slice would be encoded as two replacement characters: leave its first half to the next piece.
    const cut = read > 0 && at + read < text.length && isHighSurrogate(text.charCodeAt(at + read - 1))
    const bytes = cut ? written - 3 : written
    state.update(scratch.subarray(0, bytes))
    at += cut ? read - 1 : read
    size += bytes
    if (size > RECORD_BYTES_MAX)
      throw new AsrError('ASR_TOO_LARGE', `a record's text is limited to ${RECORD_BYTES_MAX} bytes`)
  }
  return state.digest()
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

const pair = new Uint8Array(16)
const pairView = new DataView(pair.buffer)

/** XXH64 of two hashes, each as 8 bytes big-endian: a step of the chain, and the digest (CORE-9). */
export function hashPair(first: bigint, second: bigint): bigint {
  pairView.setBigUint64(0, first)
  pairView.setBigUint64(8, second)
  return xxh.h64Raw(pair)
}

/** 16 hexadecimal digits. */
export function hex64(hash: bigint): string {
  return hash.toString(16).padStart(16, '0')
}

/** A key of 53 bits for look-up tables: what it finds is confirmed by the bytes themselves. */
export function key53(text: string): number {
  return Number(hashText(text) >> 11n)
}

/** SHA-256 of a text's first 128 bits in hex: a name for files that no crafted pair of ids shares. */
export function name128(text: string): string {
  return toHex(sha256(encoder.encode(text)).subarray(0, 16))
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
