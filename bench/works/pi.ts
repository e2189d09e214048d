/**
 * What pi's SessionManager does.
 */
import { Records } from '../generate.js'
import { loadPi, messageOf, openPi } from '../peers/pi.js'
import { microsecondsEach, type Works } from './work.js'

const pi = await loadPi()

export const WORKS: Works = {
  view: (path) => ({ result: openPi(pi, path).buildSessionContext().messages.length }),

  append: async (path, times) => {
    const session = openPi(pi, path)
    const records = new Records({ seed: 9, shape: 'short', ids: 'uuid' })
    return { result: await microsecondsEach(Number(times), () => session.appendMessage(messageOf(records.next()))) }
  },
}
