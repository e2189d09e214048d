/**
 * An agent may tell one session on several connections at once. What another connection told already is not told once
 * more: a chunk would be added twice, and an update that comes late would take back what came behind it.
 */
import { type JsonObject, sameJson } from '../json.js'

/** So far may one connection be behind another. */
const UPDATES_MAX = 1024

export class Mirror {
  private told: JsonObject[] = []
  /** how many were told before those that are held */
  private forgotten = 0
  /** up to where each connection has told */
  private readonly ends = new WeakMap<object, number>()

  /** Whether another connection told an update that this one has not told since; else it counts as told first here. */
  isKnown(connection: object, update: JsonObject): boolean {
    if (this.isToldAgain(connection, update)) return true
    this.told.push(update)
    if (this.told.length > UPDATES_MAX) this.forgotten += this.told.splice(0, UPDATES_MAX / 2).length
    this.ends.set(connection, this.forgotten + this.told.length)
    return false
  }

  /** Whether another connection told an update that this one has not told since. */
  isToldAgain(connection: object, update: JsonObject): boolean {
    const { told, forgotten } = this
    for (let at = Math.max(0, (this.ends.get(connection) ?? 0) - forgotten); at < told.length; at++) {
      if (!sameJson(told[at], update)) continue
      this.ends.set(connection, forgotten + at + 1)
      return true
    }
    return false
  }
}
