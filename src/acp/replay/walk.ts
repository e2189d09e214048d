/**
 * One pass over a path: records in, updates out, in path order. What lies too far apart to be held is looked up in the index.
 */
import { participates, type StoredRecord, statedEntityId } from '../../record/record.js'
import { NOT_REPLAYED, REPLAY_LOSS } from '../losses.js'
import type { Roots } from '../paths.js'
import { spaceOf } from '../recorder/kinds/message.js'
import type { SessionUpdate } from './api.js'
import { Current } from './current.js'
import { KnownIds } from './known-ids.js'
import { HELD_MAX, type PathLookup } from './lookup.js'
import { LossReport } from './loss-report.js'
import { messageLoss, messageUpdates } from './message.js'
import { CallQueue, type Held } from './queue.js'
import { noteFields } from './record-losses.js'
import { compactionUpdate, planUpdate, terminalUpdate } from './snapshots.js'
import { diffOf, toolCallUpdate } from './tool-call.js'
import { whole } from './whole.js'

type Done = void | Promise<void>

/** In the place of a record's id: no other entity has the id that was asked about. */
const ALONE = Symbol('alone')

export class Walk {
  private readonly queue: CallQueue
  private readonly current: Current
  private readonly known = new KnownIds()
  /** of the ids that were asked about, the first entity's record in force */
  private readonly firstOf = new Map<string, string | typeof ALONE>()
  /** results still to come that were told with their calls already, by call id */
  private readonly owed = new Map<string, number>()
  /** the last record that participates in context, compactions aside */
  private lastParticipant: StoredRecord | undefined

  constructor(
    private readonly roots: Roots,
    private readonly lookup: PathLookup,
    private readonly losses: LossReport,
  ) {
    this.queue = new CallQueue(roots, losses)
    this.current = new Current(losses)
  }

  /** Updates whose turn has come; whoever takes them empties the list. */
  get out(): SessionUpdate[] {
    return this.queue.out
  }

  /** Takes the next live entity of the path, in force. A promise only where the index has to be asked. */
  take(record: StoredRecord): Done {
    this.queue.step()
    noteFields(record, this.losses)
    const done = this.tell(record)
    if (record.type !== 'compaction' && participates(record)) this.lastParticipant = record
    return done === undefined ? this.settle(record) : done.then(() => this.settle(record))
  }

  /** The path is at its end: how things stand is told. */
  end(): void {
    this.queue.end()
    this.out.push(...this.current.updates())
  }

  private tell(record: StoredRecord): Done {
    switch (record.type) {
      case 'message':
        return this.tellMessage(record)
      case 'compaction':
        return this.tellCompaction(record)
      case 'tool_call':
      case 'plan':
      case 'terminal':
        return this.tellEntity(record, record.type)
      case 'tool_result':
        return this.tellResult(record)
      case 'file_change':
        return this.tellChange(record)
      case 'state':
      case 'session_info':
      case 'usage_summary':
        this.current.take(record)
        return
      default:
        this.losses.add(NOT_REPLAYED.has(record.type) ? record.type : REPLAY_LOSS.unmapped, record.id)
    }
  }

  private tellMessage(record: StoredRecord): Done {
    const loss = messageLoss(record)
    if (loss === undefined) return this.tellEntity(record, spaceOf(record) ?? 'user')
    this.losses.add(loss, record.id)
  }

  private tellCompaction(record: StoredRecord): Done {
    const done = this.noteExtent(record)
    return done === undefined
      ? this.tellEntity(record, record.type)
      : done.then(() => this.tellEntity(record, record.type))
  }

  /** A space holds the ids of which a client takes equal ones for one entity (M1). */
  private tellEntity(record: StoredRecord, space: string): Done {
    const stated = statedEntityId(record)
    if (stated === undefined && record.supersedes !== undefined) {
      return this.lookup.founderId(record).then((id) => this.tellAs(record, space, id))
    }
    return this.tellAs(record, space, stated ?? record.id)
  }

  private tellAs(record: StoredRecord, space: string, id: string): Done {
    // All plans of one id are one entity to us too (CORE-17).
    const known = record.type !== 'plan' && this.known.add(space, id)
    if (known !== 'maybe') return this.put(record, id, known)
    return this.isShared(record, id).then((shared) => this.put(record, id, shared))
  }

