/**
 * Small trees of records as an index shows them, and what the rules say of them, worked out step by step.
 */
import fc from 'fast-check'
import { type Flow, runFlow, wait } from '../../src/base/flow.js'
import {
  BAD_TARGET,
  COMPLETED,
  type Entry,
  GAP,
  HEAD_RECORD,
  type Landmarks,
  NO_LANDMARKS,
  ORPHAN,
  PARTICIPATES,
  type Run,
} from '../../src/index/entry.js'
import { revisionKey, tombstoneKey } from '../../src/index/keys/key-run.js'
import { Page, pageOf } from '../../src/index/page.js'
import type { IndexReader } from '../../src/index/reader.js'

/** A record of the tree; positions count from 1. */
export interface Node {
  type: string
  /** 0: a root */
  parent: number
  /** its entity's first record; itself when it founds one */
  founder: number
  /** of a tombstone the founder that it ends, of a compaction T or BAD_TARGET; else 0 */
  target: number
  participates: boolean
  completed: boolean
  orphan: boolean
  gap: boolean
}

export const MESSAGE: Omit<Node, 'parent' | 'founder'> = {
  type: 'message',
  target: 0,
  participates: true,
  completed: false,
  orphan: false,
  gap: false,
}

/** A tree as an index; with `waits`, each page is a promise first. */
export class TreeIndex implements IndexReader {
  readonly length: number
  private readonly pages: Page[] = []
  private readonly byKey = new Map<number, number[]>()

  constructor(
    nodes: readonly Node[],
    private readonly waits = false,
  ) {
    this.length = nodes.length
    const entries: Entry[] = []
    nodes.forEach((node, i) => {
      const pos = i + 1
      const entry = entryOf(node, pos, entries[node.parent - 1])
      entries.push(entry)
      const number = pageOf(pos)
      this.pages[number] ??= Page.empty(number)
      this.pages[number].push(entry)
      if (node.founder !== pos) this.lead(revisionKey(node.founder), pos)
      if (node.type === 'tombstone' && node.target > 0) this.lead(tombstoneKey(node.target), pos)
    })
  }

  *page(number: number): Flow<Page> {
    const page = this.pages[number] ?? Page.empty(number)
    return this.waits ? yield* wait(Promise.resolve(page)) : page
  }

  *entry(pos: number): Flow<Entry> {
    return (yield* this.page(pageOf(pos))).entry(pos)
  }

  // biome-ignore lint/correctness/useYield: it has all at hand
  *candidates(key: number): Flow<number[]> {
    return this.byKey.get(key) ?? []
  }

  private lead(key: number, pos: number): void {
    this.byKey.set(key, [...(this.byKey.get(key) ?? []), pos])
  }
}

function entryOf(node: Node, pos: number, parent: Entry | undefined): Entry {
  const { type, founder, target } = node
  const isHead = type === 'head'
  const flags =
    (isHead ? HEAD_RECORD : 0) |
    (node.participates ? PARTICIPATES : 0) |
    (node.completed ? COMPLETED : 0) |
    (node.orphan ? ORPHAN : 0) |
    (node.gap ? GAP : 0)
  const run = isHead ? { start: pos, parent: 0, depth: 0 } : runOf(pos, parent)
  const landmarks = isHead ? NO_LANDMARKS : landmarksOf(node, pos, parent)
  return { pos, location: pos, type, flags, parent: isHead ? 0 : (parent?.pos ?? 0), run, founder, target, landmarks }
}

function runOf(pos: number, parent: Entry | undefined): Run {
  if (parent === undefined) return { start: pos, parent: 0, depth: 1 }
  if (parent.pos === pos - 1) return parent.run
  return { start: pos, parent: parent.pos, depth: parent.run.depth + parent.pos - parent.run.start + 1 }
}

function landmarksOf({ type, target, gap, founder }: Node, pos: number, parent: Entry | undefined): Landmarks {
  const before = parent?.landmarks ?? { ...NO_LANDMARKS, root: pos }
  return {
    root: before.root,
    compaction: type === 'compaction' ? pos : before.compaction,
    tombstone: type === 'tombstone' && target > 0 ? pos : before.tombstone,
    revision: founder !== pos && type !== 'head' ? pos : before.revision,
    gap: gap ? pos : before.gap,
    info: type === 'session_info' ? pos : before.info,
  }
}

/** The answer, also of an index that waits. */
export async function ask<T>(query: Flow<T>): Promise<T> {
  return runFlow(query)
}

/** CORE-16: from the root to the record. */
export function pathTo(nodes: readonly Node[], end: number): number[] {
  const path: number[] = []
  for (let pos = end; pos > 0; pos = nodes[pos - 1].parent) path.unshift(pos)
  return path
}

