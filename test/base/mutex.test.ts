import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KeyedMutex, Mutex } from '../../src/base/mutex.js'

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('one at a time, in the order of asking, however long each takes', async () => {
  const mutex = new Mutex()
  const events: string[] = []
  const work = (name: string, ms: number) => async () => {
    events.push(`${name} begins`)
    await later(ms)
    events.push(`${name} ends`)
    return name
  }
  const results = await Promise.all([mutex.run(work('a', 20)), mutex.run(work('b', 0)), mutex.run(work('c', 5))])
  assert.equal(results, ['a', 'b', 'c'])
  assert.equal(events, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('a failure is its caller’s alone, whether it is thrown or rejected', async () => {
  const mutex = new Mutex()
  const thrower = () => {
    throw new Error('thrown')
  }
  assert.throws(() => mutex.run(thrower), 'thrown')
  const failing = [mutex.run(() => Promise.reject(new Error('rejected'))), mutex.run(thrower)]
  const after = mutex.run(() => 'done')
  const outcomes = await Promise.allSettled(failing)
  assert.equal(
    outcomes.map((one) => one.status === 'rejected' && (one.reason as Error).message),
    ['rejected', 'thrown'],
  )
  assert.is(await after, 'done')
})

test('what is asked for inside waits until the one that asks has ended', async () => {
  const mutex = new Mutex()
  const events: string[] = []
  let inner: unknown
  await mutex.run(async () => {
    inner = mutex.run(() => void events.push('inner'))
    await later(5)
    events.push('outer')
  })
  await inner
  assert.equal(events, ['outer', 'inner'])
})

test('work that nobody holds up is done at once, also what it asks for behind itself', async () => {
  const mutex = new Mutex()
  assert.is(
    mutex.run(() => 'at once'),
    'at once',
  )
  const events: string[] = []
  let inner: unknown
  void mutex.run(() => {
    inner = mutex.run(() => void events.push('inner'))
    events.push('outer')
  })
  assert.equal(events, ['outer'])
  await inner
  assert.equal(events, ['outer', 'inner'])
  assert.is(
    mutex.run(() => 1),
    1,
  )
})

test('of one key one at a time, of different keys all at once, and idle when none is held', async () => {
  const mutex = new KeyedMutex()
  const events: string[] = []
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const first = mutex.run('a', async () => {
    await gate
    events.push('a')
  })
  const second = mutex.run('a', () => void events.push('a again'))
  await mutex.run('b', () => void events.push('b'))
  let isIdle = false
  const idle = mutex.idle().then(() => {
    isIdle = true
  })
  assert.equal([events, isIdle], [['b'], false])
  open()
  await Promise.all([first, second, idle])
  assert.equal(events, ['b', 'a', 'a again'])
  await mutex.idle()
})

test.run()