  /** Whether an earlier entity of the path had the id: for a client it is one entity, of which the last counts (CORE-29). */
  private async isShared(record: StoredRecord, id: string): Promise<boolean> {
    const space = spaceOf(record)
    const key = JSON.stringify([record.type, space, id])
    let first: string | typeof ALONE | undefined = this.firstOf.get(key)
    if (first === undefined) {
      const alike = (await this.lookup.living(record.type, id)).filter(
        ({ inForce }) => record.type !== 'message' || spaceOf(inForce as StoredRecord) === space,
      )
      first = alike.length > 1 ? alike[0].inForce?.id : undefined
      first ??= ALONE
      if (this.firstOf.size > HELD_MAX) this.firstOf.clear()
      this.firstOf.set(key, first)
    }
    return first !== ALONE && first !== record.id
  }

  private put(record: StoredRecord, id: string, again: boolean): void {
    if (again) this.losses.add(REPLAY_LOSS.sharedId, record.id)
    if (record.type === 'tool_call') {
      this.queue.addCall(record, id, again)
      return
    }
    const updates = this.updatesOf(record, id)
    this.queue.add(again ? updates.flatMap(whole) : updates, record)
  }

  private updatesOf(record: StoredRecord, id: string): SessionUpdate[] {
    const { roots, losses } = this
    switch (record.type) {
      case 'message':
        return messageUpdates(record, id, losses)
      case 'plan':
        return planUpdate(record, id, losses)
      case 'terminal':
        return [terminalUpdate(record, id, roots, losses)]
      default:
        return [compactionUpdate(record, id, losses)]
    }
  }

  private tellResult(record: StoredRecord): void {
    const callId = statedEntityId(record)
    if (callId !== undefined && this.wasTold(callId)) return
    if (!this.queue.addResult(callId, record)) this.losses.add(REPLAY_LOSS.unpairedResult, record.id)
  }

  /** Whether a result that comes now was told with its call already. */
  private wasTold(callId: string): boolean {
    const owed = this.owed.size === 0 ? undefined : this.owed.get(callId)
    if (owed === undefined) return false
    if (owed > 1) this.owed.set(callId, owed - 1)
    else this.owed.delete(callId)
    return true
  }

  private tellChange(record: StoredRecord): Done {
    const callId: unknown = record.cause?.callId
    if (!this.queue.addChange(callId, record)) return this.tellLate(record, callId)
  }

  private settle(record: StoredRecord): Done {
    const held = this.queue.settle()
    if (held !== undefined) return this.findResult(held, record).then(() => this.settle(record))
  }

  /** The result of a call that has waited long enough, wherever it is: when it comes, it was told already. */
  private async findResult(held: Held, current: StoredRecord): Promise<void> {
    const { toolCallId } = held
    const { byId } = await this.lookup.callsOf(toolCallId)
    const results = byId.get(held.call?.id ?? '')?.results ?? []
    const last = results.at(-1)
    this.queue.close(held, last && (await this.lookup.record(last.id)))
    if (results.length === 0) return
    const here = await this.lookup.placeOf(current)
    const coming = results.filter(({ place }) => place > here).length
    if (coming > 0) this.owed.set(toolCallId, (this.owed.get(toolCallId) ?? 0) + coming)
  }

  /** A change that comes when its call was told already: the call is told again, whole. */
  private async tellLate(record: StoredRecord, callId: unknown): Promise<void> {
    const here = await this.lookup.placeOf(record)
    const calls = typeof callId === 'string' ? (await this.lookup.callsOf(callId)).all : []
    const found = calls.findLast(({ place }) => place < here)
    if (found === undefined) {
      this.losses.add(REPLAY_LOSS.fileChange, record.id)
      return
    }
    const { id, place, results } = found
    const last = results.at(-1)
    const [call, result] = [await this.lookup.record(id), last && (await this.lookup.record(last.id))]
    const changes = await this.lookup.changesBetween(String(callId), place, here)
    // What is lost of the rest was said when it was told first.
    diffOf(record, this.roots, this.losses)
    const parts = { call, result, changes }
    this.queue.add([toolCallUpdate(parts, String(callId), this.roots, new LossReport())], record)
  }

  /** A compaction that keeps something of what lies before it: ACP has no way to say so (CORE-28). */
  private noteExtent(record: StoredRecord): Done {
    const throughId: unknown = record.replaces?.throughId
    const { lastParticipant } = this
    if (typeof throughId !== 'string' || lastParticipant === undefined || throughId === lastParticipant.id) return
    return this.lookup.reaches(throughId, lastParticipant).then((reaches) => {
      if (!reaches) this.losses.add(REPLAY_LOSS.compactionExtent, record.id)
    })
  }
}
