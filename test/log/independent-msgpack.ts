/**
 * Decodes the msgpack bodies of a log, from what spec/log-format.md says of them. Uses nothing of the engine.
 */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The value that all of the bytes are. @throws when they are anything else */
export function decodeMsgpack(bytes: Uint8Array, shapes: readonly string[][]): Value {
  const decoder = new Decoder(bytes, shapes)
  const value = decoder.value()
  if (decoder.at !== bytes.length) throw new RangeError(`${bytes.length - decoder.at} bytes behind the value`)
  return value
}

class Decoder {
  at = 0
  private readonly view: DataView

  constructor(
    private readonly bytes: Uint8Array,
    private readonly shapes: readonly string[][],
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  value(): Value {
    const byte = this.unsigned(1)
    if (byte < 0x40) return byte
    if (byte < 0x60) return this.shaped(byte - 0x40)
    if (byte < 0x80) return this.shaped(32 + 32 * this.unsigned(1) + (byte - 0x60))
    if (byte < 0x90) return this.map(byte - 0x80)
    if (byte < 0xa0) return this.array(byte - 0x90)
    if (byte < 0xc0) return this.text(byte - 0xa0)
    if (byte >= 0xe0) return byte - 256
    return this.tagged(byte)
  }

  private tagged(byte: number): Value {
    switch (byte) {
      case 0xc0:
        return null
      case 0xc2:
      case 0xc3:
        return byte === 0xc3
      case 0xcb:
        return this.view.getFloat64(this.take(8))
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.unsigned(2 ** (byte - 0xcc))
      case 0xd0:
        return this.view.getInt8(this.take(1))
      case 0xd1:
        return this.view.getInt16(this.take(2))
      case 0xd2:
        return this.view.getInt32(this.take(4))
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.text(this.unsigned(2 ** (byte - 0xd9)))
      case 0xdc:
      case 0xdd:
        return this.array(this.unsigned(2 * (byte - 0xdb)))
      case 0xde:
      case 0xdf:
        return this.map(this.unsigned(2 * (byte - 0xdd)))
      default:
        throw new RangeError(`no value begins with 0x${byte.toString(16)}`)
    }
  }

  private shaped(id: number): Value {
    const keys = this.shapes[id]
    if (keys === undefined) throw new RangeError(`shape ${id} is not known`)
    return this.object(keys.length, (i) => keys[i])
  }

  private map(size: number): Value {
    return this.object(size, () => this.value())
  }

  private object(size: number, keyOf: (i: number) => Value): Value {
    const object: { [key: string]: Value } = {}
    for (let i = 0; i < size; i++) {
      const key = keyOf(i)
      if (typeof key !== 'string') throw new RangeError('a key that is not text')
      Object.defineProperty(object, key, { value: this.value(), enumerable: true, writable: true, configurable: true })
    }
    return object
  }

  private array(size: number): Value {
    const items: Value[] = []
    for (let i = 0; i < size; i++) items.push(this.value())
    return items
  }

  private text(size: number): string {
    const from = this.take(size)
    return text.decode(this.bytes.subarray(from, from + size))
  }

  private unsigned(size: number): number {
    const from = this.take(size)
    let number = 0
    for (let i = 0; i < size; i++) number = number * 256 + this.bytes[from + i]
    return number
  }

  private take(size: number): number {
    const from = this.at
    if (from + size > this.bytes.length) throw new RangeError('the bytes end within a value')
    this.at += size
    return from
  }
}
