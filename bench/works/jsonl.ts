/**
 * What a file of JSONL alone does.
 */
import { appendFileSync } from 'node:fs'
import { Records } from '../generate.js'
import { viewOf } from '../peers/jsonl.js'
import { microsecondsEach, type Works } from './work.js'

export const WORKS: Works = {
  view: (path) => ({ result: viewOf(path).length }),

  append: async (path, times) => {
    const records = new Records({ seed: 9, shape: 'short', ids: 'uuid' })
    const append = (): void => appendFileSync(path, `${JSON.stringify(records.next())}\n`)
    return { result: await microsecondsEach(Number(times), append) }
  },
}
