/**
 * Battery 16 to 18: a second open in the same process, in a thread, in another process, in every order; holders that are killed;
 * locks of the dead, of a reused pid, deleted while held. One writer at a time, and it is told before it promises anything more.
 */

import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore, type Store } from '../../src/main.js'
import { processIdentity } from '../../src/store/node/process-identity.js'
import type { StreamStore } from '../../src/store/store.js'
import { cases, figure } from '../fault/battery.js'
import { lockOf } from '../fault/folder.js'
import { holdsPromises } from '../fault/promises.js'
import { written } from '../fault/written.js'
import { fails } from '../support/fails.js'
import { storageOf } from '../support/place.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import type { Answer, Told } from './opener.js'

const OPENER = new URL('./opener.js', import.meta.url)
const KILLED = new URL('./killed-opener.js', import.meta.url)
/** It takes milliseconds; but other tests run beside. */
const SOON_MS = 10_000
const ROUNDS = figure(20, 200)

interface Other {
  pid: number | undefined
  tell(step: Told['step']): Promise<Answer>
  kill(): Promise<void>
}

const others: Other[] = []

function inProcess(folder: string): Other {
  const child: ChildProcess = fork(OPENER)
  const other = {
    pid: child.pid,
    tell: async (step: Told['step']) => {
      child.send({ step, folder })
      return (await once(child, 'message'))[0] as Answer
    },
    kill: async () => {
      if (!child.kill('SIGKILL')) return
      await once(child, 'exit')
    },
  }
  others.push(other)
  return other
}

function inThread(folder: string): Other {
  const worker = new Worker(OPENER)
  const other = {
    pid: process.pid,
    tell: async (step: Told['step']) => {
      worker.postMessage({ step, folder })
      return (await once(worker, 'message'))[0] as Answer
    },
    kill: async () => {
      await worker.terminate()
    },
  }
  others.push(other)
  return other
}

async function made(): Promise<{ folder: string; store: Store }> {
  const folder = join(tempFolder(), 'store')
  const store = await openStore(folder)
  await store.createStream(header('s'))
  return { folder, store }
}

async function soon<T>(call: () => Promise<T>): Promise<T> {
  const started = performance.now()
  const answer = await call()
  assert.ok(performance.now() - started < SOON_MS * figure(1, 3), `took ${performance.now() - started} ms`)
  return answer
}

test.after(async () => {
  for (const other of others) await other.kill()
})

test('a second opener in this process, in a thread and in another process is refused, again and again, and the first goes on', async () => {
  const { folder, store } = await made()
  const stream = await store.stream('s')
  const [thread, process_] = [inThread(folder), inProcess(folder)]
  let acknowledged = 0
  await cases('second openers', ROUNDS, async (_, random) => {
    // A refused try in the same process must not take the kernel's lock from the holder.
    const tries = [() => here(folder), () => thread.tell('open'), () => process_.tell('open')]
    for (let i = 0; i < 4; i++) {
      const answer = await soon(random.pick(tries))
      assert.is(answer.outcome, 'ASR_LOCKED')
      assert.match(answer.holder ?? '', `process ${process.pid} `)
    }
    assert.is((await process_.tell('open')).outcome, 'ASR_LOCKED', 'another process, last')
    assert.is((await stream.append({ type: 'message' })).last, ++acknowledged)
  })
  await store.close()
  assert.is((await process_.tell('open')).outcome, 'ok', 'once it is free')
  await fails('ASR_LOCKED', () => openStore(folder))
  assert.is((await process_.tell('append')).outcome, 'ok')
  assert.is((await process_.tell('close')).outcome, 'ok')
  const again = await openStore(folder)
  await holdsPromises(again, [
    written(
      's',
      Array.from({ length: acknowledged + 1 }, () => ({ type: 'message' })),
    ),
  ])
  await again.close()
})

async function here(folder: string): Promise<Answer> {
  const error = await fails('ASR_LOCKED', () => openStore(folder))
  return { outcome: error.code, holder: error.holder }
}

