import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Level } from 'level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AsrError, isAsrError } from '../../src/base/error.js'
import { FolderLock, isLockFile, isOfThisBoot, lockedError } from '../../src/store/node/lock.js'
import type { Answer, Told } from './lock-child.js'

const CHILD = new URL('./lock-child.js', import.meta.url)

const folders: string[] = []
const children: ChildProcess[] = []
const workers: Worker[] = []

function makeFolder(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'asr-test-lock-'))
  folders.push(folder)
  return folder
}

interface Contender {
  pid: number | undefined
  tell(step: Told['step'], folder: string): Promise<Answer>
  kill(): Promise<void>
}

function inProcess(): Contender {
  const child = fork(CHILD)
  children.push(child)
  return {
    pid: child.pid,
    tell: async (step, folder) => {
      child.send({ step, folder })
      const [answer] = await once(child, 'message')
      return answer
    },
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

function inThread(): Contender {
  const worker = new Worker(CHILD)
  workers.push(worker)
  return {
    pid: process.pid,
    tell: async (step, folder) => {
      worker.postMessage({ step, folder })
      const [answer] = await once(worker, 'message')
      return answer
    },
    kill: async () => {
      await worker.terminate()
    },
  }
}

function refusal(call: () => unknown): AsrError | undefined {
  try {
    call()
  } catch (error) {
    if (isAsrError(error)) return error
    throw error
  }
  return undefined
}

function lockFiles(folder: string): string[] {
  return fs.readdirSync(folder).filter(isLockFile)
}

test.after(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const worker of workers) await worker.terminate()
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true })
})

test('a holder says who it is, and leaves nothing behind when it lets go', () => {
  const folder = makeFolder()
  const lock = FolderLock.acquire(folder)
  assert.is(FolderLock.holder(folder), undefined)
  assert.is(lock.announce(), undefined)
  lock.check()
  assert.match(FolderLock.holder(folder) ?? '', new RegExp(`^process ${process.pid} on host ${hostname()} since 2`))
  assert.is(lockFiles(folder).length, 2)
  lock.release()
  lock.release()
  assert.equal(lockFiles(folder), [])
  assert.is(FolderLock.holder(folder), undefined)
})

test('a second opener in the process is refused, before and after the announcement, and may come back later', () => {
  const folder = makeFolder()
  const lock = FolderLock.acquire(folder)
  assert.is(refusal(() => FolderLock.acquire(folder))?.code, 'ASR_LOCKED')
  lock.announce()
  const error = refusal(() => FolderLock.acquire(folder))
  assert.is(error?.code, 'ASR_LOCKED')
  assert.is(error?.holder, FolderLock.holder(folder))
  assert.match(error?.message ?? '', `process ${process.pid} `)
  lock.check()
  lock.release()
  FolderLock.acquire(folder).release()
})

test('a second opener by another path to the folder is refused too', () => {
  const folder = makeFolder()
  const link = join(makeFolder(), 'link')
  fs.symlinkSync(folder, link)
  const lock = FolderLock.acquire(folder)
  assert.is(refusal(() => FolderLock.acquire(link))?.code, 'ASR_LOCKED')
  lock.release()
})

test('two folders have nothing to do with each other', () => {
  const locks = [FolderLock.acquire(makeFolder()), FolderLock.acquire(makeFolder())]
  for (const lock of locks) lock.announce()
  for (const lock of locks) lock.check()
  for (const lock of locks) lock.release()
})

test('between processes our files do not decide, the kernel does', async () => {
  const folder = makeFolder()
  const [holder, other] = [inProcess(), inProcess()]
  for (const step of ['acquire', 'openLevel', 'announce'] as const) assert.is(await holder.tell(step, folder), 'ok')
  assert.is(await other.tell('acquire', folder), 'ok')
  assert.is(await other.tell('openLevel', folder), 'LEVEL_LOCKED')
  assert.is(await other.tell('release', folder), 'ok')
  assert.is(await holder.tell('check', folder), 'ok')
  for (const step of ['closeLevel', 'release'] as const) assert.is(await holder.tell(step, folder), 'ok')
  for (const step of ['acquire', 'openLevel', 'announce'] as const) assert.is(await other.tell(step, folder), 'ok')
})

test('neither refused openers of the process nor the lock itself give up the kernel’s lock', async () => {
  const folder = makeFolder()
  const lock = FolderLock.acquire(folder)
  const level = new Level(join(folder, 'index'))
  await level.open()
  lock.announce()
  lock.check()
  assert.is(refusal(() => FolderLock.acquire(folder))?.code, 'ASR_LOCKED')
  assert.is(await inThread().tell('acquire', folder), 'ASR_LOCKED')
  const other = inProcess()
  assert.is(await other.tell('openLevel', folder), 'LEVEL_LOCKED')
  lock.release()
  assert.is(await other.tell('openLevel', folder), 'LEVEL_LOCKED')
  await level.close()
  assert.is(await other.tell('openLevel', folder), 'ok')
})

