/**
 * A Bloom filter over 53-bit keys: says "not here" for good, "maybe here" wrongly about once in a hundred.
 */
const BITS_PER_KEY = 10
const PROBES = 5

export class Bloom {
  constructor(readonly words: Uint32Array) {}

  static for(keys: number): Bloom {
    return new Bloom(new Uint32Array(Math.max(1, Math.ceil((keys * BITS_PER_KEY) / 32))))
  }

  static of(keys: ArrayLike<number>): Bloom {
    const bloom = Bloom.for(keys.length)
    for (let i = 0; i < keys.length; i++) bloom.add(keys[i])
    return bloom
  }

  has(key: number): boolean {
    let [probe, step] = halves(key)
    for (let i = 0; i < PROBES; i++) {
      const bit = probe % (this.words.length * 32)
      if ((this.words[bit >>> 5] & (1 << (bit & 31))) === 0) return false
      probe = (probe + step) >>> 0
      step = (step + i) >>> 0
    }
    return true
  }

  add(key: number): void {
    let [probe, step] = halves(key)
    for (let i = 0; i < PROBES; i++) {
      const bit = probe % (this.words.length * 32)
      this.words[bit >>> 5] |= 1 << (bit & 31)
      probe = (probe + step) >>> 0
      step = (step + i) >>> 0
    }
  }
}

/** Two numbers of 32 bits; the second is odd, so that the probes differ. */
function halves(key: number): [number, number] {
  return [key >>> 0, (Math.floor(key / 2 ** 21) | 1) >>> 0]
}
