/**
 * Calls and their results (CORE-25).
 */
import { type StoredRecord, statedEntityId } from '../record/record.js'

/** Takes the records of a view in order, and knows which calls are open and which results closed none. */
export class CallPairing {
  private readonly calls: { id: string; open: boolean }[] = []
  /** places of the calls of an id; those before `next` are closed */
  private readonly openById = new Map<string, { places: number[]; next: number }>()
  readonly danglingResults: string[] = []

  /** `entityId`: what a call without `callId` is known by. */
  add(record: StoredRecord, entityId: string): void {
    const callId = statedEntityId(record)
    if (record.type === 'tool_call') this.open(callId, entityId)
    else if (record.type === 'tool_result') this.close(callId, record.status === 'partial')
  }

  /** The ids of the calls left open, in view order. */
  get openCalls(): string[] {
    return this.calls.filter((call) => call.open).map((call) => call.id)
  }

  private open(callId: string | undefined, entityId: string): void {
    const index = this.calls.push({ id: callId ?? entityId, open: true }) - 1
    if (callId === undefined) return
    const open = this.openById.get(callId)
    if (open === undefined) this.openById.set(callId, { places: [index], next: 0 })
    else open.places.push(index)
  }

  /** A partial result has found its call, and leaves it open. */
  private close(callId: string | undefined, isPartial: boolean): void {
    const open = callId === undefined ? undefined : this.openById.get(callId)
    if (open === undefined || open.next === open.places.length) this.danglingResults.push(callId ?? '')
    else if (!isPartial) this.calls[open.places[open.next++]].open = false
  }
}
