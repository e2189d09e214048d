import type { ChildProcess } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ended, filledStore, holder, outcome, RECORDS, run, said, start } from './helper.js'

async function append(writer: ChildProcess, record: object): Promise<void> {
  const appended = said(writer, 'appended')
  writer.stdin?.write(`${JSON.stringify(record)}\n`)
  await appended
}

test('asr log --follow shows what is there, then what another process appends, until Ctrl-C', async () => {
  const store = await filledStore()
  const writer = await holder(store)
  const follower = start(['log', 's1', '--from', '8', '--follow', '--json', '--store', store])
  const all = outcome(follower)
  await said(follower, '"r9"')
  const seen = said(follower, '"live"')
  await append(writer, { type: 'message', id: 'live', content: 'now' })
  await seen
  follower.kill('SIGINT')
  const { code, stdout, stderr } = await all
  await ended(writer)
  assert.equal([code, stderr], [0, ''])
  assert.equal(JSON.parse(stdout), [...RECORDS.slice(7), { type: 'message', id: 'live', content: 'now', seq: 10 }])
})

test('following from beyond the end is ASR_CURSOR_FUTURE', async () => {
  const store = await filledStore()
  const { code, stderr } = await run(['log', 's1', '--from', '100', '--follow', '--store', store])
  assert.is(code, 1)
  assert.match(stderr, 'asr: ASR_CURSOR_FUTURE: ')
})

test.run()
