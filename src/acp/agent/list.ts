/**
 * session/list: the streams of a store, a page at a time.
 */
import type {
  ListSessionsRequest,
  ListSessionsResponse,
  SessionInfo,
} from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { isAsrError } from '../../base/error.js'
import type { Store, StreamInfo } from '../../store/api.js'
import { fromBase64, toBase64 } from '../base64.js'
import { Roots } from '../paths.js'
import { invalidParams } from './errors.js'

const PAGE = 100

/** A session's `cwd` is not optional in ACP; a stream need not have a root, and a root may be redacted. */
const UNKNOWN_CWD = '/'

const ABSOLUTE = /^(?:[\\/]|[A-Za-z]:[\\/])/

/** Streams that are still to be listed, behind one of them. */
interface Rest {
  after: string | undefined
  streams: AsyncIterator<StreamInfo>
  /** taken from the streams already, and not listed yet */
  next?: StreamInfo
}

/** The lists that a client asks for on one connection. */
export class SessionList {
  /** A listing reads the whole catalog: who asks for its next page goes on with it. */
  private rest: Rest | undefined

  constructor(private readonly store: Store) {}

  /** Sessions by the order of their ids. A cursor is the id of the session behind which the next page begins. */
  async page({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const after = cursor == null ? undefined : decodedCursor(cursor)
    const rest = this.behind(after)
    const sessions: SessionInfo[] = []
    for (let info = await taken(rest); info !== undefined; info = await taken(rest)) {
      if (after !== undefined && info.sessionId <= after) continue
      const directories = await directoriesIn(this.store, info.sessionId)
      if (directories === undefined || (cwd != null && directories[0] !== cwd)) continue
      if (sessions.length === PAGE) {
        const last = sessions[PAGE - 1].sessionId
        this.rest = { ...rest, after: last, next: info }
        return { sessions, nextCursor: encodedCursor(last) }
      }
      sessions.push(sessionInfo(info, directories))
    }
    return { sessions }
  }

  /** The listing that a client goes on with, else a new one. It is nobody else's while it is read. */
  private behind(after: string | undefined): Rest {
    const { rest } = this
    if (after === undefined || rest?.after !== after)
      return { after, streams: this.store.streams()[Symbol.asyncIterator]() }
    this.rest = undefined
    return rest
  }
}

async function taken(rest: Rest): Promise<StreamInfo | undefined> {
  const { next } = rest
  rest.next = undefined
  if (next !== undefined) return next
  const step = await rest.streams.next()
  return step.done === true ? undefined : step.value
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

/** A stream whose header can not be read is listed all the same: opening it says what is wrong. Undefined: it was deleted. */
async function directoriesIn(store: Store, sessionId: string): Promise<string[] | undefined> {
  try {
    const header = await (await store.stream(sessionId)).header()
    return Roots.from(header.workspace).list.flatMap(({ path }) => (path !== null && ABSOLUTE.test(path) ? path : []))
  } catch (error) {
    return isAsrError(error, 'ASR_STREAM_NOT_FOUND') ? undefined : []
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