test('a holder in a thread refuses this process and others; when the thread is ended the store is free', async () => {
  const folder = join(tempFolder(), 'store')
  await cases('holders in threads', figure(6, 60), async (n) => {
    const thread = inThread(folder)
    assert.is((await thread.tell('open')).outcome, 'ok')
    const process_ = inProcess(folder)
    assert.is((await here(folder)).outcome, 'ASR_LOCKED')
    assert.is((await process_.tell('open')).outcome, 'ASR_LOCKED')
    if (n % 2 === 0) await thread.kill()
    else assert.is((await thread.tell('close')).outcome, 'ok')
    const answer = await process_.tell('open')
    assert.is(answer.outcome, 'ok', 'the kernel’s lock went with the thread')
    await process_.tell('close')
    await Promise.all([thread.kill(), process_.kill()])
    await (await openStore(folder)).close()
  })
})

test('a holder that is killed is followed at once, and no other before', async () => {
  const { folder, store } = await made()
  await store.close()
  let written_ = 0
  await cases('killed holders', figure(10, 200), async () => {
    const [holder, heir] = [inProcess(folder), inProcess(folder)]
    assert.is((await holder.tell('open')).outcome, 'ok')
    assert.is((await holder.tell('append')).outcome, 'ok')
    written_++
    const refused = await soon(() => heir.tell('open'))
    assert.is(refused.outcome, 'ASR_LOCKED')
    assert.match(refused.holder ?? '', `process ${holder.pid} `)
    await holder.kill()
    assert.is((await soon(() => heir.tell('open'))).outcome, 'ok')
    assert.is((await heir.tell('append')).outcome, 'ok')
    written_++
    await heir.tell('close')
    await heir.kill()
  })
  const again = await openStore(folder)
  assert.is((await again.stream('s')).length, written_)
  await again.close()
})

