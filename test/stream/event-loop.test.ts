/**
 * Nothing holds the event loop: every iterable and every long call lets timers through while it works, and hears its signal.
 */
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareContextViews, createRecorder, losses, replay } from '../../src/acp/main.js'
import { type AsrRecord, openStore, type Store } from '../../src/main.js'
import { CPU_PER_TIMER_MAX, cpuPerTimer, heldBy } from '../support/event-loop.js'
import { fails } from '../support/fails.js'
import { header, message } from '../support/records.js'
import { tempFolder } from '../support/temp.js'

const RECORDS = 40_000

function recordAt(n: number): AsrRecord {
  if (n % 7 === 3) return { type: 'tool_call', id: `n${n}`, callId: `c${n}`, name: 'read' }
  if (n % 7 === 4) return { type: 'tool_result', id: `n${n}`, callId: `c${n - 1}`, status: 'completed' }
  if (n % 7 === 5) return { type: 'plan', id: `n${n}`, planId: `p${n % 2_000}`, entries: [] }
  return message(`n${n}`)
}

const folder = tempFolder()
const store = await openStore(join(folder, 'store'))
const stream = await store.createStream(header())
for (let n = 0; n < RECORDS; n += 500) await stream.append(Array.from({ length: 500 }, (_, i) => recordAt(n + i)))
const jsonl: Uint8Array[] = []
for await (const chunk of stream.exportJsonl()) jsonl.push(chunk)

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

async function times(count: number, call: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < count; n++) await call(n)
}

let places = 0
async function inFresh(use: (fresh: Store) => Promise<unknown>): Promise<void> {
  const fresh = await openStore(join(folder, `fresh-${places++}`))
  try {
    await use(fresh)
  } finally {
    await fresh.close()
  }
}

const CALLS: { [name: string]: () => Promise<unknown> } = {
  records: () => drain(stream.records()),
  'records of a type that there is none of': () => times(20, () => drain(stream.records({ types: ['none'] }))),
  'records, the last first': () => drain(stream.records({ reverse: true })),
  follow: async () => {
    for await (const step of stream.follow()) if ('caughtUp' in step) return
  },
  'path ids': async () => drain((await stream.activePath()).ids()),
  'path records': async () => drain((await stream.activePath()).records()),
  'path resolved': async () => drain((await stream.activePath()).resolved()),
  contextView: () => times(4, () => stream.contextView()),
  'view entries': async () => drain((await stream.contextView()).entries()),
  export: () => drain(stream.exportJsonl()),
  'export of what is intact': () => drain(stream.exportJsonl({ salvage: true })),
  streams: () => times(3_000, () => drain(store.streams())),
  replay: () => drain(replay(stream)),
  losses: () => losses(stream),
  compareContextViews: () => compareContextViews(stream, stream),
  verify: () => store.verify(),
  rebuildIndex: () => store.rebuildIndex(),
  importJsonl: () => inFresh((fresh) => fresh.importJsonl(jsonl)),
  'importJsonl of one piece': () => inFresh((fresh) => fresh.importJsonl([Buffer.concat(jsonl)])),
  'importJsonl of what is there': () => store.importJsonl(jsonl),
  'appends, one awaited after the other': () =>
    inFresh(async (fresh) => {
      const own = await fresh.createStream(header())
      await times(20_000, () => own.append({ type: 'message', role: 'user', content: [] }))
    }),
  'an append of many': () =>
    inFresh(async (fresh) => {
      const own = await fresh.createStream(header())
      await times(8, (n) => own.append(Array.from({ length: 2_000 }, (_, i) => message(`${n}-${i}`))))
    }),
  gets: () => times(20_000, (n) => stream.get(`n${n}`)),
  positions: () => times(20_000, (n) => stream.position(`n${n}`)),
  hashes: () => times(10_000, (n) => stream.hash(`n${n}`)),
  digests: () => times(50_000, () => stream.digest()),
  headers: () => times(20_000, () => stream.header()),
  entities: () => times(2_000, (n) => stream.entity('message', `n${n * 7}`)),
  'entities anywhere': () => times(2_000, (n) => stream.entity('plan', `p${n}`, { anywhere: true })),
  heads: () => times(30_000, () => stream.heads()),
  leaves: () => times(3_000, () => stream.leaves()),
  paths: () => times(10_000, () => stream.activePath()),
  'opening of a stream': () =>
    times(3, async () => {
      const reader = await openStore(join(folder, 'store'), { readOnly: true })
      await (await reader.stream('s')).get('n1')
      await reader.close()
    }),
  recording: () =>
    inFresh(async (fresh) => {
      const recorder = createRecorder(fresh, { keepWire: 'none' })
      const frame = (n: number) => ({
        jsonrpc: '2.0',
        method: 'session/update',
        params: {
          sessionId: 's',
          update: {
            sessionUpdate: 'agent_message_chunk',
            messageId: `m${n % 50}`,
            content: { type: 'text', text: `${n}` },
          },
        },
      })
      for (let n = 0; n < 5_000; n++) recorder.observe({ dir: 'a2c', frame: frame(n) })
      await recorder.stop()
    }),
}

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name}: timers come through`, async () => {
    const held = await heldBy(call)
    const each = cpuPerTimer(held)
    assert.ok(each <= CPU_PER_TIMER_MAX, `${each} ms of work to a timer (${JSON.stringify(held)})`)
  })
}

const HEARD: { [name: string]: (signal: AbortSignal) => Promise<unknown> } = {
  verify: (signal) => times(20, () => store.verify({ signal })),
  rebuildIndex: (signal) => times(20, () => store.rebuildIndex({ signal })),
  importJsonl: (signal) => times(20, () => inFresh((fresh) => fresh.importJsonl(jsonl, { signal }))),
  compareContextViews: (signal) => times(20, () => compareContextViews(stream, stream, { signal })),
}

for (const [name, call] of Object.entries(HEARD)) {
  test(`${name}: AbortSignal.timeout is heard`, async () => {
    await fails('ASR_ABORTED', () => call(AbortSignal.timeout(50)))
  })
}

test('follow: AbortSignal.timeout is heard among the records that are there', async () => {
  const signal = AbortSignal.timeout(50)
  for (let n = 0; n < 50 && !signal.aborted; n++) {
    for await (const step of stream.follow({ signal })) if ('caughtUp' in step) break
  }
  assert.ok(signal.aborted)
})

test('a long call beside another gets its share', async () => {
  const other = await store.createStream(header('other'))
  let appended = 0
  let isDone = false
  const reading = drain(stream.records()).finally(() => {
    isDone = true
  })
  while (!isDone) {
    await other.append({ type: 'message' })
    appended++
  }
  await reading
  assert.ok(appended > 100, `${appended} appends beside a scan`)
})

test.after(() => store.close())

test.run()
