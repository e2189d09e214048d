/**
 * Stores in folders, as images that are put down again and again to be damaged.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AsrRecord, openStore, type Store, type StoreOptions } from '../../src/main.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import { OTHER } from './place.js'
import { type Written, written } from './written.js'

const top = tempFolder()

/** Path below the folder, and bytes. */
export type Image = Map<string, Uint8Array>

export function imageOf(folder: string): Image {
  const image: Image = new Map()
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name)
    if (statSync(path).isFile()) image.set(name, new Uint8Array(readFileSync(path)))
  }
  return image
}

/** The image as a folder, in place of what was there. */
export function putDown(image: Image, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, bytes] of image) {
    mkdirSync(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, name), bytes, { mode: 0o600 })
  }
}

export interface KeptFolder {
  image: Image
  /** the image before the last records were written: what stale blocks are taken from */
  older: Image
  expected: Written
}

/** A closed store in a folder, its index in tables and a log: opened and written to a few times. */
export async function keptFolder(records: readonly AsrRecord[], parts = 3): Promise<KeptFolder> {
  const folder = tempFolder()
  let older: Image = new Map()
  for (let part = 0; part < parts; part++) {
    older = part === 0 ? older : imageOf(folder)
    const store = await openStore(folder)
    const stream = part === 0 ? await store.createStream(header('s')) : await store.stream('s')
    for (const [i, record] of records.entries()) if (i % parts === part) await stream.append(record)
    if (part === 0) {
      const other = await store.createStream(header(OTHER.sessionId))
      for (const { records: ofOther } of OTHER.appends) await other.append(ofOther)
    }
    await store.close()
  }
  const inOrder = Array.from({ length: parts }, (_, part) => records.filter((_record, i) => i % parts === part)).flat()
  return { image: imageOf(folder), older, expected: written('s', inOrder) }
}

/** Leaves it in a folder for other processes. */
export function writeKept({ image, older, expected }: KeptFolder): string {
  const folder = tempFolder()
  putDown(image, join(folder, 'image'))
  putDown(older, join(folder, 'older'))
  writeFileSync(join(folder, 'expected'), JSON.stringify(expected))
  return folder
}

export function readKept(folder: string): KeptFolder {
  const expected = JSON.parse(readFileSync(join(folder, 'expected'), 'utf8')) as Written
  return { image: imageOf(join(folder, 'image')), older: imageOf(join(folder, 'older')), expected }
}

let put = 0

/** Opens the image in a folder of its own, for as long as `use` takes. */
export async function withStore<T>(
  image: Image,
  options: StoreOptions,
  use: (store: Store, folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(top, String(put++))
  putDown(image, folder)
  try {
    const store = await openStore(folder, options)
    try {
      return await use(store, folder)
    } finally {
      await store.close().catch(() => undefined) // what failed before is what counts
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a process leaves that ends without closing: its LOCK too. */
export function lockOf(boot: string): string {
  const holder = { pid: 4_000_000, start: '1', boot, pidNamespace: '1' }
  return `${JSON.stringify({ ...holder, token: 'token', hostname: 'host', since: '2026-01-01T00:00:00.000Z' })}\n`
}
