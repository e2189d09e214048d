/**
 * The root row of a log, which says how far its index has seen it.
 */
import { runFlow } from '../base/flow.js'
import type { LogIdentity } from '../log/api.js'
import type { IndexLevel } from './level.js'
import { decodeRoot, type Root } from './root.js'
import { getRow, IndexDamaged } from './rows.js'

/** What the index has seen of a log; undefined when that is nothing, or is damaged. */
export async function rootOf(
  level: IndexLevel,
  { incarnation }: Pick<LogIdentity, 'incarnation'>,
): Promise<Root | undefined> {
  try {
    const row = await runFlow(getRow(level, { kind: 'root', incarnation }))
    return row && decodeRoot(row, incarnation)
  } catch (error) {
    if (error instanceof IndexDamaged) return undefined
    throw error
  }
}
