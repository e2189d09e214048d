/**
 * A process that writes to a store until it is killed: `node writer-child.js <folder> <session> <count>`. Each
 * acknowledged record is told on its output. With the count reached it keeps the store open and does nothing. When the
 * store cannot be opened it tells the code, and ends.
 */
import { isAsrError, openStore } from '../../src/main.js'
import { header, message } from './records.js'

const [folder, session, count] = process.argv.slice(2)
const store = await openStore(folder).catch(tellAndEnd)

function tellAndEnd(error: unknown): never {
  if (!isAsrError(error)) throw error
  process.stdout.write(`${error.code}\n`)
  process.exit(1)
}

const stream = await store.createStream(header(session))
process.stdout.write('open\n')
for (let n = 1; n <= Number(count); n++) {
  const { last } = await stream.append(message(`m${n}`))
  process.stdout.write(`${last}\n`)
}
process.stdout.write('done\n')
setInterval(() => {}, 1000)
