/**
 * Failures as JSON-RPC errors: what a client can act on is told by its code, and never by a stack.
 */
import { RequestError } from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { isAsrError } from '../../base/error.js'

const INVALID_REQUEST = -32600

/** What a recording can not do. Not -32601: session/prompt and session/new are there, but only a live agent takes them. */
export function readOnly(message: string): RequestError {
  return new RequestError(INVALID_REQUEST, `read-only: ${message}`, { code: 'ASR_READ_ONLY' })
}

export function invalidParams(message: string): RequestError {
  return RequestError.invalidParams(undefined, message)
}

/** A failure of the store as the error of a request about a session. */
export function requestError(error: unknown, sessionId?: string): unknown {
  if (isAsrError(error, 'ASR_STREAM_NOT_FOUND')) return unknownSession(sessionId ?? error.sessionId ?? '')
  if (isAsrError(error, 'ASR_READ_ONLY')) return readOnly(error.message)
  if (!isAsrError(error)) return error
  return RequestError.internalError({ code: error.code }, error.message)
}

export function unknownSession(sessionId: string): RequestError {
  const { code } = RequestError.resourceNotFound()
  return new RequestError(code, `there is no session ${JSON.stringify(sessionId)}`, { sessionId })
}

/** The answer to a request for a session that was closed before it was answered. */
export function closedMeanwhile(sessionId: string): RequestError {
  return RequestError.requestCancelled({ sessionId }, 'the session was closed')
}
