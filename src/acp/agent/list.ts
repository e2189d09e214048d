/**
 * session/list: the streams of a store, a page at a time.
 */
import type {
  ListSessionsRequest,
  ListSessionsResponse,
  SessionInfo,
} from '@agentclientprotocol/sdk/experimental/v2/unstable'
import type { Store, StreamInfo } from '../../store/api.js'
import { fromBase64, toBase64 } from '../base64.js'
import { Roots } from '../paths.js'
import { invalidParams } from './errors.js'

const PAGE = 100

/** A session's `cwd` is not optional in ACP; a stream need not have a root, and a root may be redacted. */
const UNKNOWN_CWD = '/'

const ABSOLUTE = /^(?:[\\/]|[A-Za-z]:[\\/])/

/** Sessions by the order of their ids. A cursor is the id of the session behind which the next page begins. */
export async function listSessions(store: Store, { cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  const after = cursor == null ? undefined : decodedCursor(cursor)
  const sessions: SessionInfo[] = []
  for await (const info of store.streams()) {
    if (after !== undefined && info.sessionId <= after) continue
    const directories = await directoriesIn(store, info.sessionId)
    if (cwd != null && directories[0] !== cwd) continue
    if (sessions.length === PAGE) return { sessions, nextCursor: encodedCursor(sessions[PAGE - 1].sessionId) }
    sessions.push(sessionInfo(info, directories))
  }
  return { sessions }
}

function sessionInfo({ sessionId, title, updatedAt }: StreamInfo, directories: readonly string[]): SessionInfo {
  const [cwd = UNKNOWN_CWD, ...additionalDirectories] = directories
  return {
    sessionId,
    cwd,
    ...(additionalDirectories.length > 0 && { additionalDirectories }),
    ...(title !== null && { title }),
    ...(updatedAt !== null && !Number.isNaN(Date.parse(updatedAt)) && { updatedAt }),
  }
}

/** A stream whose header can not be read is listed all the same: opening it says what is wrong. */
async function directoriesIn(store: Store, sessionId: string): Promise<string[]> {
  try {
    const header = await (await store.stream(sessionId)).header()
    return Roots.from(header.workspace).list.flatMap(({ path }) => (path !== null && ABSOLUTE.test(path) ? path : []))
  } catch {
    return []
  }
}

const PREFIX = 'after:'

function encodedCursor(sessionId: string): string {
  return toBase64(new TextEncoder().encode(PREFIX + sessionId))
}

/** @throws -32602 when it is no cursor of ours */
function decodedCursor(cursor: string): string {
  const bytes = fromBase64(cursor)
  const text = bytes && new TextDecoder().decode(bytes)
  if (!text?.startsWith(PREFIX)) throw invalidParams('the cursor is not one that session/list gave')
  return text.slice(PREFIX.length)
}
