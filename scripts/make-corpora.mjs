/**
 * Makes the sessions and captures of test/corpus/ from real ones: the same tree, types, fields, numbers and sizes, with
 * made words. `node scripts/make-corpora.mjs FOLDER` reads FOLDER/*.asr.jsonl and FOLDER/acp-frames/*.jsonl.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { argv, stdout } from 'node:process'
import { gzipSync } from 'node:zlib'
import { earlier, wordMaker, wordsOf } from './made-words.mjs'
import { isProgram, projectRoot } from './project.mjs'

const SESSION = '.asr.jsonl'

/** Fields whose values are the format's or the protocol's own words. */
const ENUMERATED = new Set(
  `action asr callIdSource category code currency dir fileType format jsonrpc kind linkage lossy media_type method mimeType
  operation origin outcome priority required role sessionUpdate severity state status stopReason tsSource type version`.split(
    /\s+/,
  ),
)
const ENUMERATION = /^[\w@.+:/-]{0,80}$/
const BYTES = new Set(['data', 'base64'])
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^[A-Za-z0-9+/]{2}==$|^[A-Za-z0-9+/]{3}=$/

/** The files of a folder of real ones, by their names, as text. */
export function realFiles(folder) {
  const below = (under, suffix) =>
    readdirSync(join(folder, under))
      .filter((name) => name.endsWith(suffix))
      .sort()
      .map((name) => join(under, name))
  const names = [...below('', SESSION), ...below('acp-frames', '.jsonl')]
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** All of them made anew. */
export function madeFiles(real) {
  const words = new Set()
  const add = (value) => {
    for (const word of wordsOf(value)) words.add(word)
  }
  for (const text of real.values()) eachFree(text, add)
  for (let salt = 1; ; salt++) {
    const making = wordMaker(words, salt)
    const made = new Map([...real].map(([name, text]) => [name, madeFile(name, text, making)]))
    // The end of a chunk may cut a made word so that a real one is left.
    if (survivors(words, made).length === 0) return made
  }
}

/** The words of the real files' texts that stand in those of the made ones. */
export function survivors(words, made) {
  const found = new Set()
  for (const text of made.values()) {
    eachFree(text, (value) => {
      for (const word of wordsOf(value)) if (words.has(word)) found.add(word)
    })
  }
  return [...found]
}

/** Calls with each text that is no word of a format; bytes as the text that they are. A session goes by its file's name. */
export function eachFree(text, call) {
  for (const line of linesOf(text)) {
    const value = JSON.parse(line)
    mapped(value.type === 'header' ? { ...value, sessionId: '' } : value, '', (free) => {
      call(free)
      return free
    })
  }
}

function madeFile(name, text, making) {
  const session = basename(name, SESSION)
  const lines = linesOf(text)
  const chunks = name.endsWith(SESSION) ? [] : madeChunks(lines, making)
  const made = lines.map((line, at) => {
    const value = mapped(JSON.parse(line), '', making)
    if (chunks[at] !== undefined) setChunk(value.frame.params.update, chunks[at])
    // What a capture holds of a frame's own text is that text.
    if (value.raw !== undefined) value.raw = JSON.stringify(value.frame)
    return JSON.stringify(value.type === 'header' ? { ...value, sessionId: session } : value)
  })
  return `${made.join('\n')}\n`
}

function linesOf(text) {
  return text.trimEnd().split('\n')
}

/** A value with its texts, times and bytes made anew. The text of a frame's own line is left, since it is made from it. */
function mapped(value, key, making) {
  if (Array.isArray(value)) return value.map((item) => mapped(item, key, making))
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
    return Object.fromEntries(
      members.map(([name, member]) => [name, name === 'raw' ? member : mapped(member, name, making)]),
    )
  }
  if (typeof value === 'number') return value > 1.6e12 && value < 1.9e12 ? earlier(value) : value
  if (typeof value !== 'string' || (ENUMERATED.has(key) && ENUMERATION.test(value))) return value
  return BYTES.has(key) && BASE64.test(value) ? madeBytes(value, making) : making(value)
}

function madeBytes(base64, making) {
  return bytesFor(Buffer.from(base64, 'base64'), making).toString('base64')
}

/** Text that is told as bytes stays text; other bytes become others. */
function bytesFor(bytes, making) {
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return Buffer.from(making(text))
  return Buffer.from(bytes.map((byte, at) => byte ^ createHash('sha256').update(`${at}`).digest()[0]))
}

/** The texts, or bytes, of chunks, by line: a word may begin in one chunk and end in the next. */
function madeChunks(lines, making) {
  const whole = new Map()
  const latest = new Map()
  lines.forEach((line, at) => {
    const { conn, frame } = JSON.parse(line)
    const update = frame?.params?.update
    if (update?.sessionUpdate === undefined) return
    const session = `${conn} ${frame.params.sessionId}`
    if (latest.get(session)?.kind !== update.sessionUpdate) latest.set(session, { kind: update.sessionUpdate, at })
    const bytes = chunkOf(update)
    if (bytes === undefined) return
    const name = update.messageId ?? update.toolCallId ?? update.terminalId ?? latest.get(session).at
    const key = JSON.stringify([session, update.sessionUpdate, name])
    whole.set(key, [...(whole.get(key) ?? []), { at, bytes }])
  })
  const chunks = []
  for (const parts of whole.values()) {
    let made = bytesFor(Buffer.concat(parts.map(({ bytes }) => bytes)), making)
    for (const { at, bytes } of parts) {
      chunks[at] = made.subarray(0, bytes.length)
      made = made.subarray(bytes.length)
    }
  }
  return chunks
}

function chunkOf({ sessionUpdate, content, data }) {
  if (!sessionUpdate.endsWith('_chunk')) return undefined
  if (typeof content?.text === 'string') return Buffer.from(content.text)
  return typeof data === 'string' ? Buffer.from(data, 'base64') : undefined
}

function setChunk(update, bytes) {
  if (update.data === undefined) update.content.text = bytes.toString('utf8')
  else update.data = bytes.toString('base64')
}

if (isProgram(import.meta)) {
  const folder = argv[2]
  if (folder === undefined) throw new Error('the folder of the real sessions is missing')
  const real = realFiles(folder)
  for (const [name, text] of madeFiles(real)) {
    const file = join(projectRoot, 'test/corpus', `${name}.gz`)
    mkdirSync(dirname(file), { recursive: true })
    const packed = gzipSync(text, { level: 9 })
    writeFileSync(file, packed)
    const before = gzipSync(real.get(name), { level: 9 })
    const change = ((packed.length / before.length - 1) * 100).toFixed(1)
    stdout.write(
      `${name}: ${Buffer.byteLength(text)} of ${Buffer.byteLength(real.get(name))} bytes, packed ${packed.length} (${change} %)\n`,
    )
  }
}
