/**
 * Paths and context views as the library hands them out: positions found by the pure parts, records read when shown.
 */

import type { Diagnostic } from '../../base/error.js'
import type { Flow, MaybePromise } from '../../base/flow.js'
import { Steps } from '../../base/steps.js'
import { endsAtBadExtent } from '../../context-view/compaction.js'
import { CallPairing } from '../../context-view/pairing.js'
import { type ViewPositions, viewPositions } from '../../context-view/view.js'
import { ActivePath, type Span } from '../../heads/path.js'
import type { StoredRecord } from '../../record/record.js'
import { deadOnPath, revisedAfter } from '../../supersede/entity.js'
import { resolvedIn } from '../../supersede/resolved.js'
import type { ContextView, Cut, Path } from '../api.js'
import type { StreamCore } from '../core/stream-core.js'
import type { Lookup } from '../place/lookup.js'
import { RecordIterator } from './record-iterator.js'
import { RecordReader } from './record-reader.js'

/** The active path that ends at a position; 0: the empty path (CORE-16). */
export async function openPath(core: StreamCore, end: number): Promise<Path> {
  const { cut, gaps, length } = await core.ask((lookup) => pathFacts(lookup, end))
  const path = (): ActivePath => new ActivePath(core.reader, end)
  return {
    length,
    cut,
    gaps,
    ids: () => new Steps(idsOf(core, path()), () => core.assertOpen()),
    records: () => recordsOf(core, path()),
    resolved: () => resolvedOf(core, path()),
  }
}

function* pathFacts(lookup: Lookup, end: number): Flow<{ length: number; cut: Cut | null; gaps: string[] }> {
  const path = new ActivePath(lookup.index, end)
  const orphan = yield* path.cut()
  let cut: Cut | null = null
  if (orphan > 0) {
    const { id, parentId } = yield* lookup.record(orphan)
    cut = { recordId: id, missingParentId: parentId as string }
  }
  const gaps: string[] = []
  for (const pos of yield* path.gaps()) gaps.push(yield* lookup.id(pos))
  return { length: yield* path.length(), cut, gaps }
}

function* positionsIn(spans: readonly Span[]): Generator<number, void> {
  for (const { from, to } of spans) for (let pos = from; pos <= to; pos++) yield pos
}

function spansOf(core: StreamCore, path: ActivePath): MaybePromise<Span[]> {
  return core.ask(() => path.spansAfter(0))
}

async function* idsOf(core: StreamCore, path: ActivePath): AsyncGenerator<string> {
  const reader = new RecordReader(core)
  for (const pos of positionsIn(await spansOf(core, path))) yield await reader.id(pos)
}

function recordsAt(core: StreamCore, choose: () => Promise<Iterator<MaybePromise<number>>>): RecordIterator {
  return new RecordIterator(new RecordReader(core), () => core.assertOpen(), choose)
}

function recordsOf(core: StreamCore, path: ActivePath): AsyncIterable<StoredRecord> {
  return recordsAt(core, async () => positionsIn(await spansOf(core, path)))
}

function resolvedOf(core: StreamCore, path: ActivePath): AsyncIterable<StoredRecord> {
  return recordsAt(core, async () => {
    const dead = await core.ask(() => deadOnPath(path))
    const revised = await core.ask(() => revisedAfter(path, 0))
    const spans = await spansOf(core, path)
    return inForce(spans, (span) => core.ask(() => resolvedIn(path, dead, revised, span)))
  })
}

/** How many positions of a path are resolved at a time: the first is to be there soon. */
const RESOLVED_AT_ONCE = 256

function* inForce(
  spans: readonly Span[],
  resolve: (span: Span) => MaybePromise<number[]>,
): Generator<MaybePromise<number>, void> {
  for (const { from, to } of spans) {
    for (let at = from; at <= to; at += RESOLVED_AT_ONCE) {
      let positions = resolve({ from: at, to: Math.min(to, at + RESOLVED_AT_ONCE - 1) })
      if (positions instanceof Promise) {
        const later = positions
        yield later.then((found) => {
          positions = found
          return 0 // none: it only had to be waited for
        })
      }
      if (positions instanceof Promise) return // it failed, and that was told
      yield* positions
    }
  }
}

/** The context view at the end of a path (CORE-24). */
export async function openView(core: StreamCore, end: number, head: string | null): Promise<ContextView> {
  const { cut, gaps } = await core.ask((lookup) => pathFacts(lookup, end))
  const positions = await core.ask(({ index }) => viewPositions(new ActivePath(index, end)))
  const reader = new RecordReader(core)
  const compaction = positions.compaction > 0 ? await reader.record(positions.compaction) : null
  const pairing = await pair(core, reader, positions)
  return {
    head,
    compaction,
    openCalls: pairing.openCalls,
    danglingResults: pairing.danglingResults,
    cut,
    gaps,
    diagnostics: await diagnosticsOf(core, positions.passedOver),
    length: positions.entries.length + (compaction === null ? 0 : 1),
    entries: () => entriesOf(core, positions),
  }
}

async function pair(core: StreamCore, reader: RecordReader, { entries }: ViewPositions): Promise<CallPairing> {
  const pairing = new CallPairing()
  for (const pos of entries) {
    const page = await reader.pageAt(pos)
    const type = page.type(pos)
    if (type !== 'tool_call' && type !== 'tool_result') continue
    const record = await reader.record(pos)
    const isNamed = type === 'tool_result' || typeof record.callId === 'string'
    pairing.add(record, isNamed ? '' : await core.ask((lookup) => lookup.entityId(page.founder(pos))))
  }
  return pairing
}

function entriesOf(core: StreamCore, { compaction, entries }: ViewPositions): AsyncIterable<StoredRecord> {
  const positions = compaction > 0 ? [compaction, ...entries] : entries
  return recordsAt(core, async () => positions.values())
}

async function diagnosticsOf(core: StreamCore, passedOver: readonly number[]): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const pos of passedOver) diagnostics.push(badExtent(await core.ask((lookup) => lookup.id(pos))))
  return diagnostics
}

export function badExtent(recordId: string): Diagnostic {
  const message = `compaction ${JSON.stringify(recordId)} names an extent that does not lie before it on the path; it is passed over`
  return { code: 'compaction_bad_extent', message, recordId, severity: 'kept' }
}

/** Whether a record is a compaction that will be passed over for its extent: what import reports of it. */
export function isBadExtent(core: StreamCore, pos: number): MaybePromise<boolean> {
  return core.ask(({ index }) => endsAtBadExtent(new ActivePath(index, pos)))
}
