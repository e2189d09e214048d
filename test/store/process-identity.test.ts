import { fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ProcessIdentity, processIdentity } from '../../src/store/node/process-identity.js'

const isChild = process.argv[2] === 'child'

if (isChild) process.send?.(processIdentity())
else if (!isMainThread) parentPort?.postMessage(workerData === 'without proc' ? withoutProc() : processIdentity())

/** As on a system that has no such folder. */
function withoutProc(): ProcessIdentity {
  const { readFileSync, readlinkSync } = fs
  const absent = () => {
    throw new Error('ENOENT')
  }
  Object.assign(fs, { readFileSync: absent, readlinkSync: absent })
  syncBuiltinESMExports()
  try {
    return processIdentity()
  } finally {
    Object.assign(fs, { readFileSync, readlinkSync })
    syncBuiltinESMExports()
  }
}

test('the identity is the same at any time and in any thread', async () => {
  const worker = new Worker(new URL(import.meta.url))
  const [inThread] = await once(worker, 'message')
  assert.equal(inThread, processIdentity())
  assert.is(processIdentity().pid, process.pid)
  assert.match(processIdentity().start, /^\d+$/)
})

test('another process has another start, and the same boot and pid namespace', async () => {
  const child = fork(fileURLToPath(import.meta.url), ['child'])
  const [other] = await once(child, 'message')
  const own = processIdentity()
  assert.is(other.pid, child.pid)
  assert.ok(Number(other.start) > Number(own.start))
  assert.equal([other.boot, other.pidNamespace], [own.boot, own.pidNamespace])
})

test('where the system tells nothing, the threads of a process still agree', async () => {
  const worker = new Worker(new URL(import.meta.url), { workerData: 'without proc' })
  const [inThread] = await once(worker, 'message')
  const identity = withoutProc()
  // A rounded clock, read twice.
  assert.ok(Math.abs(Number(inThread.start) - Number(identity.start)) <= 1)
  assert.equal({ ...inThread, start: '' }, { pid: process.pid, start: '', boot: '', pidNamespace: '' })
  assert.equal({ ...identity, start: '' }, { pid: process.pid, start: '', boot: '', pidNamespace: '' })
})

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('the boot and the pid namespace are known', () => {
  assert.match(processIdentity().boot, /^[0-9a-f-]{36}$/)
  assert.match(processIdentity().pidNamespace, /^\d+$/)
})

if (isMainThread && !isChild) test.run()
