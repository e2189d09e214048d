/**
 * Remembers who is opening the index. Level is built with assertions: some damage ends the process that opens it, which
 * no code can catch. The next opener then finds the mark of a dead one, and knows better than to open that index again.
 */
import { closeSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createFile } from '../../log/storage/node-private.js'
import { isDead, type ProcessIdentity, processIdentity } from './process-identity.js'

const MARK = 'index.opening'

export function isOpeningMark(name: string): boolean {
  return name === MARK
}

/**
 * Marks the index as being opened by this process, once nobody was found to have it open; call what is returned when it is open,
 * or has failed to. Where two find it free at once, one of them is refused, and may die before it takes its mark back: that
 * costs the index at most, since whoever puts it aside has made sure again that nobody has it open.
 */
export function markOpening(folder: string): () => void {
  const mark = join(folder, MARK)
  const fd = createFile(mark, 'w')
  try {
    writeSync(fd, JSON.stringify(processIdentity()))
  } finally {
    closeSync(fd)
  }
  return () => rmSync(mark, { force: true })
}

/** Whether the last one to open the index is surely dead. */
export function diedOpening(folder: string): boolean {
  const opener = readMark(join(folder, MARK))
  return opener !== undefined && isDead(opener)
}

function readMark(mark: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(mark, 'utf8')) as ProcessIdentity
  } catch {
    return undefined
  }
}
