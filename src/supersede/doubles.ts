/**
 * Two revisions of one target on one path (CORE-18).
 */

import type { Flow } from '../base/flow.js'
import { turns } from '../base/turn.js'
import { pageOf } from '../index/page.js'
import type { IndexReader } from '../index/reader.js'

/** A record that revises an earlier one. */
export interface Revision {
  pos: number
  parent: number
  /** the id that it supersedes; undefined where a plan's id alone made it a revision */
  target: string | undefined
}

export interface Double {
  pos: number
  /** the first one of the path that revises the same */
  earlier: number
  target: string
}

/**
 * Each revision on whose path an earlier one revises the same, in log order. Takes all revisions of a stream, in log order; they
 * are walked as the tree that they make among themselves, each once.
 */
export function* doublesIn(index: IndexReader, revisions: readonly Revision[]): Flow<Double[]> {
  const tree = yield* treeOf(index, revisions)
  const found: Double[] = []
  /** those of the path that is walked, by what they revise */
  const onPath = new Map<string, number[]>()
  for (let at = tree.firstRoot; at !== NONE; ) {
    if (turns.isOver()) yield turns.next()
    const { pos, target } = revisions[at]
    if (target !== undefined) {
      const earlier = onPath.get(target)
      if (earlier === undefined) onPath.set(target, [pos])
      else if (earlier.push(pos) > 1) found.push({ pos, earlier: earlier[0], target })
    }
    if (tree.firstChild[at] !== NONE) {
      at = tree.firstChild[at]
      continue
    }
    for (; at !== NONE; at = tree.above[at]) {
      const left = revisions[at].target
      if (left !== undefined) onPath.get(left)?.pop()
      if (tree.sibling[at] === NONE) continue
      at = tree.sibling[at]
      break
    }
  }
  return found.sort((a, b) => a.pos - b.pos)
}

const NONE = -1

/** Places in the list of revisions. */
interface Tree {
  firstRoot: number
  above: Int32Array
  firstChild: Int32Array
  sibling: Int32Array
}

function* treeOf(index: IndexReader, revisions: readonly Revision[]): Flow<Tree> {
  const { length } = revisions
  const above = new Int32Array(length).fill(NONE)
  const firstChild = new Int32Array(length).fill(NONE)
  const sibling = new Int32Array(length).fill(NONE)
  const places = new Map(revisions.map(({ pos }, place) => [pos, place]))
  // By their parents, so that each page is asked for once.
  const byParent = Int32Array.from(revisions.keys()).sort((a, b) => revisions[a].parent - revisions[b].parent)
  for (const place of byParent) {
    const { parent } = revisions[place]
    if (parent === 0) continue
    const nearest = (yield* index.page(pageOf(parent))).landmark('revision', parent)
    above[place] = places.get(nearest) ?? NONE
  }
  let firstRoot = NONE
  for (let place = length - 1; place >= 0; place--) {
    const parent = above[place]
    sibling[place] = parent === NONE ? firstRoot : firstChild[parent]
    if (parent === NONE) firstRoot = place
    else firstChild[parent] = place
  }
  return { firstRoot, above, firstChild, sibling }
}
