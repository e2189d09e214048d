/**
 * What better-sqlite3 does.
 */
import { Records } from '../generate.js'
import { batchesOf } from '../peers/jsonl.js'
import { loadSqlite, SqliteStore } from '../peers/sqlite.js'
import { microsecondsEach, type Works } from './work.js'

loadSqlite()

export const WORKS: Works = {
  view: (path) => {
    const store = SqliteStore.open(path)
    return { result: store.view().length, close: () => store.close() }
  },

  append: async (path, times) => {
    const store = SqliteStore.open(path)
    const records = new Records({ seed: 9, shape: 'short', ids: 'uuid' })
    const result = await microsecondsEach(Number(times), () => store.appendOne(records.next()))
    return { result, close: () => store.close() }
  },

  import: (path, jsonl) => {
    const store = SqliteStore.open(path)
    let result = 0
    for (const batch of batchesOf(jsonl)) {
      store.append(batch)
      result += batch.length
    }
    store.close()
    return { result }
  },
}
