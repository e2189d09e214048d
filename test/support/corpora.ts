/**
 * Sessions and captures of real shape: those that the project carries, whose words are made, and the real ones where
 * they lie beside the project. Tests run on the former always, and are counted as skipped for the latter when absent.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { test } from 'uvu'
import type { ObservedFrame } from '../../src/acp/main.js'

/** npm runs scripts, and the runner runs each test, in the project's folder. */
export const CARRIED = resolve('test/corpus')
export const REAL = resolve('../shared/data')
const PACKED = '.gz'

export interface Corpus {
  /** of its file, without what the file is */
  name: string
  /** how a test calls it */
  title: string
  /** its words are those that were said */
  isReal: boolean
  /** registers a test of it, which is skipped when it is not there */
  test: (title: string, run: () => Promise<void>) => void
  bytes(): Buffer
}

function corpora(folder: string, suffix: string): Corpus[] {
  const names = readdirSync(resolve(CARRIED, folder)).filter((name) => name.endsWith(suffix + PACKED))
  return names.sort().flatMap((file): Corpus[] => {
    const name = file.slice(0, -(suffix + PACKED).length)
    const real = resolve(REAL, folder, `${name}${suffix}`)
    return [
      { name, title: name, isReal: false, test, bytes: () => gunzipSync(readFileSync(resolve(CARRIED, folder, file))) },
      {
        name,
        title: `the real ${name}`,
        isReal: true,
        test: existsSync(real) ? test : test.skip,
        bytes: () => readFileSync(real),
      },
    ]
  })
}

/** Streams as JSONL; the name is the session's id. */
export const sessions = corpora('', '.asr.jsonl')

/** Frames between clients and agents, in both versions of the protocol. */
export const captures = corpora('acp-frames', '.jsonl')

/** The two of a capture: the carried one, and the real one. */
export function captureOf(name: string): Corpus[] {
  return captures.filter((capture) => capture.name === name)
}

export function framesOf(lines: Uint8Array): ObservedFrame[] {
  return Buffer.from(lines)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { dir, frame, at, conn, raw } = JSON.parse(line)
      return { dir, frame, at, conn, text: raw }
    })
}
