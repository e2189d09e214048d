/** Holds the order of the folders of src/: data flows down, and only named places may use Node. */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { stdout } from 'node:process'
import { filesBelow, isProgram, projectRoot } from './project.mjs'
import { bareCode, importsOf } from './source-text.mjs'

/** A folder imports from itself and from those before it. */
export const FOLDERS = [
  'base',
  'record',
  'jsonl',
  'log',
  'index',
  'heads',
  'supersede',
  'context-view',
  'stream',
  'store',
  'conformance',
  'acp',
  'asp',
  'link',
  'cli',
]

/** The rooms of a folder, in the same order. What lies directly in the folder uses all of them; its `api.ts` is there for all. */
export const ROOMS = {
  log: ['storage', 'format', 'files', 'memory'],
  index: ['keys'],
  stream: ['place', 'core', 'read', 'open'],
  store: ['import', 'removal', 'node'],
}

/** What a folder above the engine sees of it: what a user of the library could use, and what is loaded alone for a cold start. */
export const FACES = {
  acp: [/^(?:base|record|jsonl)\//, 'store/api.ts', 'stream/api.ts'],
  cli: [
    /^(?:base|record)\//,
    'main.ts',
    'acp/main.ts',
    'store/open.ts',
    ...['agent/api', 'agent/agent', 'replay/main', 'losses'].map((name) => `acp/${name}.ts`),
    'acp/recorder/recorder.ts',
    'acp/recorder/time.ts',
  ],
}
const MAIN = 'src/main.ts'
const NODE_FILES = /^src\/(?:cli|link)\/|^src\/store\/node\/|^src\/log\/storage\/node-[^/]*\.ts$/
/** `setImmediate` may be asked for, as a member of what there is. */
const NODE_GLOBALS = /\b(?:Buffer|__dirname|__filename)\b|(?<!\.)\bsetImmediate\b(?!\?)|\bprocess\.|\brequire\(/

/** The folder of src/ that a path is in; undefined directly in src/ or outside of it. */
function folderOf(path) {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

/** The room of a folder that a path is in: its number, rising; undefined where there are none. */
function roomOf(path) {
  const [, folder, rest] = /^src\/([^/]+)\/(.+)$/.exec(path)
  const rooms = ROOMS[folder]
  if (rooms === undefined || rest === 'api.ts') return -1
  const room = rest.includes('/') ? rooms.indexOf(rest.slice(0, rest.indexOf('/'))) : rooms.length
  return room === -1 ? undefined : room
}

function importProblem(path, { name, typeOnly }) {
  if (name.startsWith('node:')) {
    return typeOnly || NODE_FILES.test(path) ? undefined : `imports ${name}: this file must run in a browser`
  }
  if (!name.startsWith('.')) return undefined
  const target = posix.join(posix.dirname(path), name).replace(/\.js$/, '.ts')
  const from = folderOf(path)
  if (target === MAIN) return from === 'cli' ? undefined : 'imports src/main.ts: only src/cli may'
  const to = folderOf(target)
  if (!FOLDERS.includes(to)) return `imports ${name}: not in a folder of src/ that is known`
  if (path === MAIN) {
    return FOLDERS.indexOf(to) > FOLDERS.indexOf('store') ? `imports ${name}: it is the engine alone` : undefined
  }
  if (FOLDERS.indexOf(to) > FOLDERS.indexOf(from)) return `imports ${name}: ${from} stands before ${to}`
  if (to === from) return roomProblem(path, target, name)
  const seen = FACES[from] ?? [/./]
  const inside = target.slice('src/'.length)
  if (seen.some((one) => (typeof one === 'string' ? one === inside : one.test(inside)))) return undefined
  return `imports ${name}: ${from} does not reach into ${to}`
}

function roomProblem(path, target, name) {
  const [room, other] = [roomOf(path), roomOf(target)]
  if (room === undefined || other === undefined) return `imports ${name}: a room of ${folderOf(path)} that is not known`
  return other > room ? `imports ${name}: its room stands before that one` : undefined
}

/** What is wrong with modules given as `{ path, text }`, a sentence each. */
export function checkImports(files) {
  const problems = []
  for (const { path, text } of files) {
    if (path !== MAIN && !FOLDERS.includes(folderOf(path))) {
      problems.push(`${path}: not in a folder of src/ that is known`)
      continue
    }
    for (const imported of importsOf(text)) {
      const problem = importProblem(path, imported)
      if (problem !== undefined) problems.push(`${path}: ${problem}`)
    }
    const used = NODE_FILES.test(path) ? undefined : NODE_GLOBALS.exec(bareCode(text))?.[0]
    if (used !== undefined) problems.push(`${path}: uses ${used} of Node: this file must run in a browser`)
  }
  return problems
}

if (isProgram(import.meta)) {
  const files = filesBelow(projectRoot, 'src', /\.ts$/)
  const problems = checkImports(files.map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') })))
  stdout.write(`${[...problems, `${files.length} files of src/, ${problems.length} problems`].join('\n')}\n`)
  if (problems.length > 0 || files.length === 0) process.exitCode = 1
}