/** An opener that is killed right before its n-th change of a file, or says how it went when it makes fewer. */
function openerKilledAt(n: number, folder: string): string {
  const args = [fileURLToPath(KILLED), folder, String(n), join(tempFolder(), 'elsewhere')]
  const { stdout, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.ok(signal === 'SIGKILL' || stdout !== '', stderr)
  return signal === 'SIGKILL' ? 'killed' : stdout
}

test('a refused opener that is killed, at whichever step, leaves the store to its holder', async () => {
  const { folder, store } = await made()
  await store.close()
  const holder = inProcess(folder)
  assert.is((await holder.tell('open')).outcome, 'ok')
  let acknowledged = 0
  const counts = await cases('refused openers killed', 16, async (n, _random, tally) => {
    const outcome = openerKilledAt(n + 1, folder)
    tally.add(outcome)
    assert.match(outcome, /^(killed|ASR_LOCKED)$/)
    assert.not(readdirSync(folder).includes('index.opening'), 'no mark')
    assert.not(readdirSync(folder).includes('index.damaged'), 'nothing is put aside')
    assert.is((await here(folder)).outcome, 'ASR_LOCKED')
    assert.is((await holder.tell('append')).outcome, 'ok', 'and the holder is not fenced')
    acknowledged++
  })
  assert.ok(counts.get('killed') > 3)
  assert.ok(counts.get('ASR_LOCKED') > 0, 'the last ones live through all their steps')
  await holder.kill()
  const again = await openStore(folder)
  assert.is((await again.stream('s')).length, acknowledged)
  assert.equal(again.notices, [])
  await again.close()
})

test('the mark of an opener that died says nothing while the store is held, whoever left it', async () => {
  const { folder, store } = await made()
  await store.close()
  const holder = inProcess(folder)
  assert.is((await holder.tell('open')).outcome, 'ok')
  const dead = spawnSync(process.execPath, ['-e', '']).pid
  for (let n = 1; n <= 5; n++) {
    writeFileSync(join(folder, 'index.opening'), JSON.stringify({ ...processIdentity(), pid: dead }))
    assert.is((await here(folder)).outcome, 'ASR_LOCKED')
    assert.is((await inProcess(folder).tell('open')).outcome, 'ASR_LOCKED')
    assert.is((await holder.tell('append')).outcome, 'ok')
  }
  assert.is((await holder.tell('close')).outcome, 'ok')
  const again = await openStore(folder)
  assert.is((await again.stream('s')).length, 5)
  assert.is((await again.verify()).ok, true)
  await again.close()
})

test('an opener that is killed while it puts a damaged index aside, at whichever step: the next one opens all', async () => {
  const { folder, store } = await made()
  await (await store.stream('s')).append([{ type: 'message' }, { type: 'message' }])
  await store.close()
  const damage = (): void => {
    for (const name of readdirSync(join(folder, 'index')))
      if (name.startsWith('MANIFEST')) truncateSync(join(folder, 'index', name), 3)
  }
  const everyNth = figure(3, 1)
  const counts = await cases('openers killed beside a damaged index', 60 / everyNth, async (n, _random, tally) => {
    damage()
    const outcome = openerKilledAt(1 + n * everyNth, folder)
    tally.add(outcome)
    assert.match(outcome, /^(killed|ok)$/)
    const again = await openStore(folder)
    assert.is((await again.stream('s')).length, 2)
    assert.is((await again.verify()).ok, true)
    await again.close()
    const left = readdirSync(folder).filter((name) => name.startsWith('LOCK') || name === 'index.opening')
    assert.equal(left, [])
  })
  assert.ok(counts.get('killed') > 10)
  assert.ok(counts.get('ok') > 0, 'the last ones live through all their steps')
})

test('a holder that finds its index broken puts it aside only while nobody else has it', async () => {
  const { folder, store } = await made()
  const { environment } = store as StreamStore
  environment.isLevelBroken = true
  const { level } = environment
  const close = level.close.bind(level)
  const heir = inProcess(folder)
  level.close = async () => {
    await close()
    assert.is((await heir.tell('open')).outcome, 'ok', 'the moment that the lock is free')
  }
  await store.close()
  assert.is((await heir.tell('append')).outcome, 'ok', 'the heir’s index is not taken away')
  assert.not(readdirSync(folder).includes('index.damaged'))
  assert.is((await here(folder)).outcome, 'ASR_LOCKED')
  assert.is((await heir.tell('close')).outcome, 'ok')
})

test('a LOCK that is lost between a write and its acknowledgement: ASR_FENCED, and the write is in doubt', async () => {
  for (const durability of ['process', 'disk'] as const) {
    for (const lost of ['deleted', 'replaced'] as const) {
      const { folder, store } = await made()
      await store.close()
      const holder = await openStore(folder, { durability })
      const stream = await holder.stream('s')
      await stream.append({ type: 'message', id: 'a' })
      const storage = storageOf(holder)
      const { append } = storage
      storage.append = (name, bytes) => {
        const size = append(name, bytes)
        unlinkSync(join(folder, 'LOCK'))
        if (lost === 'replaced') writeFileSync(join(folder, 'LOCK'), lockOf('some boot'))
        return size
      }
      await fails('ASR_FENCED', () => stream.append({ type: 'message', id: 'b' }))
      storage.append = append
      await fails('ASR_FENCED', () => stream.append({ type: 'message', id: 'b' }))
      await fails('ASR_FENCED', () => stream.append({ type: 'message', id: 'a' }))
      await fails('ASR_FENCED', () => holder.deleteStream('s'))
      await holder.close().catch(() => undefined)
      const again = await openStore(folder)
      const { appended, duplicates } = await (await again.stream('s')).append([
        { type: 'message', id: 'a' },
        { type: 'message', id: 'b' },
      ])
      assert.is(appended + duplicates, 2, 'a retry settles it')
      assert.is((await again.verify()).ok, true)
      await again.close()
    }
  }
})

test('of many that open a free store at the same time one gets it', async () => {
  const folder = join(tempFolder(), 'store')
  await cases('races for a store', figure(8, 100), async (n) => {
    if (n % 4 === 0) rmSync(folder, { recursive: true, force: true }) // also for one that is made in the race
    const racers = [inProcess(folder), inProcess(folder), inProcess(folder), inThread(folder)]
    const answers = await Promise.all([...racers.map((racer) => racer.tell('open')), openHere(folder)])
    const outcomes = answers.map(({ outcome }) => outcome).sort()
    assert.ok(outcomes.filter((outcome) => outcome === 'ok').length <= 1, outcomes.join())
    assert.ok(
      outcomes.every((outcome) => outcome === 'ok' || outcome === 'ASR_LOCKED'),
      outcomes.join(),
    )
    await Promise.all(racers.map((racer) => racer.tell('close')))
    await Promise.all(racers.map((racer) => racer.kill()))
  })
  await (await openStore(folder)).close()
})

async function openHere(folder: string): Promise<Answer> {
  try {
    const store = await openStore(folder)
    await store.close()
    return { outcome: 'ASR_LOCKED' } // it had it for a moment, and is out of the race
  } catch (error) {
    return { outcome: (error as { code: string }).code }
  }
}

test('a LOCK of a dead process, of a living one with its pid, of another boot, or of no sense at all blocks nobody', async () => {
  const { folder, store } = await made()
  await store.close()
  const locks = [
    lockOf('some boot'),
    lockOf('some boot').replace('4000000', String(process.pid)),
    lockOf('some boot').replace('4000000', '1'),
    '{}',
    'null',
    '',
    'x'.repeat(10_000),
    '{"pid":"1"}',
  ]
  for (const lock of locks) {
    writeFileSync(join(folder, 'LOCK'), lock)
    const again = await openStore(folder)
    assert.match(readFileSync(join(folder, 'LOCK'), 'utf8'), `"pid":${process.pid},`)
    assert.is((await again.verify()).ok, true)
    await again.close()
  }
})

test('a LOCK that is deleted or replaced while it is held: the holder is fenced before its next acknowledgement', async () => {
  await cases('lost locks', figure(12, 200), async (n) => {
    const { folder, store } = await made()
    const stream = await store.stream('s')
    await stream.append({ type: 'message' })
    const under = n % 3 === 0 ? stream.append({ type: 'message' }) : undefined
    unlinkSync(join(folder, 'LOCK'))
    if (n % 2 === 0) writeFileSync(join(folder, 'LOCK'), lockOf('some boot'))
    await under?.catch(() => undefined)
    for (const call of [
      () => stream.append({ type: 'message' }),
      () => stream.setHead('h', 'r1'),
      () => stream.reviseHeader({ title: 'x' }),
      () => store.createStream(header('new')),
      () => store.importJsonl([`${JSON.stringify(header('imported'))}\n{"type":"message"}\n`]),
    ]) {
      await fails('ASR_FENCED', call)
    }
    await store.close().catch(() => undefined)
    const again = await openStore(folder)
    assert.ok((await again.stream('s')).length <= 2)
    assert.is((await again.verify()).ok, true)
    await again.close()
  })
})

test('somebody else appends to a log that is held: the holder is fenced, and opens it again with care', async () => {
  const { folder, store } = await made()
  const stream = await store.stream('s')
  await stream.append({ type: 'message' })
  const log = join(folder, 'streams', readdirSync(join(folder, 'streams'))[0])
  appendFileSync(log, 'bytes of another')
  await fails('ASR_FENCED', () => stream.append({ type: 'message' }))
  await fails('ASR_POISONED', () => stream.append({ type: 'message' }))
  await store.close().catch(() => undefined)
  const again = await openStore(folder)
  const present = await (await again.stream('s').catch(() => undefined))?.get('r1')
  assert.is(present?.id, 'r1')
  await again.close()
})

test.run()
