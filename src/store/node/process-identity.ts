/**
 * What tells this process from every other, its threads included. Who holds a lock the kernel says, never this.
 */
import { readFileSync, readlinkSync } from 'node:fs'

export interface ProcessIdentity {
  pid: number
  /** when the process began: two of one pid differ in it */
  start: string
  /** the running of the kernel; empty where the system does not tell */
  boot: string
  /** pids count within it; empty where the system has no such thing */
  pidNamespace: string
}

export function processIdentity(): ProcessIdentity {
  return { pid: process.pid, start: startTime() ?? startByClock(), boot: bootId(), pidNamespace: pidNamespace() }
}

/** Whether a process is surely dead; one in another container may live though it can't be seen from here. */
export function isDead(other: ProcessIdentity): boolean {
  const self = processIdentity()
  if (other.boot !== self.boot) return other.boot !== '' && self.boot !== ''
  return other.pidNamespace === self.pidNamespace && !isRunning(other.pid)
}

/** Whether a process is surely one of those that run here, this one among them. */
export function isRunningHere(other: ProcessIdentity): boolean {
  const self = processIdentity()
  if (other.pid === self.pid && other.start === self.start && other.boot === self.boot) return true
  return other.boot === self.boot && other.pidNamespace === self.pidNamespace && isRunning(other.pid)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH'
  }
}

/** In ticks since the boot: field 22, counted from behind the command, which may hold blanks and parentheses. */
function startTime(): string | undefined {
  const stat = readProc('/proc/self/stat')
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

/** In seconds of the clock that is never set: the same in each thread. */
function startByClock(): string {
  return Math.round(Number(process.hrtime.bigint()) / 1e9 - process.uptime()).toString()
}

function bootId(): string {
  return readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  } catch {
    return ''
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
