/**
 * Words in the place of words: of the same length and case, the same word for the same word, and different ones for
 * different ones, so that what refers to each other still does, and text repeats itself where it did.
 */
import { createHash } from 'node:crypto'

/** Made times lie this much before the real ones, in milliseconds. */
const EARLIER_MS = 311 * 86_400_000 + 5 * 3_600_000
const CONSONANTS = 'ttttttnnnnnnsssssshhhhhrrrrrddddlllcccmmmwwffggypbbvkzjx'
const VOWELS = 'eeeeeeaaaaaiiiiooooouu'
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** What is made anew: times, UUIDs, ids in hexadecimal, long numbers, words, other letters. Schemes and what a
 * terminal obeys are kept. */
const PARTS = new RegExp(
  [
    '(?<time>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d)(?:[.]\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)?',
    '(?<uuid>\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b)',
    '(?<kept>\\b(?:https?|file|wss?)(?=://)|\\u001b\\[[0-9;]*[A-Za-z])',
    '(?<code>(?<![A-Za-z0-9])(?=[0-9a-f]*\\d)[0-9a-f]{6,}(?![A-Za-z0-9])|\\d{5,})',
    '(?<word>[A-Za-z]+)',
    '(?<other>\\p{L})',
  ].join('|'),
  'gu',
)

/** The words of four letters and more, and their parts, in lower case. */
export function wordsOf(text) {
  const words = [...text.matchAll(PARTS)].flatMap(({ groups }) => groups.word ?? [])
  return [...words, ...words.flatMap(partsOf)].filter(({ length }) => length > 3).map((word) => word.toLowerCase())
}

function partsOf(word) {
  return word.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)
}

export function earlier(milliseconds) {
  return milliseconds - EARLIER_MS
}

/** A function from text to made text that gives none of the words of `avoided`; another `salt` gives other words. */
export function wordMaker(avoided, salt) {
  const made = new Map()
  const taken = new Set()

  function wordFor(word) {
    if (word.length < 3) return shifted(word)
    const known = made.get(word)
    if (known !== undefined) return known
    for (let attempt = 0; ; attempt++) {
      const candidate = invented(word, `${salt} ${attempt} ${word}`, attempt < 50)
      if (candidate === word || taken.has(candidate) || avoided.has(candidate)) continue
      taken.add(candidate)
      made.set(word, candidate)
      return candidate
    }
  }

  return (text) =>
    text.replace(PARTS, (part, ...rest) => {
      const { time, uuid, kept, code, word } = rest.at(-1)
      if (kept !== undefined) return part
      if (time !== undefined) {
        return new Date(earlier(Date.parse(`${time}Z`))).toISOString().slice(0, 19) + part.slice(19)
      }
      // A UUID keeps its version and its variant.
      if (uuid !== undefined) return [...part].map((char, at) => (at === 14 || at === 19 ? char : digit(char))).join('')
      if (code !== undefined) return [...part].map(digit).join('')
      if (word === undefined) return part.codePointAt(0) < 0x800 ? 'ø' : '字'
      const joined = partsOf(word)
        .map((one) => likeCase(wordFor(one.toLowerCase()), one))
        .join('')
      // Two made parts beside each other may make a real word.
      return avoided.has(joined.toLowerCase()) ? likeCase(wordFor(word.toLowerCase()), word) : joined
    })
}

/** Letters for letters, made to be spoken where that is asked for. */
function invented(word, seed, spoken) {
  const bytes = createHash('sha512').update(seed).digest()
  const first = bytes[63] % 3 === 0 ? 1 : 0
  const from = (at) => (spoken ? ((at + first) % 2 === 0 ? CONSONANTS : VOWELS) : LETTERS)
  return Array.from(word, (_, at) => from(at)[bytes.readUInt16LE((2 * at) % 62) % from(at).length]).join('')
}

/** One and two letters have few others to become. */
function shifted(word) {
  return Array.from(word, (char) => LETTERS[(LETTERS.indexOf(char) + 11) % 26]).join('')
}

function digit(char) {
  if (char === '-') return char
  return char <= '9' ? String((3 * Number(char) + 7) % 10) : 'bcdefa'['abcdef'.indexOf(char)]
}

function likeCase(made, word) {
  if (word === word.toLowerCase()) return made
  if (word === word.toUpperCase() && word.length > 1) return made.toUpperCase()
  return made[0].toUpperCase() + made.slice(1)
}
