/**
 * Coverage of what guards the data: src/log, src/index, src/stream and src/store, by those tests of `npm test` that are about them and take
 * no more than seconds. `npm run test:coverage`, with c8's own options behind, if any: `-- --reporter=html`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv, execPath } from 'node:process'
import { filesBelow, packageProgram, projectRoot, run } from './project.mjs'

const MEASURED = ['src/log/**', 'src/index/**', 'src/stream/**', 'src/store/**']
const TESTS = /^build\/test\/(cases|context-view|fault|heads|import|index|log|record|store|supersede)\/|\/crash\/locks/
/** Thousands of cases each, that reach no more lines than the others. */
const LONG = /\/fault\/(blocks|flipped|graph|power|syscalls|torn)/

const tests = filesBelow(projectRoot, 'build/test', /\.test\.js$/).filter(
  (file) => TESTS.test(file) && !LONG.test(file),
)
const folder = mkdtempSync(join(tmpdir(), 'asr-coverage-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const measured = MEASURED.flatMap((path) => ['--include', path])
const options = [
  '--exclude-after-remap',
  ...measured,
  '--temp-directory',
  folder,
  '--reporter',
  'text',
  ...argv.slice(2),
]
run(execPath, [packageProgram('c8', 'bin/c8.js'), ...options, execPath, 'scripts/run-tests.mjs', ...tests])
