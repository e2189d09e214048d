/**
 * The `FORMAT` file of a store's folder: one line with the version, the store's id and a check.
 */
import { AsrError } from '../record/error.js'
import { hashText, hex64 } from '../record/hash.js'

/** 1: the first. */
export const STORE_FORMAT = 1

export function formatLine(storeId: string): string {
  const line = `asr-store ${STORE_FORMAT} ${storeId}`
  return `${line} ${hex64(hashText(line))}\n`
}

/** The store id of a format line; undefined when it is damaged. @throws ASR_FORMAT for another version */
export function parseFormatLine(text: string): string | undefined {
  const match = /^(asr-store ([0-9]+) ([0-9a-f]{32})) ([0-9a-f]{16})\n$/.exec(text)
  if (match === null || hex64(hashText(match[1])) !== match[4]) return undefined
  if (Number(match[2]) === STORE_FORMAT) return match[3]
  throw new AsrError('ASR_FORMAT', `the store has format ${match[2]}; this version reads format ${STORE_FORMAT}`)
}
