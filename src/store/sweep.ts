/**
 * What was left half done by a process that ended on the way is removed: nobody was told of it.
 */
import { parseSegmentFile, STAGING_FOLDER, TRASH_FOLDER } from '../log/segment.js'
import { sweepLogs } from './deletion.js'
import type { Environment } from './environment.js'

/** Removes logs that were on their way in or out, and what was to extend a log. */
export async function sweep(environment: Environment): Promise<void> {
  await sweepLogs(environment, STAGING_FOLDER)
  await sweepLogs(environment, TRASH_FOLDER)
  for (const { name } of await environment.storage.list(STAGING_FOLDER)) {
    if (parseSegmentFile(name) === undefined) await environment.storage.remove(name)
  }
}
