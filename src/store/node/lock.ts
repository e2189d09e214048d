/**
 * Our part of a store's lock. Between processes the kernel decides, by level's lock on `index/LOCK` (see `node-index.ts`); the
 * files here refuse a second opener in this very process, whose failed try would take that lock from the first, say who
 * holds the store, and tell a holder that was pushed aside. Nothing in a process that holds the store may open `index/LOCK`.
 *
 * The order: `acquire`, open level, `announce`; then `check` before each write and again before it is acknowledged; at the
 * end close level, `release`.
 */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { AsrError } from '../../base/error.js'
import { errnoOf, ioError } from '../../log/storage/io-error.js'
import { createFile } from '../../log/storage/node-private.js'
import { type ProcessIdentity, processIdentity } from './process-identity.js'

const LOCK = 'LOCK'
/** Of claims, of `LOCK` files in the making, and of the folders of `HOLDING_PREFIX`. */
const PREFIX = 'LOCK-'
/** Of folders by which the kernel's lock is held while the index is put aside. */
export const HOLDING_PREFIX = `${PREFIX}holding-`

/** What `LOCK` says of its holder. */
export interface LockRecord extends ProcessIdentity {
  token: string
  hostname: string
  since: string
}

/** Whether a file of the store's folder is of the lock, so that a folder with nothing else counts as empty. */
export function isLockFile(name: string): boolean {
  return name === LOCK || name.startsWith(PREFIX)
}

/**
 * Whether a holder that never released ran under this running of the kernel: then its writes are all there, but for
 * the last, while a power cut may have taken any that were not synced. Where the system does not tell: no.
 */
export function isOfThisBoot(record: LockRecord): boolean {
  return record.boot !== '' && record.boot === processIdentity().boot
}

/** The refusal of an opener, for whoever finds the store held; `cause` is level's own. */
export function lockedError(folder: string, cause?: unknown): AsrError {
  const holder = FolderLock.holder(folder)
  const message = `the store in ${folder} is held by ${holder ?? 'another process'}`
  return new AsrError('ASR_LOCKED', message, { holder, cause })
}

export class FolderLock {
  readonly #folder: string
  readonly #identity: ProcessIdentity
  /** The file that holds off the rest of this process, open as long as it counts. */
  readonly #claim: string
  readonly #claimFd: number
  #lockFd: number | undefined
  #released = false

  private constructor(folder: string, identity: ProcessIdentity) {
    this.#folder = folder
    this.#identity = identity
    this.#claim = join(folder, claimName(identity))
    this.#claimFd = openClaim(folder, this.#claim)
  }

  /**
   * Claims the folder for the caller against the rest of its process, worker threads included.
   * @throws ASR_LOCKED, ASR_READ_ONLY, ASR_NO_SPACE, ASR_IO
   */
  static acquire(folder: string): FolderLock {
    return new FolderLock(folder, processIdentity())
  }

  /** Who holds the folder, for messages; undefined when nobody says so. */
  static holder(folder: string): string | undefined {
    const record = readLock(folder)
    return record && `process ${record.pid} on host ${record.hostname} since ${record.since}`
  }

