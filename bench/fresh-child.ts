/**
 * One piece of work in a process of its own: `node fresh-child.js <module> <work> <path> <argument>`. Says on its output
 * what it took.
 */
import { existsSync, readFileSync } from 'node:fs'
import { argv, cpuUsage, resourceUsage, stdout } from 'node:process'
import type { Works } from './works/work.js'

export interface Took {
  /** loading the code */
  loadMs: number
  workMs: number
  /** of the whole process so far, Node's own start included */
  cpuMs: number
  /** most that was resident */
  rssBytes: number
  result: number
}

async function main([name, work, path, argument]: string[]): Promise<void> {
  const begun = performance.now()
  const { WORKS } = (await import(`./works/${name}.js`)) as { WORKS: Works }
  const loaded = performance.now()
  const { result, close } = await WORKS[work](path, argument)
  const done = performance.now()
  const { user, system } = cpuUsage()
  const took: Took = {
    loadMs: loaded - begun,
    workMs: done - loaded,
    cpuMs: (user + system) / 1_000,
    rssBytes: peakBytes(),
    result,
  }
  await close?.()
  stdout.write(`${JSON.stringify(took)}\n`)
}

/** The kernel's `maxrss` of a process begins with what its parent had when it was started: where there is better, that counts. */
function peakBytes(): number {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'latin1') : ''
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
  return (kilobytes === undefined ? resourceUsage().maxRSS : Number(kilobytes)) * 1_024
}

await main(argv.slice(2))