/** CORE-19: the founders whose entities a path's tombstones end. */
export function deadOn(nodes: readonly Node[], path: readonly number[]): Set<number> {
  const tombstones = path.filter((pos) => nodes[pos - 1].type === 'tombstone')
  return new Set(tombstones.map((pos) => nodes[pos - 1].target).filter((target) => target > 0))
}

/** CORE-18: the entities of a path by their founders, each with its records there. */
export function entitiesOn(nodes: readonly Node[], path: readonly number[]): Map<number, number[]> {
  const entities = new Map<number, number[]>()
  for (const pos of path) {
    const { founder } = nodes[pos - 1]
    entities.set(founder, [...(entities.get(founder) ?? []), pos])
  }
  return entities
}

/** CORE-18, CORE-19: `[position, in force]` of each live entity but tombstones, in path order. */
export function resolvedOn(nodes: readonly Node[], path: readonly number[]): [number, number][] {
  const dead = deadOn(nodes, path)
  const live = [...entitiesOn(nodes, path)].filter(([founder]) => !dead.has(founder))
  return live
    .map(([, records]): [number, number] => [records[0], records[records.length - 1]])
    .filter(([position]) => nodes[position - 1].type !== 'tombstone')
    .sort(([a], [b]) => a - b)
}

/** CORE-23, CORE-24: the compaction in force, what is replaced up to, and what was passed over, the last first. */
export function inForceOn(nodes: readonly Node[], path: readonly number[]) {
  const passedOver: number[] = []
  const compactions = resolvedOn(nodes, path).filter(([position]) => nodes[position - 1].type === 'compaction')
  for (const [position, compaction] of compactions.reverse()) {
    const { completed, target } = nodes[compaction - 1]
    if (!completed) continue
    const before = path.filter((pos) => pos < position)
    if (target === 0) {
      const through = before.findLast((pos) => nodes[pos - 1].participates) ?? 0
      return { compaction, through, passedOver }
    }
    if (before.includes(target)) return { compaction, through: target, passedOver }
    passedOver.push(compaction)
  }
  return { compaction: 0, through: 0, passedOver }
}

const TYPES = [
  'message',
  'message',
  'tool_call',
  'tool_result',
  'instructions',
  'compaction',
  'tombstone',
  'state',
  'session_info',
  'head',
]

interface Dice {
  type: string
  parent: number
  far: boolean
  revise: number
  target: number
  yes: boolean
  rare: number
}

/** A tree that is mostly linear, with branches, revisions, tombstones and compactions wherever they may stand. */
export const trees: fc.Arbitrary<Node[]> = fc
  .array(
    fc.record<Dice>({
      type: fc.constantFrom(...TYPES),
      parent: fc.nat(),
      far: fc.boolean(),
      revise: fc.nat(),
      target: fc.nat(),
      yes: fc.boolean(),
      rare: fc.nat(9),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((dice) => {
    const nodes: Node[] = []
    for (const one of dice) nodes.push(nodeOf(one, nodes))
    return nodes
  })

function nodeOf({ type, parent, far, revise, target, yes, rare }: Dice, nodes: readonly Node[]): Node {
  const pos = nodes.length + 1
  const onPath = nodes.flatMap((node, i) => (node.type === 'head' ? [] : [i + 1]))
  const pick = (from: readonly number[], dice: number) => from[dice % (from.length || 1)] ?? 0
  const root = rare === 0 || type === 'head'
  const isPart = ['message', 'tool_call', 'tool_result', 'instructions', 'compaction'].includes(type)
  return {
    type,
    parent: root ? 0 : far ? pick(onPath, parent) : (onPath.at(-1) ?? 0),
    founder: founderOf(type, pos, revise, nodes),
    target: targetOf(type, target, nodes),
    participates: isPart && (type !== 'message' || rare !== 1),
    completed: type === 'compaction' && rare !== 2,
    orphan: root && type !== 'head' && yes,
    gap: !root && rare === 3,
  }
}

function founderOf(type: string, pos: number, dice: number, nodes: readonly Node[]): number {
  if (type === 'head' || type === 'tombstone' || dice % 3 !== 0) return pos
  const founders = nodes.flatMap((node, i) => (node.type === type && node.founder === i + 1 ? [i + 1] : []))
  return founders[dice % (founders.length || 1)] ?? pos
}

function targetOf(type: string, dice: number, nodes: readonly Node[]): number {
  if (type === 'tombstone') {
    const founders = nodes.flatMap((node, i) =>
      node.type === 'head' || node.type === 'tombstone' ? [] : [nodes[i].founder],
    )
    return founders[dice % (founders.length || 1)] ?? 0
  }
  if (type !== 'compaction' || dice % 3 === 0) return 0
  return dice % 7 === 0 ? BAD_TARGET : 1 + (dice % (nodes.length + 1))
}

/** `n` messages in a line. */
export function line(n: number): Node[] {
  return Array.from({ length: n }, (_, i) => ({ ...MESSAGE, parent: i, founder: i + 1 }))
}
