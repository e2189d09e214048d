/**
 * The `FORMAT` file of a store's folder: one line with the version, the store's id and a check.
 */
import { AsrError } from '../../base/error.js'
import { hashText, hex64 } from '../../base/hash.js'

/** 1: the first. */
export const STORE_FORMAT = 1

export function formatLine(storeId: string): string {
  const line = `asr-store ${STORE_FORMAT} ${storeId}`
  return `${line} ${hex64(hashText(line))}\n`
}

/** The store id of a format line; undefined when it is damaged. @throws ASR_FORMAT for another version, however its line goes on */
export function parseFormatLine(text: string): string | undefined {
  const version = /^asr-store ([0-9]+)\b/.exec(text)?.[1]
  if (version !== undefined && Number(version) !== STORE_FORMAT) {
    throw new AsrError('ASR_FORMAT', `the store has format ${version}; this version reads format ${STORE_FORMAT}`)
  }
  const match = /^(asr-store [0-9]+ ([0-9a-f]{32})) ([0-9a-f]{16})\n$/.exec(text)
  return match !== null && hex64(hashText(match[1])) === match[3] ? match[2] : undefined
}
