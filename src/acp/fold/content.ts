/**
 * Content that grows by chunks and is replaced as a whole (ASR-704). Text of chunks that follow each other is one block
 * (ASR-211); a block that came in a full update, or that carries more than its text, stays apart, so that the blocks a
 * client saw are the blocks a replay shows.
 */
import { type Chain, chainItems, chainOf, linked } from '../chain.js'
import type { JsonObject } from '../json.js'

export interface Content {
  readonly blocks: Chain<JsonObject> | undefined
  /** nothing but chunks since the content was last empty */
  readonly fromChunks: boolean
  /** the last block is plain text of a chunk */
  readonly open: boolean
}

export const NO_CONTENT: Content = { blocks: undefined, fromChunks: false, open: false }

export function wholeContent(blocks: readonly JsonObject[], fromChunks = false): Content {
  return { blocks: chainOf(blocks), fromChunks, open: fromChunks && isPlainText(blocks.at(-1)) }
}

export function withChunk(content: Content, block: JsonObject): Content {
  const { blocks, open } = content
  const fromChunks = content.fromChunks || blocks === undefined
  if (!isPlainText(block)) return { blocks: linked(blocks, block), fromChunks, open: false }
  if (!open || blocks === undefined) return { blocks: linked(blocks, block), fromChunks, open: true }
  const joined = { ...blocks.last, text: `${blocks.last.text}${block.text}` }
  return { blocks: linked(blocks.before, joined), fromChunks, open: true }
}

export function blocksOf(content: Content): JsonObject[] {
  return chainItems(content.blocks)
}

/** How the content was put together (ASR-704). */
export function assemblyOf(content: Content): 'chunks' | 'folded' {
  return content.fromChunks ? 'chunks' : 'folded'
}

function isPlainText(block: JsonObject | undefined): boolean {
  return block?.type === 'text' && typeof block.text === 'string' && Object.keys(block).length === 2
}