test('a folder that a thread holds is refused to the rest of its process', async () => {
  const folder = makeFolder()
  const thread = inThread()
  assert.is(await thread.tell('acquire', folder), 'ok')
  assert.is(refusal(() => FolderLock.acquire(folder))?.code, 'ASR_LOCKED')
  assert.is(await thread.tell('release', folder), 'ok')
  FolderLock.acquire(folder).release()
})

test('what a killed process leaves blocks nobody, is handed over and cleared away', async () => {
  const folder = makeFolder()
  const holder = inProcess()
  for (const step of ['acquire', 'openLevel', 'announce'] as const) assert.is(await holder.tell(step, folder), 'ok')
  await holder.kill()
  assert.is(lockFiles(folder).length, 2)
  const successor = inProcess()
  for (const step of ['acquire', 'openLevel'] as const) assert.is(await successor.tell(step, folder), 'ok')
  await successor.kill()

  const lock = FolderLock.acquire(folder)
  const left = lock.announce()
  assert.is(left?.pid, holder.pid)
  assert.is(left && isOfThisBoot(left), true)
  assert.is(lockFiles(folder).length, 2)
  lock.release()
  assert.equal(lockFiles(folder), [])
})

test('a LOCK of another boot, or of one unknown, is no witness that nothing was lost', () => {
  const folder = makeFolder()
  for (const boot of ['00000000-0000-4000-8000-000000000000', '']) {
    const record = { pid: 1, start: '1', boot, pidNamespace: '1', token: 't', hostname: 'h', since: 's' }
    fs.writeFileSync(join(folder, 'LOCK'), JSON.stringify(record))
    const lock = FolderLock.acquire(folder)
    const left = lock.announce()
    assert.equal(left, record)
    assert.is(left && isOfThisBoot(left), false)
    lock.release()
  }
})

test('where the system does not tell boots apart, no LOCK is of this one', () => {
  const folder = makeFolder()
  const { readFileSync } = fs
  const withoutProc = (path: string, ...rest: [never]) => {
    if (path.startsWith('/proc/')) throw new Error('ENOENT')
    return readFileSync(path, ...rest)
  }
  Object.assign(fs, { readFileSync: withoutProc })
  syncBuiltinESMExports()
  try {
    const lock = FolderLock.acquire(folder)
    lock.announce()
    const copy = fs.readFileSync(join(folder, 'LOCK'), 'utf8')
    assert.is(JSON.parse(copy).boot, '')
    lock.release()
    fs.writeFileSync(join(folder, 'LOCK'), copy)
    const next = FolderLock.acquire(folder)
    const left = next.announce()
    assert.is(left?.boot, '')
    assert.is(left && isOfThisBoot(left), false)
    next.release()
  } finally {
    Object.assign(fs, { readFileSync })
    syncBuiltinESMExports()
  }
})

test('a claim of an earlier process with this pid does not block', () => {
  const folder = makeFolder()
  const probe = FolderLock.acquire(folder)
  const [claim] = lockFiles(folder)
  probe.release()
  fs.writeFileSync(join(folder, claim.replace(/^(LOCK-\d+)-\d+/, '$1-1')), '')
  const lock = FolderLock.acquire(folder)
  lock.announce()
  assert.equal(lockFiles(folder).sort(), ['LOCK', claim])
  lock.release()
})

test('a thread that is ended while it holds the folder does not lock its process out', async () => {
  const folder = makeFolder()
  for (const end of ['kill', 'exit'] as const) {
    const thread = inThread()
    for (const step of ['acquire', 'openLevel', 'announce'] as const) assert.is(await thread.tell(step, folder), 'ok')
    assert.is(refusal(() => FolderLock.acquire(folder))?.code, 'ASR_LOCKED')
    if (end === 'kill') await thread.kill()
    else {
      workers.at(-1)?.postMessage({ step: 'exit', folder })
      await once(workers.at(-1) as Worker, 'exit')
    }
    const lock = FolderLock.acquire(folder)
    assert.is(lock.announce()?.pid, process.pid)
    lock.release()
  }
})

test('a holder whose LOCK is deleted is fenced', () => {
  const folder = makeFolder()
  const lock = FolderLock.acquire(folder)
  lock.announce()
  fs.unlinkSync(join(folder, 'LOCK'))
  const error = refusal(() => lock.check())
  assert.is(error?.code, 'ASR_FENCED')
  assert.is(error?.holder, undefined)
  lock.release()
  assert.equal(lockFiles(folder), [])
})

