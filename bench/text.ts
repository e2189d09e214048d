/**
 * Text that packs about as well as that of real sessions: words of uneven frequency, code, listings, escapes.
 */
import { Random } from './random.js'

const SENTENCES = 16_384
const WORDS = 6_000

const random = new Random(4_711)
const words = Array.from({ length: WORDS }, makeWord)
const pieces = Array.from({ length: SENTENCES }, makePiece)

function makeWord(): string {
  let word = ''
  for (let syllables = 1 + random.below(4); syllables > 0; syllables--) {
    word += random.pick(['b', 'c', 'd', 'f', 'g', 'l', 'm', 'n', 'p', 'r', 's', 't', 'st', 'tr', 'v', 'qu'])
    word += random.pick(['a', 'e', 'i', 'o', 'u', 'ea', 'ou', 'er', 'an', 'in', 'on', 'es'])
  }
  return word
}

/** Word k comes about 1/k as often as the first. */
function word(): string {
  return words[Math.floor(WORDS ** random.next()) - 1]
}

function makePiece(): string {
  const kind = random.next()
  const some = (count: number, between: string): string => Array.from({ length: count }, word).join(between)
  if (kind < 0.5) return `${some(6 + random.below(14), ' ')}. `
  if (kind < 0.7) return `\n${'  '.repeat(random.below(4))}const ${word()} = ${word()}.${word()}("${some(3, '-')}", ${random.below(1_000)})`
  if (kind < 0.8) return `\n${'\t'.repeat(random.below(3))}if (${word()} !== ${random.below(100)}) return { ${word()}: '${word()}' }`
  if (kind < 0.9) return `\n-rw-r--r-- 1 dev dev ${random.below(100_000)} src/${some(2, '/')}.ts`
  return `\n${random.below(2_000)}: ${some(5, ' ')} → ${word()}`
}

/** About `length` characters of text. */
export function textOf(length: number, source: Random): string {
  if (length <= 0) return ''
  let text = ''
  while (text.length < length) text += pieces[source.below(SENTENCES)]
  // The end must not cut a character in two.
  return text.slice(0, length).toWellFormed()
}
