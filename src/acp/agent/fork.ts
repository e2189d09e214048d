/**
 * Forks of recorded sessions: a stream of its own that holds copies (CORE-27, ASR-718).
 */
import { readLines } from '../../jsonl/lines.js'
import { memberAt, withItems, withMember } from '../../record/json-text.js'
import type { Store } from '../../store/api.js'
import type { Stream } from '../../stream/api.js'
import { Roots } from '../paths.js'

const EVIDENCE = 'native_field'

/**
 * Copies a stream as it is now, branches and all, under another session id. Each record is the parent's text with `copiedFrom`
 * in it, so that nothing else of it changes. All or nothing: a fork that fails leaves no stream behind.
 */
export async function forkStream(
  store: Store,
  parent: Stream,
  sessionId: string,
  directories: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const { length } = parent
  const through = await lastId(parent, length)
  const header = (text: string): string => forkedHeader(text, parent.sessionId, sessionId, directories, through)
  const { records } = await store.importJsonl(copiedLines(parent, length, header), { signal })
  if (records === length) return
  await store.deleteStream(sessionId)
  throw new Error(`only ${records} of ${length} records can be copied`)
}

/** The parent's header, but for whose it is, where it comes from, and the roots that come to it. */
function forkedHeader(
  text: string,
  from: string,
  sessionId: string,
  directories: readonly string[],
  through: string | undefined,
): string {
  const lineage = {
    forkedFrom: { session: from, evidence: EVIDENCE },
    inherits: { mode: 'copied', from, evidence: EVIDENCE, ...(through !== undefined && { localThroughId: through }) },
  }
  const own = withMember(text, 'sessionId', JSON.stringify(sessionId))
  return withMember(withRoots(own, directories), 'lineage', JSON.stringify(lineage))
}

function withRoots(text: string, directories: readonly string[]): string {
  const roots = Roots.from(JSON.parse(text).workspace)
  const added = roots.with(directories).list.slice(roots.list.length)
  if (added.length === 0) return text
  const workspace = containerText(text, 'workspace', '{')
  const listed = containerText(workspace, 'roots', '[')
  const items = added.map((root) => JSON.stringify(root))
  return withMember(text, 'workspace', withMember(workspace, 'roots', withItems(listed, items)))
}

/** The text of a member that is an object or an array, else that of an empty one. */
function containerText(text: string, key: string, open: '{' | '['): string {
  const member = memberAt(text, key)
  const value = member === undefined ? '' : text.slice(member.from, member.to).trim()
  if (value.startsWith(open)) return value
  return open === '{' ? '{}' : '[]'
}

async function lastId(stream: Stream, length: number): Promise<string | undefined> {
  if (length === 0) return undefined
  for await (const { id } of stream.records({ from: length, to: length })) return id
  return undefined
}

async function* copiedLines(parent: Stream, length: number, header: (text: string) => string): AsyncGenerator<string> {
  let pos = 0
  for await (const lines of readLines(parent.exportJsonl())) {
    for (const line of lines) {
      if ('refused' in line) throw new Error(`record ${pos} can not be copied: ${line.refused}`)
      yield `${pos === 0 ? header(line.text) : copied(line.text, parent.sessionId)}\n`
      if (pos++ === length) return
    }
  }
}

function copied(text: string, session: string): string {
  const { id } = JSON.parse(text) as { id: string }
  return withMember(text, 'copiedFrom', JSON.stringify({ session, id, proof: 'native_id' }))
}
