/**
 * Who works long lets the event loop go round: told by a clock and a loop of the test's own.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { laterIn, SLICE_MS, Turns } from '../../src/base/turn.js'

/** A loop that turns when it is told to, and a clock that goes on when something is done. */
function bench() {
  let now = 1_000
  let looks = 0
  const queue: (() => void)[] = []
  const turns = new Turns(
    () => {
      looks++
      return now
    },
    (callback) => void queue.push(callback),
  )
  return {
    turns,
    work: (ms: number) => {
      now += ms
    },
    looks: () => looks,
    /** whether anything waits for the loop */
    isArmed: () => queue.length > 0,
    /** One turn of the loop, and all that it sets off. */
    turn: async () => {
      for (const callback of queue.splice(0)) {
        callback()
        await settled()
      }
    },
  }
}

async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await undefined
}

/** Works in steps until so much is done; how often the slice was found to be over. */
async function walk(turns: Turns, step: () => void, steps: number): Promise<number> {
  let waits = 0
  for (let n = 0; n < steps; n++) {
    if (turns.isOver()) {
      waits++
      await turns.next()
    }
    step()
  }
  return waits
}

test('short work is never interrupted, whatever it consists of', () => {
  const { turns, work } = bench()
  for (let n = 0; n < 100_000; n++) {
    assert.not(turns.isOver())
    work((SLICE_MS - 1) / 100_000)
  }
})

test('long work is interrupted by time spent, not by steps', async () => {
  for (const ms of [0.001, 0.01, 0.1]) {
    const { turns, work, turn } = bench()
    let done = false
    let longest = 0
    let since = 0
    const steps = Math.ceil(200 / ms)
    const walking = walk(
      turns,
      () => {
        work(ms)
        since += ms
        longest = Math.max(longest, since)
      },
      steps,
    ).then((waits) => {
      done = true
      return waits
    })
    let rounds = 0
    while (!done) {
      await settled()
      since = 0
      rounds++
      await turn()
    }
    const waits = await walking
    assert.ok(longest <= SLICE_MS + 20 * ms, `${longest} ms in one go, in steps of ${ms} ms`)
    assert.ok(waits >= 200 / SLICE_MS / 2 && waits <= 200 / SLICE_MS, `${waits} waits, in steps of ${ms} ms`)
    assert.ok(rounds >= waits)
  }
})

test('a large record behind many small ones is noticed at once', () => {
  const { turns, work } = bench()
  for (let n = 0; n < 1_000; n++) assert.not(turns.isOver())
  turns.spend(1_000_000)
  work(SLICE_MS)
  assert.ok(turns.isOver())
})

test('the clock is looked at seldom', () => {
  const { turns, looks } = bench()
  for (let n = 0; n < 16_000; n++) turns.isOver()
  assert.ok(looks() <= 1_001, `${looks()} looks`)
})

test('a slice that is over is over for all, until the loop has turned', async () => {
  const { turns, work, turn } = bench()
  turns.isOver()
  work(SLICE_MS)
  for (let n = 0; n < 100; n++) turns.isOver()
  assert.ok(turns.isOver())
  assert.ok(turns.isOver())
  await turn()
  assert.not(turns.isOver())
})

test('time that passed while nobody worked is nobody’s slice', async () => {
  const { turns, work, turn, isArmed } = bench()
  assert.not(turns.isOver())
  await turn()
  assert.not(isArmed(), 'the loop may come to rest')
  work(60_000)
  for (let n = 0; n < 100; n++) assert.not(turns.isOver())
})

test('those who wait get a slice each, in the order of asking, one a turn', async () => {
  const { turns, work, turn } = bench()
  const seen: string[] = []
  const worker = async (name: string): Promise<void> => {
    for (let n = 0; n < 3; n++) {
      await turns.next()
      seen.push(name)
      work(SLICE_MS)
    }
  }
  const all = Promise.all([worker('a'), worker('b'), worker('c')])
  for (let n = 1; n <= 9; n++) {
    await turn()
    assert.is(seen.length, n)
  }
  await all
  assert.is(seen.join(''), 'abcabcabc')
})

test('the loop of the host is let go round by what the host has', async () => {
  /** Node's own would keep the process. */
  class MessageChannel {
    readonly port1: { onmessage: (() => void) | null } = { onmessage: null }
    readonly port2 = { postMessage: () => setTimeout(() => this.port1.onmessage?.()) }
  }
  const hosts = [
    globalThis,
    { MessageChannel, setTimeout: () => assert.unreachable() },
    { setTimeout: (callback: () => void) => setTimeout(callback) },
  ]
  for (const host of hosts) {
    const later = laterIn(host as Parameters<typeof laterIn>[0])
    const order: string[] = []
    await new Promise<void>((resolve) => {
      later(() => order.push('first'))
      later(() => {
        order.push('second')
        resolve()
      })
      void Promise.resolve().then(() => order.push('microtask'))
    })
    assert.equal(order, ['microtask', 'first', 'second'])
  }
})

test.run()
