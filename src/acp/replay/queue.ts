/**
 * What is told in path order: a call waits for its result and for the changes to files that it caused, and what follows
 * waits behind it.
 */
import type { StoredRecord } from '../../record/record.js'
import type { Roots } from '../paths.js'
import type { SessionUpdate } from './api.js'
import type { LossReport } from './loss-report.js'
import { type CallParts, toolCallUpdate } from './tool-call.js'
import { weightOf } from './weight.js'
import { whole } from './whole.js'

/** How much may wait behind a call that has no result yet. */
const HELD_MAX = 64
const HELD_WEIGHT_MAX = 1_000_000
/** So many records a call with its result waits for changes to files. */
const PATIENCE = 64

const NONE: readonly SessionUpdate[] = []

/** What waits: updates, or a call that may not be whole yet. */
export interface Held extends Partial<CallParts> {
  readonly updates: readonly SessionUpdate[]
  readonly toolCallId: string
  /** no result has closed the call */
  open: boolean
  /** the number of the last record that the call got something from */
  touched: number
  /** an earlier call had the id: what this one does not have is cleared */
  readonly again: boolean
  weight: number
}

export class CallQueue {
  /** updates whose turn has come */
  readonly out: SessionUpdate[] = []
  private held: Held[] = []
  private weight = 0
  /** number of the record that is looked at, and of the last one that was told in its own place */
  private number = 0
  private lastTold = 0

  constructor(
    private readonly roots: Roots,
    private readonly losses: LossReport,
  ) {}

  /** Another record is looked at. */
  step(): void {
    this.number++
  }

  /** Tells updates in the place of a record. */
  add(updates: readonly SessionUpdate[], record: StoredRecord): void {
    this.pass()
    if (this.held.length === 0) for (const update of updates) this.out.push(update)
    else this.hold(heldOf(updates, undefined, '', false), record)
  }

  /** A call takes its place; one that has no id can not be told a result. */
  addCall(call: StoredRecord, toolCallId: string, again: boolean): void {
    this.pass()
    this.hold(heldOf(NONE, call, toolCallId, again), call)
  }

  /** Gives a result to the earliest open call of its id, which a partial one leaves open (CORE-25). */
  addResult(callId: string | undefined, record: StoredRecord): boolean {
    for (const held of this.held) {
      if (!held.open || held.toolCallId !== callId) continue
      held.result = record
      held.open = record.status === 'partial'
      this.touch(held, record)
      return true
    }
    return false
  }

  /** Gives a change to the latest call of an id. */
  addChange(callId: unknown, record: StoredRecord): boolean {
    const held = this.held.findLast(({ call, toolCallId }) => call !== undefined && toolCallId === callId)
    if (held === undefined) return false
    held.changes ??= []
    held.changes.push(record)
    this.touch(held, record)
    return true
  }

  /** Lets go of what is whole; says which open call more waits behind than may. */
  settle(): Held | undefined {
    if (this.held.length === 0) return undefined
    this.letGo()
    const isFull = this.held.length > HELD_MAX || this.weight > HELD_WEIGHT_MAX
    return isFull && this.held[0].open ? this.held[0] : undefined
  }

  /** Closes a call that waits no longer. */
  close(held: Held, result: StoredRecord | undefined): void {
    held.open = false
    held.result = result ?? held.result
    held.touched = this.number
  }

  /** Nothing more comes: calls that are open still are dangling ones. */
  end(): void {
    for (const held of this.held) this.release(held)
    this.held = []
  }

  /** Something is told in its own place: calls that have their result are waited for no longer. */
  private pass(): void {
    this.lastTold = this.number
    this.letGo()
  }

  private hold(held: Held, record: StoredRecord): void {
    this.held.push(held)
    this.touch(held, record)
  }

  /** What waits is weighed, but for a call that nothing waits behind. */
  private touch(held: Held, record: StoredRecord): void {
    held.touched = this.number
    if (this.held.length === 1) return
    const weight = weightOf(record)
    held.weight += weight
    this.weight += weight
  }

  private letGo(): void {
    for (let front = this.held[0]; front !== undefined; front = this.held[0]) {
      if (front.open) return
      const mayGrow = this.lastTold <= front.touched && this.number - front.touched < PATIENCE
      if (front.call !== undefined && mayGrow) return
      this.held.shift()
      this.weight -= front.weight
      this.release(front)
    }
  }

  private release(held: Held): void {
    if (!isCall(held)) {
      for (const update of held.updates) this.out.push(update)
      return
    }
    const update = toolCallUpdate(held, held.toolCallId, this.roots, this.losses)
    this.out.push(...(held.again ? whole(update) : [update]))
  }
}

/** All fields at once, so that what is held is of one shape. */
function heldOf(
  updates: readonly SessionUpdate[],
  call: StoredRecord | undefined,
  toolCallId: string,
  again: boolean,
): Held {
  const open = typeof call?.callId === 'string'
  return { updates, call, result: undefined, changes: undefined, toolCallId, open, touched: 0, again, weight: 0 }
}

function isCall(held: Held): held is Held & CallParts {
  return held.call !== undefined
}