  /**
   * Says that the folder is held: the kernel's lock is ours. Returns what a holder that never released said.
   * @throws ASR_LOCKED, ASR_READ_ONLY, ASR_NO_SPACE, ASR_IO
   */
  announce(): LockRecord | undefined {
    // An opener before us took the claim for a leftover: until now another thread could have made the same one.
    if (fstatSync(this.#claimFd).nlink === 0) throw lockedError(this.#folder)
    const left = readLock(this.#folder)
    try {
      this.#lockFd = this.#writeLock()
      this.#removeLeftovers()
    } catch (error) {
      throw ioError(error, `writing ${join(this.#folder, LOCK)}`)
    }
    return left
  }

  /**
   * Costs one system call.
   * @throws ASR_FENCED when `LOCK` was deleted, or another holder put its own there
   */
  check(): void {
    if (this.#lockFd !== undefined && fstatSync(this.#lockFd).nlink > 0) return
    const holder = FolderLock.holder(this.#folder)
    const message = `the store in ${this.#folder} is no longer ours: ${holder ? `${holder} took it` : 'its LOCK is gone'}`
    throw new AsrError('ASR_FENCED', message, { holder })
  }

  /** Lets the folder go, once level is closed; idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    try {
      if (this.#lockFd !== undefined) removeIfSame(this.#folder, this.#lockFd)
      if (fstatSync(this.#claimFd).nlink > 0) removeIfThere(this.#claim)
    } catch (error) {
      throw ioError(error, `releasing ${this.#folder}`)
    } finally {
      if (this.#lockFd !== undefined) closeSync(this.#lockFd)
      this.#lockFd = undefined
      closeSync(this.#claimFd)
    }
  }

  #writeLock(): number {
    const token = randomUUID()
    const record: LockRecord = { ...this.#identity, token, hostname: hostname(), since: new Date().toISOString() }
    const fresh = join(this.#folder, `${PREFIX}new-${token}`)
    const fd = createFile(fresh, 'wx')
    try {
      writeSync(fd, `${JSON.stringify(record)}\n`)
      renameSync(fresh, join(this.#folder, LOCK))
      return fd
    } catch (error) {
      closeSync(fd)
      removeIfThere(fresh)
      throw error
    }
  }

  /** Of the dead; a living opener whose claim goes with them is about to be refused, or finds out in `announce`. */
  #removeLeftovers(): void {
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name)
      if (name.startsWith(PREFIX) && path !== this.#claim) rmSync(path, { recursive: true, force: true })
    }
  }
}

function claimName({ pid, start, boot, pidNamespace }: ProcessIdentity): string {
  return `${PREFIX}${pid}-${start}-${boot.slice(0, 8)}-${pidNamespace}`
}

function openClaim(folder: string, claim: string): number {
  try {
    return createFile(claim, 'wx')
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw ioError(error, `locking ${folder}`)
    if (isOpenHere(claim)) throw lockedError(folder, error)
  }
  // A thread was ended while it held the claim; its descriptors were closed with it.
  removeIfThere(claim)
  try {
    return createFile(claim, 'wx')
  } catch (error) {
    throw errnoOf(error) === 'EEXIST' ? lockedError(folder, error) : ioError(error, `locking ${folder}`)
  }
}

/** Whether some thread of this process has the file open; yes where the system does not tell. */
export function isOpenHere(path: string): boolean {
  let descriptors: string[]
  try {
    descriptors = readdirSync('/dev/fd')
  } catch {
    return true
  }
  const file = statSync(path, { throwIfNoEntry: false })
  if (file === undefined) return false
  return descriptors.some((descriptor) => {
    try {
      const { dev, ino } = fstatSync(Number(descriptor))
      return dev === file.dev && ino === file.ino
    } catch {
      return false
    }
  })
}

/**
 * Removes the `LOCK` that is open as `fd`, and no other that took its place meanwhile: the file is moved aside, looked at
 * and, if it is another's, put back, all the while with a name, so that its holder does not think itself fenced.
 */
function removeIfSame(folder: string, fd: number): void {
  const { ino, nlink } = fstatSync(fd)
  if (nlink === 0) return
  const path = join(folder, LOCK)
  const aside = join(folder, `${PREFIX}old-${randomUUID()}`)
  try {
    renameSync(path, aside)
    if (statSync(aside).ino !== ino) linkSync(aside, path)
  } catch (error) {
    // Gone with its folder; or a third holder has put its own there, and the second is rightly fenced.
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'EEXIST') throw error
  }
  removeIfThere(aside)
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

function readLock(folder: string): LockRecord | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(join(folder, LOCK), 'utf8'))
    return isLockRecord(record) ? record : undefined
  } catch {
    return undefined
  }
}

function isLockRecord(value: unknown): value is LockRecord {
  if (typeof value !== 'object' || value === null) return false
  const record = value as Record<keyof LockRecord, unknown>
  const texts = [record.start, record.boot, record.pidNamespace, record.token, record.hostname, record.since]
  return typeof record.pid === 'number' && texts.every((text) => typeof text === 'string')
}
