/**
 * What was left half done by a process that ended on the way is removed: nobody was told of it.
 */
import { parseSegmentFile, STAGING_FOLDER, TRASH_FOLDER } from '../../log/files/segment.js'
import type { Environment } from '../../stream/core/environment.js'
import { sweepLogs } from './deletion.js'

/** Removes logs that were on their way in or out, and what was to extend a log or to take a file's place. */
export async function sweep(environment: Environment): Promise<void> {
  for (const folder of [STAGING_FOLDER, TRASH_FOLDER]) {
    await sweepLogs(environment, folder)
    for (const { name } of await environment.storage.list(folder)) {
      if (parseSegmentFile(name) === undefined) await environment.storage.remove(name)
    }
  }
}
