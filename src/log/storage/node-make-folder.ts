/**
 * Makes folders, with those that lead to them.
 */
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf } from './io-error.js'
import { exactly, FOLDER_MODE } from './node-private.js'

/**
 * Makes a folder and those above it, where they are not there. Node's own `recursive` never returns where a folder that is
 * there takes no others, such as /proc. @throws the system's error, when the folder can not be made
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: FOLDER_MODE })
    exactly(() => chmodSync(path, FOLDER_MODE))
  } catch (error) {
    if (existsSync(path) && statSync(path).isDirectory()) return
    const above = dirname(path)
    if (errnoOf(error) !== 'ENOENT' || existsSync(above)) throw error
    makeFolder(above)
    makeFolder(path)
  }
}
