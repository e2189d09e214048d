/**
 * Deleting a log for good: the log itself, what lies beside it, and its rows in the index, as far as level still holds any value
 * of them. The place remembers meanwhile what is going, so that whoever opens the store after a crash goes on.
 */
import { purgeLog } from '../../index/rows.js'
import type { FoundLog } from '../../log/api.js'
import { type Environment, noteBrokenLevel } from '../../stream/core/environment.js'
import type { StreamCore } from '../../stream/core/stream-core.js'

/**
 * Deletes all that there is under a stream's name: every making of its log, what recovery put aside of it, what was recorded beside
 * it, and its rows. False when there was no log.
 * @throws ASR_FENCED, ASR_READ_ONLY, ASR_IO; then the stream may be there, or the next opening completes what was begun
 */
export async function deleteLogs(environment: Environment, name: string): Promise<boolean> {
  const { place } = environment
  const logs = await place.makings(name)
  if (logs.length === 0) return false
  environment.hasDeleted = true
  await place.retire(logs)
  for (const found of logs) await eraseLog(environment, found)
  await environment.forgetCopies?.()
  return true
}

/** Has the index forget a log that is gone. */
export async function deleteRows(environment: Environment, incarnation: string): Promise<void> {
  environment.hasDeleted = true
  await eraseRows(environment, incarnation)
  await environment.forgetCopies?.()
}

/** Removes a log in the making, of which rows may have been written already. */
export async function discardLog(environment: Environment, { log, index }: StreamCore): Promise<void> {
  if (index.persisted.length === 0 || (await eraseRows(environment, log.identity.incarnation)))
    await environment.place.discard(log)
}

/** Completes what was on its way out, and takes back what was on its way in, when the store was last closed: nobody was told of it. */
export async function sweep(environment: Environment): Promise<void> {
  const { place } = environment
  const leftovers = await place.leftovers()
  for (const leftover of leftovers) {
    await place.takeBack(leftover)
    await eraseLog(environment, leftover.found)
  }
  if (leftovers.some(({ isRetired }) => isRetired)) {
    environment.hasDeleted = true
    await environment.forgetCopies?.()
  }
  await place.sweep()
}

/** Where its rows cannot be erased now, the log stays retired, and the next opening tries again. */
async function eraseLog(environment: Environment, found: FoundLog): Promise<void> {
  if (await eraseRows(environment, found.identity.incarnation)) await environment.place.erase(found)
}

/** Whether level holds no value of the log any more. */
async function eraseRows(environment: Environment, incarnation: string): Promise<boolean> {
  if (environment.withoutIndex !== undefined) return false
  try {
    await purgeLog(environment.level, incarnation)
    return true
  } catch (error) {
    noteBrokenLevel(environment, error, incarnation)
    return false
  }
}
