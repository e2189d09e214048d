import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loadScript } from './load-script.js'

interface SpecCheck {
  statedRules(text: string): string[]
  untestedRules(specs: string[], tests: string[]): string[]
}

const { statedRules, untestedRules } = await loadScript<SpecCheck>('spec-check.mjs')
const rule = (number: number) => `CORE${'-'}${number}`

test('a rule is stated in bold, and a mention is no statement', () => {
  const text = `**${rule(101)}** A stream. See ${rule(102)}.\n\n**${rule(103)}** Another.`
  assert.equal(statedRules(text), [rule(101), rule(103)])
})

test('a rule that no test names is listed once', () => {
  const specs = [`**${rule(101)}** a **${rule(102)}** b`, `**${rule(103)}** c **${rule(102)}** again`]
  assert.equal(untestedRules(specs, [`test('${rule(101)}: a', …)`, `// holds ${rule(103)}`]), [rule(102)])
})

test('a longer number does not stand for a shorter one', () => {
  assert.equal(untestedRules([`**${rule(11)}** a`], [`${rule(110)} ${rule(1)}`]), [rule(11)])
})

test('nothing is listed when each rule has its test', () => {
  assert.equal(untestedRules([`**${rule(101)}** a`], [`${rule(101)}: a`]), [])
})

test.run()
