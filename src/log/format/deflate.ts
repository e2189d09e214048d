/**
 * Raw deflate (RFC 1951): Node's zlib where there is one, a library elsewhere.
 */
import { builtin, hasBuiltins } from '../../base/host.js'

type Zlib = typeof import('node:zlib')

/** Only loaded where it is needed: its tables take longer to make than all of our own code to load. */
const fflate = hasBuiltins ? undefined : await import('./fflate.js')

/** Loaded by the first body that is deflated: short sessions have none. */
function zlib(): Zlib {
  return builtin<Zlib>('node:zlib') as Zlib
}

/** Level 1: most of the gain at a fifth of the time. */
export function deflateRaw(bytes: Uint8Array): Uint8Array {
  if (fflate !== undefined) return fflate.deflateSync(bytes, { level: 1 })
  // What is worth keeping is shorter than the bytes: zlib's own chunk would be larger than most of them.
  return zlib().deflateRawSync(bytes, { level: 1, chunkSize: Math.max(bytes.length, 64) })
}

/** The bytes that were deflated, which were `size` long; throws when they are not, or not deflated at all. */
export function inflateRaw(bytes: Uint8Array, size: number): Uint8Array {
  // In one piece: a chunk more than the size lets zlib see the end without another round.
  const raw =
    fflate === undefined
      ? zlib().inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1), chunkSize: Math.max(size + 1, 64) })
      : fflate.inflateSync(bytes, { out: new Uint8Array(size) })
  if (raw.length !== size) throw new RangeError(`inflated to ${raw.length} bytes instead of ${size}`)
  return raw
}
