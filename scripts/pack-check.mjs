/** Packs the project, installs the tarball in an empty folder, and uses library, types and command line from there. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, execPath, stdout } from 'node:process'
import { packageProgram, projectRoot, run } from './project.mjs'

/** The library example of the README is the program that has to work, and this is what it must say. */
const SAYS = ['{ first: 1, last: 2, appended: 2, duplicates: 0 }', "[ 'call-1' ]", 'message r1', 'tool_call r2', '1 []']
const STREAMS = ['imported', 'telegram:42']

const folder = mkdtempSync(join(tmpdir(), 'asr-pack-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** npm as this process was started by it, else the one on the path. */
function npm(args, options) {
  const program = env.npm_execpath
  return program === undefined ? run('npm', args, options) : run(execPath, [program, ...args], options)
}

const piped = { stdio: ['ignore', 'pipe', 'inherit'] }
const packed = JSON.parse(npm(['pack', '--json', '--silent', '--pack-destination', folder], piped))
const { filename, entryCount, size } = packed[0] ?? Object.values(packed)[0]
stdout.write(`${filename}: ${entryCount} files, ${size} bytes\n`)

const cwd = join(folder, 'user')
mkdirSync(cwd)
writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }))
npm(['install', '--silent', '--ignore-scripts', '--no-audit', '--no-fund', join(folder, filename)], { cwd })
const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(projectRoot, 'README.md'), 'utf8'))[1]
writeFileSync(join(cwd, 'example.ts'), example)
const options = '--strict --skipLibCheck --target es2022 --module nodenext --lib es2023,dom --types'
run(execPath, [packageProgram('typescript', 'bin/tsc'), ...options.split(' '), '', 'example.ts'], { cwd })
const said = run(execPath, ['example.js'], { cwd, ...piped })
for (const line of SAYS) if (!said.includes(line)) throw new Error(`the example does not say ${line} but\n${said}`)
stdout.write('the example of the README has its types, and runs on the installed library\n')

const conforms = `import { MemoryPlace } from 'asr-store'
import { logPlaceConformance } from 'asr-store/conformance'
for (const { run } of logPlaceConformance({ make: () => new MemoryPlace() })) await run()
`
writeFileSync(join(cwd, 'conforms.ts'), conforms)
run(execPath, [packageProgram('typescript', 'bin/tsc'), ...options.split(' '), '', 'conforms.ts'], { cwd })
run(execPath, ['conforms.js'], { cwd, ...piped })
stdout.write('the installed conformance suite has its types, and runs\n')
// The first example is the engine's. What speaks ACP is an entry of its own, with types and code.
const recorder = `import { createRecorder, type RecorderSummary } from 'asr-store/acp'
import { memoryLocation, openStore, type ErrorCode } from 'asr-store'
const store = await openStore(memoryLocation())
const summary: RecorderSummary = await createRecorder(store).stop()
const code: ErrorCode = 'ASR_LOCKED'
await store.close()
console.log(code, typeof summary)
`
writeFileSync(join(cwd, 'recorder.ts'), recorder)
run(execPath, [packageProgram('typescript', 'bin/tsc'), ...options.split(' '), '', 'recorder.ts'], { cwd })
const recorded = run(execPath, ['recorder.js'], { cwd, ...piped })
if (recorded.trim() !== 'ASR_LOCKED object') throw new Error(`asr-store/acp does not work: ${recorded}`)
stdout.write('asr-store/acp has its types, and runs on the installed library\n')

const asr = join(cwd, 'node_modules', '.bin', 'asr')
if (!run(asr, ['--help'], { cwd, ...piped }).includes('import'))
  throw new Error('asr --help does not name its commands')
const streams = JSON.parse(run(asr, ['ls', '--json', '--store', 'sessions'], { cwd, ...piped }))
const listed = streams.map(({ sessionId }) => sessionId).join()
if (listed !== STREAMS.join()) throw new Error(`the installed asr lists ${listed}`)
stdout.write('the installed command line reads its store\n')

// What these need is loaded only then.
run(asr, ['record', '--store', 'recorded', '--', execPath, '-e', '0'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
const initialize =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"n","version":"1"}}}\n'
const answer = run(asr, ['serve', '--store', 'sessions'], {
  cwd,
  input: initialize,
  stdio: ['pipe', 'pipe', 'inherit'],
})
if (JSON.parse(answer).result?.protocolVersion !== 2) throw new Error(`the installed asr serve answers ${answer}`)
const replayed = run(asr, ['replay', 'imported', '--store', 'sessions'], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
if (JSON.parse(replayed.split('\n')[0]).sessionId !== 'imported')
  throw new Error(`the installed asr replays ${replayed}`)
if (!run(asr, ['ls', '--store', 'sessions'], { cwd, ...piped }).includes('imported'))
  throw new Error('the installed asr ls makes no table')
stdout.write('the installed command line records, replays and serves\n')
