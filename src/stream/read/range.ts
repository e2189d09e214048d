/**
 * Records in log order: ranges, and following a stream as it grows.
 */

import { nameOf } from '../../base/arguments.js'
import { AsrError } from '../../base/error.js'
import { Steps } from '../../base/steps.js'
import { counted } from '../../base/words.js'
import type { StoredRecord } from '../../record/record.js'
import type { Followed, RangeOptions } from '../api.js'
import type { StreamCore } from '../core/stream-core.js'
import { RecordIterator } from './record-iterator.js'
import { RecordReader } from './record-reader.js'

/** How often a reader looks whether another process has written. */
const POLL_MS = 100

/** Records of a range of positions; what came in after the first was asked for is not among them. */
export function rangeOf(core: StreamCore, options: RangeOptions = {}): AsyncIterable<StoredRecord> {
  const assertOpen = (): void => core.assertOpen()
  if (options.types !== undefined) return new Steps(ofTypes(core, options, new Set(options.types)), assertOpen)
  return new RecordIterator(
    new RecordReader(core),
    assertOpen,
    () => rangePositions(core, options),
    () => throwForMissing(core, options),
  )
}

async function* ofTypes(
  core: StreamCore,
  options: RangeOptions,
  types: ReadonlySet<string>,
): AsyncGenerator<StoredRecord> {
  const reader = new RecordReader(core)
  for (const pos of await rangePositions(core, options)) {
    if (types.has((await reader.pageAt(pos)).type(pos))) yield await reader.record(pos)
  }
  throwForMissing(core, options)
}

async function rangePositions(core: StreamCore, options: RangeOptions): Promise<IterableIterator<number>> {
  await core.refresh()
  const from = Math.max(1, options.from ?? 1)
  const to = Math.min(core.length, options.to ?? core.length)
  return options.reverse ? falling(to, from) : rising(from, to)
}

function* rising(from: number, to: number): Generator<number, void> {
  for (let pos = from; pos <= to; pos++) yield pos
}

function* falling(from: number, to: number): Generator<number, void> {
  for (let pos = from; pos >= to; pos--) yield pos
}

/** A range that ends before what the caller asked for is not passed off as whole (CORE-10). */
function throwForMissing(core: StreamCore, { to }: RangeOptions): void {
  if (core.damage !== undefined && (to === undefined || to > core.length)) throw core.damage
}

/** Each record behind a position once, in order: what is there, a word that all of it was shown, then what comes. */
export function follow(
  core: StreamCore,
  options: { after?: number; signal?: AbortSignal } = {},
): AsyncIterable<Followed> {
  return new Steps(followed(core, options), () => core.assertOpen())
}

async function* followed(
  core: StreamCore,
  options: { after?: number; signal?: AbortSignal },
): AsyncGenerator<Followed> {
  const { after = 0, signal } = options
  if (!Number.isSafeInteger(after) || after < 0) {
    throw new AsrError('ASR_BAD_VALUE', `a cursor is a position from 0, not ${nameOf(after)}`)
  }
  await core.refresh()
  if (after > core.length) {
    const message = `stream ${JSON.stringify(core.sessionId)} has ${counted(core.length, 'record')}, the cursor is at ${after}`
    throw new AsrError('ASR_CURSOR_FUTURE', message, { sessionId: core.sessionId, actual: core.length })
  }
  let pos = after
  let isCaughtUp = false
  const isAborted = (): boolean => signal?.aborted ?? false
  while (!isAborted()) {
    const reader = new RecordReader(core)
    for (const to = core.length; pos < to && !isAborted(); ) {
      const record = await reader.record(pos + 1)
      pos++
      yield { pos, record }
    }
    if (core.damage !== undefined) throw core.damage
    if (pos < core.length) continue
    if (!isCaughtUp) {
      isCaughtUp = true
      yield { caughtUp: true }
      if (pos < core.length) continue
    }
    if (!(await growth(core, pos, signal))) return
  }
}

/** Waits until the stream is longer than a position; false when the signal came. @throws ASR_CLOSED */
async function growth(core: StreamCore, pos: number, signal: AbortSignal | undefined): Promise<boolean> {
  while (core.length <= pos && signal?.aborted !== true) {
    await change(core, signal)
    core.assertOpen()
    await core.refresh()
  }
  return signal?.aborted !== true
}

function change(core: StreamCore, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = core.environment.readOnly ? setTimeout(done, POLL_MS) : undefined
    function done(): void {
      clearTimeout(timer)
      core.listeners.delete(done)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    core.listeners.add(done)
    signal?.addEventListener('abort', done)
  })
}
