import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loadScript } from './load-script.js'

interface CheckImports {
  FOLDERS: string[]
  ROOMS: { [folder: string]: string[] }
  FACES: { [folder: string]: unknown[] }
  checkImports(files: { path: string; text: string }[]): string[]
}

const { FOLDERS, ROOMS, FACES, checkImports } = await loadScript<CheckImports>('check-imports.mjs')

function problemsOf(path: string, text: string): string[] {
  return checkImports([{ path, text }])
}

test('a folder may import itself and every folder before it, and what is above the engine only its face', () => {
  for (const [index, folder] of FOLDERS.entries()) {
    for (const [other, target] of FOLDERS.entries()) {
      const path = folder === target ? `./b.js` : `../${target}/api.js`
      const problems = problemsOf(`src/${folder}/a.ts`, `import { b } from '${path}'\n`)
      const isReached = FACES[folder] === undefined || folder === target || ['base', 'record'].includes(target)
      const isSeen = isReached || (folder === 'acp' && ['jsonl', 'stream', 'store'].includes(target))
      assert.is(problems.length, other <= index && isSeen ? 0 : 1, `${folder} imports ${target}`)
    }
  }
})

test('a room of a folder may import the rooms before it and the api, what lies beside the rooms all of them', () => {
  for (const [folder, rooms] of Object.entries(ROOMS)) {
    for (const [index, room] of rooms.entries()) {
      for (const [other, target] of rooms.entries()) {
        const problems = problemsOf(`src/${folder}/${room}/a.ts`, `import { b } from '../${target}/b.js'\n`)
        assert.is(problems.length, other > index ? 1 : 0, `${room} imports ${target}`)
      }
      assert.equal(problemsOf(`src/${folder}/${room}/a.ts`, "import type { B } from '../api.js'"), [])
      assert.is(problemsOf(`src/${folder}/${room}/a.ts`, "import { b } from '../b.js'").length, 1, room)
      assert.equal(problemsOf(`src/${folder}/a.ts`, `import { b } from './${room}/b.js'`), [])
      assert.is(problemsOf(`src/${folder}/api.ts`, `import { b } from './${room}/b.js'`).length, 1, room)
    }
    assert.is(problemsOf(`src/${folder}/unknown/a.ts`, "import { b } from '../b.js'").length, 1)
  }
})

test('an upward import is found however it is written', () => {
  const forms = [
    "import { a } from '../store/a.js'",
    "import type { A } from '../store/a.js'",
    "import {\n  a,\n  b,\n} from '../store/a.js'",
    "import '../store/a.js'",
    "export * from '../store/a.js'",
    "export { a } from '../store/a.js'",
    "export type { A } from '../store/a.js'",
    "const a = await import('../store/a.js')",
    "type A = import('../store/a.js').A",
    "/** About this file. */\nimport { x } from './x.js'\n\nimport { a } from '../store/a.js'",
  ]
  for (const form of forms) {
    assert.equal(
      problemsOf('src/heads/x.ts', form),
      ['src/heads/x.ts: imports ../store/a.js: heads stands before store'],
      form,
    )
  }
})

test('main may import the engine, and only the command line may import main', () => {
  for (const [index, folder] of FOLDERS.entries()) {
    const problems = problemsOf('src/main.ts', `export * from './${folder}/a.js'`)
    assert.is(problems.length, index <= FOLDERS.indexOf('store') ? 0 : 1, folder)
  }
  assert.equal(problemsOf('src/cli/main.ts', "import { openStore } from '../main.js'"), [])
  assert.is(problemsOf('src/jsonl/a.ts', "import { openStore } from '../main.js'").length, 1)
})

test('a file in an unknown folder, or beside main, is a problem', () => {
  assert.is(problemsOf('src/utils/a.ts', '').length, 1)
  assert.is(problemsOf('src/helper.ts', '').length, 1)
  assert.is(problemsOf('src/cli/a.ts', "import { a } from '../utils/a.js'").length, 1)
})

test('Node modules are imported only by cli, link and the Node files of log and store', () => {
  const text = "import { readFile } from 'node:fs/promises'"
  for (const path of ['src/cli/a.ts', 'src/link/a.ts', 'src/log/storage/node-files.ts', 'src/store/node/lock.ts']) {
    assert.equal(problemsOf(path, text), [], path)
  }
  for (const path of ['src/main.ts', 'src/log/files.ts', 'src/store/store.ts', 'src/index/node-files.ts']) {
    assert.is(problemsOf(path, text).length, 1, path)
  }
  assert.equal(
    problemsOf('src/log/files.ts', "type Zlib = typeof import('node:zlib')"),
    [],
    'types are gone at run time',
  )
})

test('Node globals are found in code, but not in comments and texts', () => {
  assert.is(problemsOf('src/log/a.ts', 'export const a = Buffer.alloc(1)').length, 1)
  assert.is(problemsOf('src/log/a.ts', 'export const a = (b: Buffer) => b').length, 1)
  assert.is(problemsOf('src/log/a.ts', 'export const a = process.env').length, 1)
  const harmless = [
    '// a Uint8Array, not a Buffer',
    '/* Buffer\n process.env */',
    "export const a = 'Buffer'",
    'export const b = `Buffer $' + '{1}`',
    'export const c = /[\'"Buffer]/',
    'export const d = new ArrayBuffer(1)',
  ]
  assert.equal(problemsOf('src/log/a.ts', harmless.join('\n')), [])
})

test.run()
