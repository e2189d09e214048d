/**
 * The file read again, as agents without a store do it: every line is parsed, then the path is walked back.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { StoredRecord } from '../../src/main.js'

const BLOCK_BYTES = 1024 * 1024
const BATCH = 1_000

/** The lines of a file, from blocks of a megabyte: a file may be larger than the longest string. */
export function* linesOf(file: string): Generator<string> {
  const descriptor = openSync(file, 'r')
  try {
    let block = Buffer.alloc(BLOCK_BYTES)
    let kept = 0
    for (;;) {
      if (kept === block.length) block = Buffer.concat([block, Buffer.alloc(block.length)])
      const read = readSync(descriptor, block, kept, block.length - kept, null)
      if (read === 0) break
      const end = block.subarray(0, kept + read).lastIndexOf(0x0a) + 1
      if (end > 0) yield* block.toString('utf8', 0, end - 1).split('\n')
      block.copyWithin(0, end, kept + read)
      kept = kept + read - end
    }
    if (kept > 0) yield block.toString('utf8', 0, kept)
  } finally {
    closeSync(descriptor)
  }
}

/** The records of a JSONL file without its header. */
export function* batchesOf(jsonl: string): Generator<StoredRecord[]> {
  let batch: StoredRecord[] = []
  for (const line of linesOf(jsonl)) {
    const record = JSON.parse(line) as StoredRecord
    if (record.type === 'header') continue
    batch.push(record)
    if (batch.length === BATCH) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** The records of a byte range that begins and ends with a line. */
export function parseRange(descriptor: number, from: number, to: number): number {
  const block = Buffer.allocUnsafe(to - from)
  readSync(descriptor, block, 0, block.length, from)
  let sum = 0
  for (const line of block.toString('utf8', 0, block.length - 1).split('\n'))
    sum += (JSON.parse(line) as StoredRecord).type.length
  return sum
}

/** Where each line begins, and where the last one ends. */
export function lineStarts(file: string): number[] {
  const starts = [0]
  let at = 0
  for (const line of linesOf(file)) {
    at += Buffer.byteLength(line) + 1
    starts.push(at)
  }
  return starts
}

interface Node {
  record: StoredRecord
  parent: Node | undefined
}

/** All records by their ids, and the last of them: what a path needs. */
function readTree(file: string): { byId: Map<string, Node>; last: Node | undefined } {
  const byId = new Map<string, Node>()
  let last: Node | undefined
  for (const line of linesOf(file)) {
    const record = JSON.parse(line) as StoredRecord
    if (record.type === 'header') continue
    const { parentId } = record
    const parent = parentId === undefined ? last : parentId === null ? undefined : byId.get(parentId)
    last = { record, parent }
    byId.set(record.id, last)
  }
  return { byId, last }
}

/** The last compaction on the path and what follows it. */
export function viewOf(file: string): StoredRecord[] {
  const records: StoredRecord[] = []
  for (let node = readTree(file).last; node !== undefined; node = node.parent) {
    records.push(node.record)
    if (node.record.type === 'compaction') break
  }
  return records.reverse()
}

/** The records from a root to the record of an id. */
export function pathOf(file: string, id: string): StoredRecord[] {
  const records: StoredRecord[] = []
  for (let node = readTree(file).byId.get(id); node !== undefined; node = node.parent) records.push(node.record)
  return records.reverse()
}

export function sizeOf(file: string): number {
  const descriptor = openSync(file, 'r')
  const { size } = fstatSync(descriptor)
  closeSync(descriptor)
  return size
}
