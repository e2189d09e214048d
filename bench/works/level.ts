/**
 * What raw level does.
 */
import { Records } from '../generate.js'
import { LevelStore } from '../peers/level.js'
import { microsecondsEach, type Works } from './work.js'

export const WORKS: Works = {
  view: async (path) => {
    const store = await LevelStore.open(path)
    return { result: (await store.view()).length, close: () => store.close() }
  },

  append: async (path, times) => {
    const store = await LevelStore.open(path)
    const records = new Records({ seed: 9, shape: 'short', ids: 'uuid' })
    const result = await microsecondsEach(Number(times), () => store.append([records.next()]))
    return { result, close: () => store.close() }
  },
}
