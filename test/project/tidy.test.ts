import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ERROR_CODES, KEPT_CODES, REFUSED_CODES } from '../../src/base/error.js'
import { loadScript, type ProjectScript, projectRoot } from './load-script.js'

const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 60
const CODES = [...ERROR_CODES, ...REFUSED_CODES, ...KEPT_CODES]

const { filesBelow } = await loadScript<ProjectScript>('project.mjs')
const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const sources = filesBelow(projectRoot, 'src', /\.ts$/)
const tests = filesBelow(projectRoot, 'test', /\.ts$/)
const everything = [...sources, ...tests, ...filesBelow(projectRoot, 'bench', /\.ts$/)]

/** What the linter says of a file or folder, under the rules and limits of biome.json. */
function lint(rule: string, path: string): { clean: boolean; output: string } {
  const program = join(projectRoot, 'node_modules/@biomejs/biome/bin/biome')
  const args = [program, 'lint', `--config-path=${join(projectRoot, 'biome.json')}`, `--only=${rule}`, path]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: projectRoot, encoding: 'utf8' })
  return { clean: status === 0, output: `${stdout}${stderr}` }
}

/** The same of a text, as a file outside of the project. */
function lintText(rule: string, text: string): { clean: boolean; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tidy-'))
  try {
    writeFileSync(join(folder, 'given.ts'), text)
    return lint(rule, join(folder, 'given.ts'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function functionOf(lines: number): string {
  return `export function long(): void {\n${'  long()\n'.repeat(lines)}}\n`
}

test('no file of src is over 400 lines', () => {
  assert.ok(sources.length > 0)
  const long = sources.filter((path) => read(path).trimEnd().split('\n').length > FILE_LINES_MAX)
  assert.equal(long, [])
})

test('no function of src is over 60 lines', () => {
  const rule = 'complexity/noExcessiveLinesPerFunction'
  const { clean, output } = lint(rule, 'src')
  assert.ok(clean, output)
  assert.ok(lintText(rule, functionOf(FUNCTION_LINES_MAX)).clean, 'the limit itself is allowed')
  assert.match(lintText(rule, functionOf(FUNCTION_LINES_MAX + 1)).output, 'too many lines')
})

test('no type of src is any, unless a reason stands beside it', () => {
  const rule = 'suspicious/noExplicitAny'
  const { clean, output } = lint(rule, 'src')
  assert.ok(clean, output)
  assert.ok(lintText(rule, 'export const sound: unknown = 1\n').clean)
  assert.match(lintText(rule, 'export const loose: any = 1\n').output, 'noExplicitAny')
})

test('data is not spread into a call: a call takes about a hundred thousand arguments', () => {
  const bounded = [
    'src/acp/base64.ts', // a piece
    'src/acp/recorder/feed.ts', // three tasks
    'src/acp/recorder/writer.ts', // a batch
    'src/acp/replay/queue.ts', // an update
    'src/acp/replay/walk.ts', // three updates
    'src/stream/append-queue.ts', // the calls of a group
  ]
  const spread =
    /\.(?:push|unshift|splice|concat|fromCharCode)\((?:[^()]*, )?\.\.\.|Math\.(?:max|min)\(\.\.\.|\.apply\(/
  assert.equal(
    sources.filter((path) => spread.test(read(path))),
    bounded,
  )
})

test('nothing is left to be done later', () => {
  const left = everything.filter((path) => /\b(?:TO(?:)DO|FIX(?:)ME)\b/.test(read(path)))
  assert.equal(left, [])
})

test('no test keeps the others from running', () => {
  assert.equal(
    tests.filter((path) => /\.only\(/.test(read(path))),
    [],
  )
})

test('what lies beside the project is looked for in one place of the tests and one of the benchmark', () => {
  const beside = /'\.\.(?:\/|', ')shared/
  assert.equal(
    everything.filter((path) => beside.test(read(path))),
    ['test/support/corpora.ts', 'bench/corpora.ts'],
  )
})

/** Who touches what the command line prints to: the printers, what draws on a terminal by itself, and relays of a protocol. */
const PRINTERS: Readonly<Record<string, RegExp>> = {
  'src/cli/output.ts': /process\.stdout/,
  'src/cli/say.ts': /process\.stderr|stderr\(/,
  'src/cli/style.ts': /process\.stdout|stderr\(/,
  'src/cli/confirm.ts': /stderr\(/,
  'src/cli/progress.ts': /stderr\(/,
  'src/cli/main.ts': /process\.stdout/,
  'src/cli/record-proxy.ts': /process\.stdout/,
  'src/cli/serve-stdio.ts': /process\.stdout/,
}

test('the command line prints through its printers alone: one for people, one for JSON', () => {
  const touching = /process\.(?:stdout|stderr)|console\.|\bstderr\(/g
  const commandLine = sources.filter((path) => path.startsWith('src/cli/'))
  const raw = commandLine.flatMap((path) =>
    [...read(path).matchAll(touching)].map(([text]) => text).filter((text) => !PRINTERS[path]?.test(text)),
  )
  assert.equal(raw, [])
  assert.equal(
    commandLine.filter((path) => read(path).includes('JSON.stringify(')),
    ['src/cli/json.ts', 'src/cli/stats.ts'],
  )
  assert.equal(
    commandLine.filter((path) => read(path).includes('.bytes(')),
    ['src/cli/commands/export.ts'],
  )
})

test('every error code is named by a test', () => {
  const named = new Set(
    tests.filter((path) => !path.startsWith('test/project/')).flatMap((path) => read(path).match(/\w+/g) ?? []),
  )
  assert.equal(
    CODES.filter((code) => !named.has(code)),
    [],
  )
})

test('docs/errors.md has a heading with an explanation for every error code, and for nothing else', () => {
  const sections = [...read('docs/errors.md').matchAll(/^#### (\w+)\n(?=\S)/gm)].map(([, code]) => code)
  assert.equal(sections.sort(), [...CODES].sort())
})

test.run()
