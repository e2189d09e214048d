/**
 * Which ids were told already, in bounded memory: the last ones by name, the others by Bloom filters. The bits of an id lie
 * in one line of 16 words, and a small filter comes before a large one: most of the cost is memory that is not at hand.
 */
const SIZES = [1 << 14, 1 << 17, 1 << 20]
const RECENT = 64

export class KnownIds {
  /** the last one takes ids, one for two words; those before it are full */
  private readonly filters: Uint32Array[] = [new Uint32Array(SIZES[0])]
  private taken = 0
  private readonly spaces: string[] = []
  private readonly ids: string[] = []
  private next = 0

  /** Adds an id of a space; whether it was there before, which is certain but for `maybe`. */
  add(space: string, id: string): boolean | 'maybe' {
    const known = this.mark(hashOf(space, id)) && (this.isRecent(space, id) || 'maybe')
    this.spaces[this.next] = space
    this.ids[this.next] = id
    this.next = (this.next + 1) % RECENT
    return known
  }

  private isRecent(space: string, id: string): boolean {
    return this.ids.some((one, at) => one === id && this.spaces[at] === space)
  }

  /** Sets the bits of an id; whether a filter had all of them. */
  private mark(hash: number): boolean {
    const { filters } = this
    const last = filters.length - 1
    let known = setBits(filters[last], hash, true)
    for (let at = 0; at < last && !known; at++) known = setBits(filters[at], hash, false)
    if (++this.taken >= filters[last].length / 2 && last + 1 < SIZES.length) {
      filters.push(new Uint32Array(SIZES[last + 1]))
      this.taken = 0
    }
    return known
  }
}

function hashOf(space: string, id: string): number {
  let hash = 0x811c9dc5 ^ space.charCodeAt(0) ^ (space.length << 8)
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
}

/** Whether four bits of a filter that a hash comes to are set; sets them when it is to. */
function setBits(words: Uint32Array, hash: number, isToSet: boolean): boolean {
  const line = (hash >>> 8) & (words.length - 16)
  let bits = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  let known = true
  for (let probe = 0; probe < 4; probe++) {
    const word = line + ((bits >>> 28) & 15)
    const mask = 1 << ((bits >>> 23) & 31)
    if ((words[word] & mask) === 0) known = false
    if (isToSet) words[word] |= mask
    bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d)
  }
  return known
}
