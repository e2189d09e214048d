/**
 * A20: after a reconnect only the newer part of what was missed comes, or numbers begin anew.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Stream } from '../../src/main.js'
import { fails } from '../support/fails.js'
import { message } from '../support/records.js'
import { reopened, streamOf } from '../support/stores.js'

const records = Array.from({ length: 50 }, (_, index) => message(`m${index + 1}`))

/** The positions that a follower gets behind a cursor until it has caught up. */
async function behind(stream: Stream, after: number): Promise<number[]> {
  const stop = new AbortController()
  const positions: number[] = []
  for await (const item of stream.follow({ after, signal: stop.signal })) {
    if ('caughtUp' in item) break
    positions.push(item.pos)
  }
  return positions
}

test('A20: what was missed comes once, in order, complete, and then what is new', async () => {
  const { stream } = await streamOf(...records)
  assert.equal(await behind(stream, 40), [41, 42, 43, 44, 45, 46, 47, 48, 49, 50])
  assert.equal((await behind(stream, 0)).length, 50)
  assert.equal(await behind(stream, 50), [])
})

test('A20: positions go on after the store was opened again', async () => {
  const memory = await reopened(await streamOf(...records))
  await memory.stream.append(message('m51'))
  assert.equal(await behind(memory.stream, 49), [50, 51])
})

test('A20: a cursor ahead of the log, or that is none, is an error and not silence', async () => {
  const { stream } = await streamOf(...records)
  await fails('ASR_CURSOR_FUTURE', () => behind(stream, 900))
  await fails('ASR_BAD_VALUE', () => behind(stream, -1))
  await fails('ASR_BAD_VALUE', () => behind(stream, 'abc' as never))
})

test.run()
