/**
 * Text like that of real sessions: words of uneven frequency, code, listings, escapes. It is tuned to a published
 * session: how far deflate gets with it, about how much is escaped, how many texts are beyond ASCII.
 */
import { Random } from './random.js'

const WORDS = 6_000
/** A text has a topic, whose words come up again and again. */
const TOPICS = 64
const TOPIC_WORDS = 120
const TOPIC_SHARE = 0.65
const PIECES_EACH = 400

const random = new Random(4_711)
const words: string[] = []
/** Pieces of text by topic; made at first use, since processes that only read need none. */
const topics: string[][] = []

function makeTopics(): void {
  while (words.length < WORDS) words.push(makeWord())
  while (topics.length < TOPICS) {
    const own = Array.from({ length: TOPIC_WORDS }, () => random.pick(words))
    topics.push(Array.from({ length: PIECES_EACH }, () => makePiece(own)))
  }
}

function makeWord(): string {
  let word = ''
  for (let syllables = 1 + random.below(4); syllables > 0; syllables--) {
    word += random.pick(['b', 'c', 'd', 'f', 'g', 'l', 'm', 'n', 'p', 'r', 's', 't', 'st', 'tr', 'v', 'qu'])
    word += random.pick(['a', 'e', 'i', 'o', 'u', 'ea', 'ou', 'er', 'an', 'in', 'on', 'es'])
  }
  return word
}

/** Word k comes about 1/k as often as the first. */
function wordOf(list: readonly string[]): string {
  return list[Math.floor(list.length ** random.next()) - 1]
}

function makePiece(own: readonly string[]): string {
  const word = (): string => wordOf(random.next() < TOPIC_SHARE ? own : words)
  const some = (count: number, between: string): string => Array.from({ length: count }, word).join(between)
  const indent = '  '.repeat(1 + random.below(4))
  switch (random.below(7)) {
    case 0:
      return `\n${indent}const ${word()} = await ${word()}.${word()}("${some(2, '-')}", ${random.below(100)})`
    case 1:
      return `\n${indent}if (${word()} === "${word()}") {\n${indent}\treturn { ${word()}: "${word()}" }\n${indent}}\n`
    case 2:
      return `\n\timport { ${some(2, ', ')} } from "../${some(2, '/')}.js"`
    case 3:
      return `\nsrc/${some(2, '/')}.ts:${random.below(2_000)}: ${some(4, ' ')}`
    case 4:
      return `\n\n- **${word()}**: "${some(5, ' ')}"\n\t- ${some(3, ' ')}`
    default:
      return `${some(6 + random.below(12), ' ')}. `
  }
}

/** About `length` characters of text. */
export function textOf(length: number, source: Random): string {
  if (length <= 0) return ''
  if (topics.length === 0) makeTopics()
  const pieces = source.pick(topics)
  let text = source.next() < Math.min(1 / 3, length / 12_000) ? '→ ' : ''
  while (text.length < length) text += pieces[source.below(PIECES_EACH)]
  return text.slice(0, length)
}
