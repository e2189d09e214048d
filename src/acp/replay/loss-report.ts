/**
 * Counts what a replay leaves out (ASR-731).
 */
import type { ReplayLoss } from './api.js'

export class LossReport {
  private readonly found = new Map<string, ReplayLoss>()

  add(loss: string, recordId: string | null, count = 1): void {
    const known = this.found.get(loss)
    if (known === undefined) this.found.set(loss, { loss, count, recordId })
    else known.count += count
  }

  /** By name. */
  list(): ReplayLoss[] {
    return [...this.found.values()].sort((a, b) => (a.loss < b.loss ? -1 : 1)).map((loss) => ({ ...loss }))
  }
}
