/**
 * Battery 11 and 12 for a real process: the system fails its N-th write, sync, open, rename, cut or removal, once and for good,
 * by `strace -e inject`. And kill -9 right at the N-th.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AsrRecord, openStore } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { tempFolder } from '../support/temp.js'
import { cases, figure, type Random } from './battery.js'
import { framesIn } from './damage.js'
import { type Image, imageOf, putDown } from './folder.js'
import { hasStrace, testWhere } from './machine.js'
import { matchAppends } from './promises.js'
import type { Append } from './written.js'

const CHILD = fileURLToPath(new URL('./syscalls-child.js', import.meta.url))

/** What an append may come to; `tried` when the process ended before it was answered. */
const OURS = /^(ok|tried|ASR_(IN_DOUBT|POISONED|IO|NO_SPACE|READ_ONLY|STREAM_NOT_FOUND|FENCED))$/

const traced = testWhere(hasStrace, 'strace is not there, or may not trace; the faulty storage does it everywhere')

/** Of each, how many the child makes on a thread at most, behind Node's own start. */
const CALLS: { [call: string]: number } = {
  write: 24,
  fdatasync: 17,
  fsync: 4,
  openat: 60,
  rename: 5,
  ftruncate: 1,
  unlink: 6,
  mkdir: 3,
}

interface Outcome {
  /** what came of each append, as the child says; `tried` where it says no more */
  appends: { id: string; code: string }[]
  ended: string
}

const top = hasStrace ? tempFolder() : ''
const place = { folder: join(top, 'store'), log: join(top, 'log') }

function run(options: string[], from: number, durability: string): Outcome {
  writeFileSync(place.log, '')
  const child = [process.execPath, CHILD, place.folder, place.log, durability, String(from)]
  const limits = { stdio: 'ignore', timeout: 20_000, killSignal: 'SIGKILL' } as const
  const { status, signal } = spawnSync('strace', ['-f', ...options, ...child], limits)
  const lines = readFileSync(place.log, 'utf8').split('\n')
  const said = lines
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as { id?: string; code: string })
  const appends = new Map<string, string>()
  for (const { id, code } of said) if (id !== undefined) appends.set(id, code)
  return {
    appends: [...appends].map(([id, code]) => ({ id, code })),
    ended: said.find(({ id }) => id === undefined)?.code ?? signal ?? `exit code ${status}`,
  }
}

/** How often Node makes a call on its main thread before the child begins: it opens all the modules there. */
function callsBefore(): Map<string, number> {
  const file = join(top, 'trace')
  run(['-o', file, '-e', `trace=${Object.keys(CALLS).join()}`], 0, 'process')
  const [begin, ...lines] = readFileSync(file, 'utf8').split('\n')
  const thread = begin.split(' ')[0]
  const calls = new Map<string, number>()
  for (const line of [begin, ...lines]) {
    const [, id, call] = /^(\d+) +(\w+)\(/.exec(line) ?? []
    if (id === thread) calls.set(call, (calls.get(call) ?? 0) + 1)
    if (line.includes(`"${place.log}"`)) return calls
  }
  return assert.unreachable('the child opens its log') as never
}

/** A store of ten records whose writer died within the eleventh. */
function torn(): Image {
  const { appends } = run(['-o', '/dev/null', '-e', `inject=write:error=EIO:when=500`], 0, 'process')
  assert.is(appends.length, 16)
  const image = imageOf(place.folder)
  const name = [...image.keys()].find((file) => file.startsWith('streams/'))!
  const bytes = image.get(name)!
  const { at } = framesIn(name, bytes).find(({ pos }) => pos === 11)!
  const log: [string, Uint8Array] = [name, bytes.subarray(0, at + 40)]
  return new Map([...[...image].filter(([file]) => !file.startsWith('index/')), log])
}

const before = hasStrace ? callsBefore() : new Map<string, number>()
const images: Image[] = hasStrace ? [new Map(), torn()] : []

/** A call of the child, by its number; with few of them it may be one of level's threads. */
function anyCall(random: Random): { call: string; number: number } {
  const call = random.pick(Object.keys(CALLS))
  return { call, number: (random.chance(0.8) ? (before.get(call) ?? 0) : 0) + 1 + random.below(CALLS[call]) }
}

/** Begins with an empty folder, or with one that has a torn tail; all that was acknowledged is there, in order, what failed is there or not. */
async function meets(n: number, options: string[], random: Random): Promise<Outcome> {
  const kept = n % 2 === 0 ? 0 : 10
  putDown(images[n % 2], place.folder)
  const outcome = run(['-o', '/dev/null', ...options], kept, random.pick(['process', 'disk']))
  const appends: Append[] = [
    ...Array.from({ length: kept }, (_, i): Append => ({ records: [recordOf(i)], promised: 'committed' })),
    ...outcome.appends.map(
      ({ id, code }): Append => ({
        records: [{ type: 'message', id }],
        promised: code === 'ok' ? 'committed' : 'tried',
      }),
    ),
  ]
  const store = await openStore(place.folder)
  try {
    const stream = await store.stream('s').catch(() => undefined)
    matchAppends(stream === undefined ? [] : await collect(stream.records()), { sessionId: 's', appends }, 'nothing')
    assert.is((await store.verify()).ok, true)
    if (stream !== undefined) await stream.append({ type: 'message', id: 'after' })
  } finally {
    await store.close()
  }
  return outcome
}

function recordOf(n: number): AsrRecord {
  return { type: 'message', id: `m${n}` }
}

traced(
  'a system call of a writer fails, once or for good: codes of ours, nothing acknowledged lost, the next opening works',
  async () => {
    await cases('failing system calls', figure(32, 3_000), async (n, random, tally) => {
      const { call, number } = anyCall(random)
      const code = random.pick(['EIO', call === 'rename' || call === 'unlink' ? 'EROFS' : 'ENOSPC'])
      const what = `inject=${call}:error=${code}:when=${number}${random.chance(0.5) ? '+' : ''}`
      const { appends, ended } = await meets(n, ['-e', what], random)
      for (const { code: answer } of appends) assert.match(answer, OURS, `${what}: ${answer}`)
      assert.not.match(ended, /^raw/, what)
      const isMet = ended !== 'ok' || appends.some(({ code: answer }) => answer !== 'ok')
      tally.add(isMet ? `${call} met` : 'without effect')
    })
  },
)

traced(
  'kill -9 right at a system call of a store’s making, writing and closing: the next opening finds all that was promised',
  async () => {
    await cases('kills at system calls', figure(16, 3_000), async (n, random, tally) => {
      const { call, number } = anyCall(random)
      const { ended } = await meets(n, ['-e', `inject=${call}:signal=SIGKILL:when=${number}`], random)
      tally.add(ended === 'SIGKILL' ? 'killed' : 'ended before')
    })
  },
)

test.run()
