/**
 * One piece of work in a process of its own: `node fresh-child.js <module> <work> <path> <argument>`. Says on its output
 * what it took.
 */
import { argv, cpuUsage, memoryUsage, resourceUsage, stdout } from 'node:process'
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
    rssBytes: Math.max(resourceUsage().maxRSS * 1_024, memoryUsage.rss()),
    result,
  }
  await close?.()
  stdout.write(`${JSON.stringify(took)}\n`)
}

await main(argv.slice(2))
