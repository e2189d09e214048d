/**
 * What was left half done by a process that ended on the way is removed: nobody was told of it.
 */
import { clearLog } from '../index/rows.js'
import { listLogs, STAGING_FOLDER, STREAMS_FOLDER, TRASH_FOLDER } from '../log/segment.js'
import { type Environment, noteBrokenLevel } from './environment.js'

/** Removes logs that were on their way in or out, and what was to extend a log. */
export async function sweep(environment: Environment): Promise<void> {
  await sweepLogs(environment, STAGING_FOLDER)
  await sweepLogs(environment, TRASH_FOLDER)
  for (const { name } of await environment.storage.list(STAGING_FOLDER)) await environment.storage.remove(name)
}

/** With what of such logs stands among the streams already, or still. */
async function sweepLogs(environment: Environment, folder: string): Promise<void> {
  const { storage, level } = environment
  const moving = await listLogs(storage, folder)
  if (moving.length === 0) return
  const streams = await listLogs(storage, STREAMS_FOLDER)
  for (const { log, segments } of moving) {
    const moved = streams.find((other) => other.log.incarnation === log.incarnation)?.segments ?? []
    await clearLog(level, log.incarnation).catch((error: unknown) => noteBrokenLevel(environment, error, log.name))
    for (const { file } of [...moved, ...segments]) await storage.remove(file)
  }
}
