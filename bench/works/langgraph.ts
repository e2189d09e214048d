/**
 * What LangGraph's SQLite saver does: a step stores all messages again.
 */
import { Records } from '../generate.js'
import { LangGraphStore, loadLangGraph } from '../peers/langgraph.js'
import { microsecondsEach, type Works } from './work.js'

loadLangGraph()

export const WORKS: Works = {
  /** In a new database, on top of as many messages as are asked for. */
  append: async (path, history) => {
    const store = LangGraphStore.open(path)
    const records = new Records({ seed: 9, shape: 'short', ids: 'uuid' })
    const messages = records.take(Number(history))
    const result = await microsecondsEach(20, () => {
      messages.push(records.next())
      return store.put(messages)
    })
    return { result, close: () => store.close() }
  },
}
