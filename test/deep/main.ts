/**
 * The long tier of the fault battery, and of the properties: `npm run test:deep -- [--seed N] [--from FILE] [FILE…]`. Each test
 * file in a process of its own, one after the other, without a limit of time. The seed is printed first: with it the same cases
 * come again. A run that was ended goes on with `--seed N --from FILE`; inside a file ASR_FROM goes on from a case.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const TESTS = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['fault', 'crash', 'property', 'growth']
/** Of the properties: runs, and commands of each at most. */
const PROPERTIES = { ASR_RUNS: '10000', ASR_COMMANDS: '100' }

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' }, from: { type: 'string' } },
  allowPositionals: true,
})
const seed = values.seed ?? String(Date.now() % 1_000_000_000)

function files(): string[] {
  const all = FOLDERS.flatMap((folder) => {
    const names = readdirSync(join(TESTS, folder)).filter((name) => name.endsWith('.test.js'))
    return names.sort().map((name) => `${folder}/${name.replace('.test.js', '')}`)
  })
  const from = values.from === undefined ? 0 : all.indexOf(values.from)
  if (from === -1) throw new Error(`no test file ${values.from}; there are ${all.join(', ')}`)
  return all.slice(from).filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
}

/** Whether the file's tests all pass; what they print is shown as it comes. */
function run(file: string, temporary: string): Promise<boolean> {
  const child = spawn(process.execPath, ['--enable-source-maps', join(TESTS, `${file}.test.js`)], {
    env: { ...process.env, ...PROPERTIES, ASR_DEEP: '1', ASR_SEED: seed, TMPDIR: temporary, NO_COLOR: '1' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code === 0))
  })
}

process.stdout.write(`seed ${seed}\n`)
const failed: string[] = []
for (const file of files()) {
  process.stdout.write(`\n${file}: go on from here with --seed ${seed} --from ${file}\n`)
  const temporary = mkdtempSync(join(tmpdir(), 'asr-deep-'))
  if (!(await run(file, temporary))) failed.push(file)
  rmSync(temporary, { recursive: true, force: true })
}
process.stdout.write(failed.length === 0 ? '\nall passed\n' : `\nfailed: ${failed.join(', ')} (seed ${seed})\n`)
if (failed.length > 0) process.exitCode = 1
