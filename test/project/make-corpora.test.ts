/** The sessions and captures of test/corpus have made words, and the shape of the real ones. */
import { existsSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { settings } from '../property/settings.js'
import { captures, REAL, sessions } from '../support/corpora.js'
import { loadScript } from './load-script.js'

interface MadeWords {
  wordMaker(avoided: ReadonlySet<string>, salt: number): (text: string) => string
  wordsOf(text: string): string[]
}

interface MakeCorpora {
  realFiles(folder: string): Map<string, string>
  madeFiles(real: Map<string, string>): Map<string, string>
  survivors(words: Set<string>, made: Map<string, string>): string[]
  eachFree(text: string, call: (value: string) => void): void
}

const { wordMaker, wordsOf } = await loadScript<MadeWords>('made-words.mjs')
const { eachFree, madeFiles, realFiles, survivors } = await loadScript<MakeCorpora>('make-corpora.mjs')

const text = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9 _./-]{0,40}$/),
  fc.uuid(),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2099-01-01') }).map((date) => date.toISOString()),
)

test('made text is as long as the real one, the same for the same, and another for another', () => {
  fc.assert(
    fc.property(fc.uniqueArray(text, { maxLength: 30 }), (texts) => {
      const avoided = new Set(texts.flatMap(wordsOf))
      const making = wordMaker(avoided, 1)
      const made = texts.map(making)
      assert.equal(
        made.map(({ length }) => length),
        texts.map(({ length }) => length),
      )
      assert.equal(made, texts.map(making))
      assert.equal(
        made.flatMap(wordsOf).filter((word) => avoided.has(word)),
        [],
      )
      if (new Set(texts.map((one) => one.toLowerCase())).size === texts.length)
        assert.is(new Set(made).size, texts.length)
    }),
    settings(200),
  )
})

test('what steers a terminal, and schemes, stay; times move alike', () => {
  const making = wordMaker(new Set(), 1)
  assert.is(making('\u001b[32m✓\u001b[0m'), '\u001b[32m✓\u001b[0m')
  assert.match(making('https://host'), /^https:\/\/[a-z]{4}$/)
  const [from, to] = ['2026-11-29T17:31:44.783Z', '2026-11-30T17:31:45.783Z'].map((time) => Date.parse(making(time)))
  assert.is(to - from, 86_401_000)
})

const run = existsSync(REAL) ? test : test.skip

run('each carried file is what is made of the real one, of which no word is left', () => {
  const real = realFiles(REAL)
  const made = madeFiles(real)
  const carried = [...sessions, ...captures].filter(({ isReal }) => !isReal)
  assert.equal(
    carried.map(({ bytes }) => bytes().toString('utf8')),
    [...made.values()],
  )
  const words = new Set<string>()
  const add = (value: string): void => {
    for (const word of wordsOf(value)) words.add(word)
  }
  for (const lines of real.values()) eachFree(lines, add)
  assert.ok(words.size > 5_000, String(words.size))
  assert.equal(survivors(words, made), [])
})

run('each carried file has as many bytes as the real one, line for line', () => {
  for (const { name, bytes } of [...sessions, ...captures].filter(({ isReal }) => isReal)) {
    const made = [...sessions, ...captures].find((other) => other.name === name && !other.isReal)
    const lengths = (lines: Buffer) =>
      lines
        .toString('utf8')
        .split('\n')
        .map((line) => Buffer.byteLength(line))
    assert.equal(lengths(made?.bytes() ?? Buffer.of()), lengths(bytes()), name)
  }
})

test.run()
