/**
 * Bytes that grow at their end, in one buffer that doubles.
 */
const INITIAL_BYTES = 256
/** `clear` keeps a buffer up to this size for the next bytes. */
const KEPT_BYTES = 1024 * 1024

export class GrowableBytes {
  #buffer = new Uint8Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  append(bytes: Uint8Array): void {
    const end = this.#length + bytes.length
    this.#reserve(end)
    this.#buffer.set(bytes, this.#length)
    this.#length = end
  }

  /** A view of the bytes from `start` up to `end`, at most to the last one; valid until the next change. */
  view(start = 0, end = this.#length): Uint8Array {
    return this.#buffer.subarray(Math.min(start, this.#length), Math.min(end, this.#length))
  }

  /** Cuts at `length`, or fills up to it with zeros. */
  resize(length: number): void {
    this.#reserve(length)
    if (length > this.#length) this.#buffer.fill(0, this.#length, length)
    this.#length = length
  }

  clear(): void {
    this.#length = 0
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = new Uint8Array(0)
  }

  #reserve(capacity: number): void {
    if (capacity <= this.#buffer.length) return
    const grown = new Uint8Array(Math.max(capacity, this.#buffer.length * 2, INITIAL_BYTES))
    grown.set(this.view())
    this.#buffer = grown
  }
}
