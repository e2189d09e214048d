/**
 * Remembers who is opening the index. Level is built with assertions: some damage ends the process that opens it, which
 * no code can catch. The next opener then finds the mark of a dead one, and knows better than to open that index again.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessIdentity, processIdentity } from './node-process-identity.js'

const MARK = 'index.opening'

export function isOpeningMark(name: string): boolean {
  return name === MARK
}

/** Marks the index as being opened by this process; call what is returned when it is open, or has failed to. */
export function markOpening(folder: string): () => void {
  const mark = join(folder, MARK)
  writeFileSync(mark, JSON.stringify(processIdentity()))
  return () => rmSync(mark, { force: true })
}

/** Whether the last one to open the index is surely dead; one in another container may live though we can't see it. */
export function diedOpening(folder: string): boolean {
  const opener = readMark(join(folder, MARK))
  if (opener === undefined) return false
  const self = processIdentity()
  if (opener.boot !== self.boot) return opener.boot !== '' && self.boot !== ''
  return opener.pidNamespace === self.pidNamespace && !isAlive(opener.pid)
}

function readMark(mark: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(mark, 'utf8')) as ProcessIdentity
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH'
  }
}
