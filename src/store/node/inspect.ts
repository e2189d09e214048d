/**
 * Whether a folder is a store, may become one, or is something else.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AsrError } from '../../base/error.js'
import { STAGING_FOLDER, STREAMS_FOLDER, TRASH_FOLDER } from '../../log/files/segment.js'
import { errnoOf } from '../../log/storage/io-error.js'
import { SIDE_FOLDER } from '../../record/side-file.js'
import { parseFormatLine } from './format-file.js'
import { DAMAGED_FOLDER, INDEX_FOLDER } from './index-folder.js'
import { READERS_FOLDER } from './index-snapshot.js'
import { isLockFile } from './lock.js'
import { isOpeningMark } from './opening-mark.js'
import { RESERVE_FILE } from './reserve.js'

export const FORMAT_FILE = 'FORMAT'
const OUR_NAMES = [
  `${FORMAT_FILE}.new`,
  INDEX_FOLDER,
  DAMAGED_FOLDER,
  READERS_FOLDER,
  RESERVE_FILE,
  STREAMS_FOLDER,
  SIDE_FOLDER,
  STAGING_FOLDER,
  TRASH_FOLDER,
]
/** What file systems, desktops and version control leave in folders that hold nothing: a new disk is not an occupied one. */
const OF_NOBODY = new Set([
  'lost+found',
  '.DS_Store',
  '.localized',
  '.directory',
  '.Spotlight-V100',
  '.Trashes',
  '.fseventsd',
  '.TemporaryItems',
  '.DocumentRevisions-V100',
  '.VolumeIcon.icns',
  '.AppleDouble',
  '.AppleDB',
  '.AppleDesktop',
  '.apdisk',
  'Icon\r',
  '.snapshot',
  '.snapshots',
  '.zfs',
  '@eaDir',
  '#recycle',
  '#snapshot',
  '.dropbox',
  '.dropbox.attr',
  '.nomedia',
  '.stfolder',
  '.stignore',
  '.git',
  '.gitattributes',
  '.gitignore',
  '.gitkeep',
  '.keep',
  '.hgignore',
  '.ignore',
  '.dockerignore',
  'desktop.ini',
  'Thumbs.db',
  '$RECYCLE.BIN',
  'System Volume Information',
])
const NAMES_TOLD = 3

export type FolderState = 'empty' | 'sound' | 'unmarked'

/** @throws ASR_FORMAT */
export function inspect(folder: string): FolderState {
  let names: string[]
  try {
    if (!statSync(folder).isDirectory()) throw notAStore(folder, 'it is a file')
    names = readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'empty'
    throw error
  }
  if (names.includes(FORMAT_FILE)) {
    const storeId = parseFormatLine(readFileSync(join(folder, FORMAT_FILE), 'latin1'))
    if (storeId !== undefined) return 'sound'
    if (names.includes(STREAMS_FOLDER)) return 'unmarked'
    throw notAStore(folder, 'its FORMAT is not ours')
  }
  // Without FORMAT: logs make a store; our own names without a log are a store that was never finished.
  if (names.includes(STREAMS_FOLDER) && hasLogs(folder)) return 'unmarked'
  const others = names.filter((name) => !isOurs(name) && !isOfNobody(name))
  if (others.length === 0) return 'empty'
  throw notAStore(folder, `it holds ${told(others)}`)
}

/** Whether a name in a store's folder is one that the store makes; FORMAT apart. */
export function isOurs(name: string): boolean {
  return OUR_NAMES.includes(name) || isLockFile(name) || isOpeningMark(name)
}

function isOfNobody(name: string): boolean {
  return OF_NOBODY.has(name) || /^\.(_|nfs|Trash-)/.test(name)
}

function told(names: readonly string[]): string {
  const some = [...names].sort().slice(0, NAMES_TOLD)
  const more = names.length - some.length
  return some.map((name) => JSON.stringify(name)).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Whether there are logs of streams in a store's folder. */
export function hasLogs(folder: string): boolean {
  const streams = join(folder, STREAMS_FOLDER)
  if (statSync(streams, { throwIfNoEntry: false })?.isDirectory() !== true) return false
  return readdirSync(streams).some((name) => /^[0-9a-f]{32}-[0-9a-f]{16}-[0-9]{6}\.log/.test(name))
}

export function notAStore(folder: string, why: string): AsrError {
  return new AsrError('ASR_FORMAT', `${folder} is not a store: ${why}`)
}
