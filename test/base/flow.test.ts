import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Flow, runFlow, wait } from '../../src/base/flow.js'

function* sum(...values: (number | Promise<number>)[]): Flow<number> {
  let total = 0
  for (const value of values) total += yield* wait(value)
  return total
}

function* guarded(value: Promise<number>): Flow<number | string> {
  try {
    return yield* wait(value)
  } catch (error) {
    return (error as Error).message
  }
}

test('an answer that waits for nothing is there at once', () => {
  assert.is(runFlow(sum(1, 2, 3)), 6)
})

test('an answer that waits is a promise of it', async () => {
  const asked = runFlow(sum(1, Promise.resolve(2), 3, Promise.resolve(4)))
  assert.instance(asked, Promise)
  assert.is(await asked, 10)
})

test('a question hears of what failed, and can answer nevertheless', async () => {
  assert.is(await runFlow(guarded(Promise.reject(new Error('no')))), 'no')
})

test('what a question does not catch rejects its answer, and is thrown where nothing is waited for', async () => {
  const failing = async () => runFlow(sum(1, Promise.reject(new Error('no'))))
  await failing().then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'no'),
  )
  // biome-ignore lint/correctness/useYield: it fails before it has anything to wait for
  function* broken(): Flow<number> {
    throw new Error('at once')
  }
  assert.throws(() => runFlow(broken()), 'at once')
})

test('a promise of undefined is waited for like any other', async () => {
  function* nothing(): Flow<string> {
    const value = yield* wait(Promise.resolve(undefined))
    return String(value)
  }
  assert.is(await runFlow(nothing()), 'undefined')
})

test.run()
