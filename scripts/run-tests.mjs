/**
 * Runs the compiled tests, each file in a process of its own, two at a time. Arguments keep the files whose paths hold
 * one of them: `npm test -- property/engine`. The last line is `N passed, N failed`, and
 * `, N skipped` where tests could not run.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv, env, execPath, stdout } from 'node:process'
import { filesBelow, isProgram, projectRoot } from './project.mjs'

const AT_ONCE = 2
const FILE_MS_MAX = 10 * 60_000
const TOTALS = /^ {2}Total: +(\d+)\n {2}Passed: +(\d+)\n {2}Skipped: +(\d+)$/gm

/** What one file's output and end say: a crash, and a file without a test, count as one failure. */
export function judge(output, exit) {
  let passed = 0
  let failed = 0
  let skipped = 0
  for (const [, total, good, left] of output.matchAll(TOTALS)) {
    passed += Number(good)
    failed += Number(total) - Number(good)
    skipped += Number(left)
  }
  if (passed + failed + skipped === 0) return { passed, failed: 1, skipped, reason: `ran no test (${exit})` }
  if (failed === 0 && exit !== 'exit code 0') return { passed, failed: 1, skipped, reason: `ended with ${exit}` }
  return { passed, failed, skipped, reason: '' }
}

/** What all files said, in one line; what could not run is a part of it. */
export function totals({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${leftOut(skipped)}`
}

function leftOut(skipped) {
  return skipped > 0 ? `, ${skipped} skipped` : ''
}

/** Tests make their files in a folder of their own, see no store of the user's, and print without colour. */
function surroundings(temporary) {
  const { ASR_STORE: _, FORCE_COLOR: __, ...rest } = env
  return {
    ...rest,
    NO_COLOR: '1',
    TMPDIR: temporary,
    TEMP: temporary,
    TMP: temporary,
    XDG_DATA_HOME: join(temporary, 'data'),
  }
}

function runFile(file, temporary) {
  mkdirSync(temporary)
  const started = performance.now()
  const child = spawn(execPath, ['--enable-source-maps', file], {
    cwd: projectRoot,
    env: surroundings(temporary),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: FILE_MS_MAX,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      output += text
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      rmSync(temporary, { recursive: true, force: true })
      const seconds = (performance.now() - started) / 1000
      resolve({ output, seconds, ...judge(output, signal ?? `exit code ${code}`) })
    })
  })
}

function report(file, { output, seconds, passed, failed, skipped, reason }) {
  const left = leftOut(skipped)
  const why = reason === '' ? '' : `: ${reason}`
  stdout.write(`${failed > 0 ? 'FAIL' : 'ok  '} ${file}  ${passed} passed${left}  ${seconds.toFixed(1)} s${why}\n`)
  if (failed > 0) stdout.write(`${output.trimEnd()}\n\n`)
}

async function main(filters) {
  const files = filesBelow(projectRoot, 'build/test', /\.test\.js$/).filter(
    (file) => filters.length === 0 || filters.some((filter) => file.includes(filter)),
  )
  const folder = mkdtempSync(join(tmpdir(), 'asr-test-'))
  const cleanUp = () => rmSync(folder, { recursive: true, force: true })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))
  process.on('exit', cleanUp)

  const sum = { passed: 0, failed: 0, skipped: 0 }
  const waiting = files.entries()
  const worker = async () => {
    for (const [index, file] of waiting) {
      const result = await runFile(file, join(folder, String(index)))
      report(file, result)
      sum.passed += result.passed
      sum.failed += result.failed
      sum.skipped += result.skipped
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  if (files.length === 0) {
    stdout.write('no test file matches\n')
    sum.failed = 1
  }
  stdout.write(`${totals(sum)}\n`)
  if (sum.failed > 0) process.exitCode = 1
}

if (isProgram(import.meta)) await main(argv.slice(2))
