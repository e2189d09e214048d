/**
 * A replay is read as it is asked for: nobody is run ahead of, and a first update comes without a look at the rest.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { replay, type SessionUpdateParams, type UpdateFrame, writeReplay } from '../../../src/acp/replay/main.js'
import { type AsrRecord, memoryLocation, openStore } from '../../../src/main.js'
import { countingLog } from '../../support/logs.js'
import { call, header, message, result, text } from '../../support/records.js'
import { streamWith } from './support.js'

const RECORDS = 6_000

function turn(n: number): AsrRecord[] {
  const words = text(`${n} ${'word '.repeat(60)}`)
  return [message(`m${n}`, { content: words }), call(`a${n}`, `c${n}`), result(`b${n}`, `c${n}`, { content: words })]
}

test('the first update of a long stream, and each later one, are there when little of the log was read', async () => {
  const location = memoryLocation()
  const log = countingLog(location.log)
  const store = await openStore({ log, index: location.index })
  const stream = await store.createStream(header())
  await stream.append(Array.from({ length: RECORDS / 3 }, (_, n) => turn(n)).flat())
  log.bytesRead = 0
  const updates = replay(stream)[Symbol.asyncIterator]()
  await updates.next()
  const first = log.bytesRead
  for (let n = 0; n < 600; n++) await updates.next()
  const some = log.bytesRead
  let rest = 0
  while (!(await updates.next()).done) rest++
  assert.ok(rest > 3_000)
  assert.ok(first < log.bytesRead / 2, `${first} of ${log.bytesRead} bytes were read for the first`)
  assert.ok(some < log.bytesRead, `${some} of ${log.bytesRead} bytes were read for some`)
})

test('a call that never ends holds up what follows only for a while', async () => {
  const location = memoryLocation()
  const log = countingLog(location.log)
  const store = await openStore({ log, index: location.index })
  const stream = await store.createStream(header())
  await stream.append([call('a', 'open'), ...Array.from({ length: RECORDS / 3 }, (_, n) => turn(n)).flat()])
  log.bytesRead = 0
  const updates = replay(stream)[Symbol.asyncIterator]()
  assert.is((await updates.next()).value.update.toolCallId, 'open')
  const first = log.bytesRead
  while (!(await updates.next()).done);
  assert.ok(first < log.bytesRead / 2, `${first} of ${log.bytesRead} bytes were read for the first`)
})

test('a replay that is ended early reads no more', async () => {
  const stream = await streamWith(Array.from({ length: 50 }, (_, n) => message(`m${n}`)))
  const iterator = replay(stream)[Symbol.asyncIterator]()
  await iterator.next()
  await iterator.return?.()
  assert.is((await iterator.next()).done, true)
  for await (const { update } of replay(stream)) {
    assert.is(update.messageId, 'm0')
    break
  }
})

test('callers that do not wait for one another are served in turn', async () => {
  const stream = await streamWith(Array.from({ length: 40 }, (_, n) => message(`m${n}`)))
  const iterator = replay(stream)[Symbol.asyncIterator]()
  const all = await Promise.all(Array.from({ length: 43 }, () => iterator.next()))
  assert.equal(
    all.map(({ value }) => value?.update.messageId ?? value?.update.state),
    [...Array.from({ length: 40 }, (_, n) => `m${n}`), 'idle', undefined, undefined],
  )
})

async function* counted(
  updates: AsyncIterable<SessionUpdateParams>,
  count: { taken: number },
): AsyncGenerator<SessionUpdateParams> {
  for await (const params of updates) {
    count.taken++
    yield params
  }
}

test('writeReplay writes notifications, and takes none while the other side is not ready', async () => {
  const stream = await streamWith(Array.from({ length: 30 }, (_, n) => message(`m${n}`)))
  const count = { taken: 0 }
  const written: UpdateFrame[] = []
  const slow = new WritableStream<UpdateFrame>({
    async write(frame) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      written.push(frame)
      assert.ok(count.taken - written.length <= 2, `${count.taken} taken, ${written.length} written`)
    },
  })
  assert.is(await writeReplay(counted(replay(stream), count), slow), 31)
  assert.is(written.length, 31)
  const { update } = written[0].params
  assert.equal(written[0], { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } })
})

test('writeReplay ends when the other side fails, and at a signal', async () => {
  const stream = await streamWith(Array.from({ length: 30 }, (_, n) => message(`m${n}`)))
  const broken = new WritableStream<UpdateFrame>({
    write() {
      throw new Error('gone')
    },
  })
  assert.match((await writeReplay(replay(stream), broken).catch((error) => error)).message, 'gone')
  const signal = AbortSignal.abort(new Error('enough'))
  const error = await writeReplay(replay(stream), new WritableStream(), { signal }).catch((thrown) => thrown)
  assert.is(error.message, 'enough')
})

test.run()