test('a holder whose folder is deleted is fenced, and lets go without a word', () => {
  const folder = makeFolder()
  const lock = FolderLock.acquire(folder)
  lock.announce()
  fs.rmSync(folder, { recursive: true })
  assert.is(refusal(() => lock.check())?.code, 'ASR_FENCED')
  lock.release()
})

test('a holder that another took over from is fenced, and lets the other’s LOCK be', async () => {
  const folder = makeFolder()
  const lock = FolderLock.acquire(folder)
  lock.announce()
  const other = inProcess()
  assert.is(await other.tell('acquire', folder), 'ok')
  assert.is(await other.tell('announce', folder), 'ok')
  const error = refusal(() => lock.check())
  assert.is(error?.code, 'ASR_FENCED')
  assert.match(error?.holder ?? '', `process ${other.pid} `)
  lock.release()
  assert.match(FolderLock.holder(folder) ?? '', `process ${other.pid} `)
  assert.is(await other.tell('check', folder), 'ok')
  assert.is(await other.tell('release', folder), 'ok')
  assert.equal(lockFiles(folder), [])
})

test('a release that meets a LOCK put there at the last moment puts it back', () => {
  const folder = makeFolder()
  const lock = FolderLock.acquire(folder)
  lock.announce()
  // A second name keeps the first holder's file alive, so that it does not see that it was replaced.
  fs.linkSync(join(folder, 'LOCK'), join(folder, 'kept'))
  fs.writeFileSync(join(folder, 'other'), 'of another')
  fs.renameSync(join(folder, 'other'), join(folder, 'LOCK'))
  lock.release()
  assert.equal(lockFiles(folder), ['LOCK'])
  assert.is(fs.readFileSync(join(folder, 'LOCK'), 'utf8'), 'of another')
})

test('an opener whose claim was cleared away finds out before it believes it holds', async () => {
  const folder = makeFolder()
  const lock = FolderLock.acquire(folder)
  const other = inProcess()
  assert.is(await other.tell('acquire', folder), 'ok')
  assert.is(await other.tell('announce', folder), 'ok')
  assert.is(refusal(() => lock.announce())?.code, 'ASR_LOCKED')
  lock.release()
  assert.is(await other.tell('check', folder), 'ok')
})

test('who does not hold, or no longer, is fenced', () => {
  const lock = FolderLock.acquire(makeFolder())
  assert.is(refusal(() => lock.check())?.code, 'ASR_FENCED')
  lock.announce()
  lock.check()
  lock.release()
  assert.is(refusal(() => lock.check())?.code, 'ASR_FENCED')
})

test('a LOCK of garbage says nothing and blocks nobody', () => {
  const folder = makeFolder()
  for (const garbage of ['', '{', 'null', '7', '[]', '{"pid":1}', '{"pid":"1"}', '\0'.repeat(99)]) {
    fs.writeFileSync(join(folder, 'LOCK'), garbage)
    assert.is(FolderLock.holder(folder), undefined, garbage)
    assert.match(lockedError(folder).message, 'held by another process')
    const lock = FolderLock.acquire(folder)
    assert.is(lock.announce(), undefined, garbage)
    lock.check()
    lock.release()
  }
})

test('a folder that is absent is ASR_IO, in which nothing is made', () => {
  const folder = join(makeFolder(), 'absent')
  assert.is(refusal(() => FolderLock.acquire(folder))?.code, 'ASR_IO')
  assert.not(fs.existsSync(folder))
})

test('of two processes that open at the same moment exactly one gets the folder', async () => {
  for (let round = 0; round < 5; round++) {
    const folder = makeFolder()
    const contenders = [inProcess(), inProcess()]
    const outcomes = await Promise.all(
      contenders.map(async (contender) => {
        for (const step of ['acquire', 'openLevel', 'announce', 'check'] as const) {
          const answer = await contender.tell(step, folder)
          if (answer !== 'ok') return answer
        }
        return 'ok'
      }),
    )
    assert.is(outcomes.filter((outcome) => outcome === 'ok').length, 1, outcomes.join())
    for (const contender of contenders) await contender.kill()
  }
})

test('only files of the lock are taken for such', () => {
  for (const name of ['LOCK', 'LOCK-1-2-3-4', 'LOCK-new-x']) assert.ok(isLockFile(name), name)
  for (const name of ['LOCKS', 'FORMAT', 'index', 'lock', 'streams']) assert.not(isLockFile(name), name)
})

test.run()
