/** Shows the command line at work: imports the sample session into a store of its own, and reads it back. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath, stdout } from 'node:process'
import { projectRoot } from './project.mjs'

const SESSION = 'sample/slugs'
const STEPS = [
  ['A session comes in as JSONL.', ['import', 'sample/session.asr.jsonl']],
  ['Two branches: the first answer was kept under the name "table".', ['heads', SESSION]],
  ['The active path: every record from the root to primary.', ['path', SESSION]],
  [
    'What the model sees next: the compaction, then what stands behind its extent, revised and without the tombstoned message.',
    ['context', SESSION],
  ],
  ['The other branch, as it was left.', ['context', SESSION, '--head', 'table']],
]

const store = mkdtempSync(join(tmpdir(), 'asr-demo-'))
process.on('exit', () => rmSync(store, { recursive: true, force: true }))
for (const [what, args] of STEPS) {
  stdout.write(`\n# ${what}\n$ asr ${args.join(' ')}\n`)
  const { status, error } = spawnSync(execPath, [join(projectRoot, 'dist/cli.cjs'), ...args], {
    cwd: projectRoot,
    env: { ...process.env, ASR_STORE: store },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}
