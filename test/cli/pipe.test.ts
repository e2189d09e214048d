import type { ChildProcess } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { file, filledStore, HEADER, jsonl, run, start } from './helper.js'

const RECORDS = Array.from({ length: 20_000 }, (_, i) => ({ type: 'message', id: `r${i}`, content: 'x'.repeat(2_000) }))
const store = await filledStore(jsonl([HEADER, ...RECORDS]))

interface Ending {
  code: number | null
  stderr: string
}

/** Reads a first piece of what the child prints, then no more. */
function readLittle(child: ChildProcess): Promise<Ending> {
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdout?.once('data', () => child.stdout?.destroy())
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })))
}

test('a reader that closes the pipe ends a command early and without an error', async () => {
  for (const args of [
    ['log', 's1'],
    ['log', 's1', '--json'],
    ['log', 's1', '--follow', '--jsonl'],
    ['path', 's1', '--jsonl'],
    ['context', 's1', '--json'],
    ['export', 's1'],
  ]) {
    assert.equal(await readLittle(start([...args, '--store', store])), { code: 0, stderr: '' }, args.join(' '))
  }
})

test('Ctrl-C ends a listing with 130, also while nobody reads it', async () => {
  const child = start(['log', 's1', '--json', '--store', store])
  // The first piece is there, the pipe is full soon after.
  child.stdout?.once('readable', () => setTimeout(() => child.kill('SIGINT'), 300))
  const code = await new Promise((resolve) => child.once('exit', resolve))
  child.stdout?.destroy()
  assert.is(code, 130)
})

test('a closed pipe does not keep an import from the files that are left', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `t${i}`)
  const files = names.map((sessionId) => file(`${sessionId}.jsonl`, jsonl([{ ...HEADER, sessionId }])))
  assert.equal(await readLittle(start(['import', ...files, '--store', store])), { code: 0, stderr: '' })
  const listed = JSON.parse((await run(['ls', '--store', store, '--json'])).stdout)
  assert.equal(
    listed.map(({ sessionId }: { sessionId: string }) => sessionId),
    ['s1', ...names],
  )
})

test('records stream: 40 MB of them pass through a heap that could not hold them', async () => {
  const child = start(['log', 's1', '--json', '--store', store], {}, ['--max-old-space-size=24'])
  let bytes = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  assert.is(code, 0)
  assert.ok(bytes > 40_000_000)
})

test.run()
