/**
 * What a storage's failures are called by the engine.
 */
import { AsrError, isAsrError } from '../../base/error.js'

const NO_SPACE: readonly unknown[] = ['ENOSPC', 'EDQUOT']
const NOT_WRITABLE: readonly unknown[] = ['EROFS', 'EACCES', 'EPERM']

/** The system's name for a failure (`ENOENT`), or undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}

/**
 * The engine's error for a failed call of a storage; one of the engine's own passes through. `doing` names the work and
 * its object (`appending to …`). Only of a write does a refused permission mean that the store is read-only.
 */
export function ioError(error: unknown, doing: string, access: 'read' | 'write' = 'write'): AsrError {
  if (isAsrError(error)) return error
  const message = `${doing}: ${error instanceof Error ? error.message : String(error)}`
  const errno = errnoOf(error)
  if (NO_SPACE.includes(errno)) return new AsrError('ASR_NO_SPACE', message, { cause: error })
  if (access === 'write' && NOT_WRITABLE.includes(errno))
    return new AsrError('ASR_READ_ONLY', message, { cause: error })
  return new AsrError('ASR_IO', message, { cause: error })
}
