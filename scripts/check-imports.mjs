/** Holds the order of the folders of src/: data flows down, and only named places may use Node. */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { stdout } from 'node:process'
import { filesBelow, isProgram, projectRoot } from './project.mjs'
import { bareCode, importsOf } from './source-text.mjs'

/** A folder imports from itself and from those before it. */
export const FOLDERS = [
  'record',
  'log',
  'index',
  'heads',
  'supersede',
  'context-view',
  'store',
  'jsonl',
  'acp',
  'asp',
  'link',
  'cli',
]

const MAIN = 'src/main.ts'
const NODE_FILES = /^src\/(?:cli|link)\/|^src\/(?:log|store)\/node-[^/]*\.ts$/
/** `setImmediate` may be asked for, as a member of what there is. */
const NODE_GLOBALS = /\b(?:Buffer|__dirname|__filename)\b|(?<!\.)\bsetImmediate\b(?!\?)|\bprocess\.|\brequire\(/

/** The folder of src/ that a path is in; undefined directly in src/ or outside of it. */
function folderOf(path) {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

function importProblem(path, { name, typeOnly }) {
  if (name.startsWith('node:')) {
    return typeOnly || NODE_FILES.test(path) ? undefined : `imports ${name}: this file must run in a browser`
  }
  if (!name.startsWith('.')) return undefined
  const target = posix.join(posix.dirname(path), name).replace(/\.js$/, '.ts')
  const from = folderOf(path)
  if (target === MAIN) return from === 'cli' ? undefined : 'imports src/main.ts: only src/cli may'
  if (path === MAIN) return undefined
  const to = folderOf(target)
  if (!FOLDERS.includes(to)) return `imports ${name}: not in a folder of src/ that is known`
  if (FOLDERS.indexOf(to) > FOLDERS.indexOf(from)) return `imports ${name}: ${from} stands before ${to}`
  return undefined
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
