/**
 * Sabotage: each mutant of `mutant-list.mjs` is put into a compiled copy of the project, where some test has to fail for it.
 * The tests likeliest to are tried first, then all others. `node scripts/mutants.mjs [NAME…]`; ends with 1 when one survives.
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv, env, execPath, exit, stdout } from 'node:process'
import { transform } from 'esbuild'
import { MUTANTS } from './mutant-list.mjs'
import { filesBelow, isProgram, packageProgram, projectRoot } from './project.mjs'
import { judge } from './run-tests.mjs'

const AT_ONCE = 2
const FILE_MS_MAX = 5 * 60_000

/** The source with its one place changed. @throws when the place is not there, or not the only one */
export function mutated(source, { name, file, find, put }) {
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`mutant "${name}": its text stands ${places} times in ${file}: ${find}`)
  return source.replace(find, () => put)
}

/** Runs one compiled test file of a copy; resolves with whether it passed. */
function passes(copy, file) {
  const temporary = mkdtempSync(join(copy, 'tmp-'))
  const child = spawn(execPath, [join(copy, file)], {
    cwd: projectRoot,
    env: { ...env, ASR_STOP: '1', TMPDIR: temporary, XDG_DATA_HOME: join(temporary, 'data'), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: FILE_MS_MAX,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      rmSync(temporary, { recursive: true, force: true })
      const { failed, reason } = judge(output, signal ?? `exit code ${code}`)
      resolve({ passed: failed === 0, reason, output })
    })
  })
}

/** The first of the files that does not pass, or undefined. */
async function firstToFail(copy, files) {
  for (const file of files) if (!(await passes(copy, file)).passed) return file
  return undefined
}

function testFiles(copy, names) {
  return names.map((name) => {
    const files = filesBelow(copy, 'test', /\.test\.js$/).filter((file) => file === `test/${name}.test.js`)
    if (files.length !== 1) throw new Error(`no test file test/${name}.test.ts`)
    return files[0]
  })
}

/** Who kills the mutant: a test file, or undefined. */
async function killer(copy, mutant, all) {
  const compiled = join(copy, mutant.file.replace(/\.ts$/, '.js'))
  const sound = readFileSync(compiled)
  const source = mutated(readFileSync(join(projectRoot, mutant.file), 'utf8'), mutant)
  const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'node20' })
  const sabotage = () => writeFileSync(compiled, code)
  const mend = () => writeFileSync(compiled, sound)
  try {
    sabotage()
    const likely = testFiles(copy, mutant.tests)
    const first = await firstToFail(copy, likely)
    if (first !== undefined) return first
    for (let others = all.filter((file) => !likely.includes(file)); ; ) {
      const file = await firstToFail(copy, others)
      if (file === undefined) return undefined
      mend()
      if ((await passes(copy, file)).passed) return file
      sabotage() // that one fails anyway, and proves nothing
      others = others.slice(others.indexOf(file) + 1)
    }
  } finally {
    mend()
  }
}

/** An error of types in some file stops nothing: each test that counts here has to pass without a mutant first. */
function compile(folder) {
  const copy = join(folder, 'copy-0')
  mkdirSync(copy)
  const compiler = [packageProgram('typescript', 'bin/tsc'), '-p', 'tsconfig.json', '--noEmitOnError', 'false']
  const { status } = spawnSync(execPath, [...compiler, '--outDir', copy], { cwd: projectRoot, stdio: 'inherit' })
  if (status !== 0) stdout.write('there are errors of types; `npm run types` shows them\n')
  cpSync(join(projectRoot, 'package.json'), join(folder, 'package.json'))
  for (let n = 1; n < AT_ONCE; n++) cpSync(copy, join(folder, `copy-${n}`), { recursive: true })
  for (let n = 0; n < AT_ONCE; n++) {
    symlinkSync(join(projectRoot, 'node_modules'), join(folder, `copy-${n}`, 'node_modules'))
    cpSync(join(projectRoot, 'package.json'), join(folder, `copy-${n}`, 'package.json'))
  }
}

/** Works through items, so many at a time, each worker with its own copy. */
async function inCopies(folder, items, work) {
  const waiting = items.values()
  const worker = async (copy) => {
    for (const item of waiting) await work(copy, item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => worker(join(folder, `copy-${n}`))))
}

async function main(names) {
  const mutants = MUTANTS.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)))
  for (const mutant of MUTANTS) mutated(readFileSync(join(projectRoot, mutant.file), 'utf8'), mutant)
  const folder = mkdtempSync(join(tmpdir(), 'asr-mutants-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => exit(130))
  compile(folder)
  const copy = join(folder, 'copy-0')
  const all = filesBelow(copy, 'test', /\.test\.js$/)

  const likely = new Set(mutants.flatMap(({ tests }) => testFiles(copy, tests)))
  const broken = []
  await inCopies(folder, [...likely], async (place, file) => {
    if (!(await passes(place, file)).passed) broken.push(file)
  })
  if (broken.length > 0) throw new Error(`these fail without any mutant, so they prove nothing: ${broken.join(', ')}`)

  let survivors = 0
  await inCopies(folder, mutants, async (place, mutant) => {
    const started = performance.now()
    const by = await killer(place, mutant, all)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    if (by === undefined) survivors++
    stdout.write(
      `${by === undefined ? 'SURVIVED' : 'killed  '} ${mutant.name}${by ? `  by ${by}` : ''}  ${seconds} s\n`,
    )
  })
  stdout.write(`${mutants.length - survivors} of ${mutants.length} mutants killed\n`)
  if (survivors > 0 || mutants.length === 0) process.exitCode = 1
}

if (isProgram(import.meta)) await main(argv.slice(2))
