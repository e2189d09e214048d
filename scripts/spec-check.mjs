/** Lists the rules of spec/ that no test names. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stdout } from 'node:process'
import { filesBelow, isProgram, projectRoot } from './project.mjs'

/** The rules that a text states: `**CORE-7**` does, `CORE-7` only names it. */
export function statedRules(text) {
  return [...text.matchAll(/\*\*((?:CORE|ASR)-\d+)\*\*/g)].map(([, rule]) => rule)
}

/** The stated rules that none of the tests names. */
export function untestedRules(specs, tests) {
  const named = new Set(tests.flatMap((text) => text.match(/\b(?:CORE|ASR)-\d+\b/g) ?? []))
  return [...new Set(specs.flatMap(statedRules))].filter((rule) => !named.has(rule))
}

if (isProgram(import.meta)) {
  const read = (path) => readFileSync(join(projectRoot, path), 'utf8')
  const specs = filesBelow(projectRoot, 'spec', /\.md$/).map(read)
  const missing = untestedRules(specs, filesBelow(projectRoot, 'test', /\.ts$/).map(read))
  const rules = new Set(specs.flatMap(statedRules)).size
  for (const rule of missing) stdout.write(`${rule} is named by no test\n`)
  stdout.write(`${rules} rules, ${missing.length} without a test\n`)
  if (missing.length > 0 || rules === 0) process.exitCode = 1
}
