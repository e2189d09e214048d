/**
 * `node killed-opener.js <folder> <n> <elsewhere>`: opens a store, and kills itself right before the n-th call by which it
 * changes something there; says how it went when it makes fewer.
 */
import fs from 'node:fs'
import fsp from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { isAsrError, openStore } from '../../src/main.js'

const [folder, n, elsewhere] = process.argv.slice(2)

// All that is loaded at a first opening is there before anything counts.
await (await openStore(elsewhere)).close()

let calls = 0
const counted = <T extends object>(module: T): void => {
  for (const [name, call] of Object.entries(module)) {
    if (
      typeof call !== 'function' ||
      !/^(open|close|write|append|rename|unlink|rm|mk|link|symlink|ch|fch|ftr|tr|copy)/.test(name)
    )
      continue
    Object.assign(module, {
      [name]: (...args: unknown[]) => {
        if (++calls === Number(n)) process.kill(process.pid, 'SIGKILL')
        return call(...args)
      },
    })
  }
}
counted(fs)
counted(fsp)
syncBuiltinESMExports()

const outcome = await openStore(folder).then(
  async (store) => {
    await store.close()
    return 'ok'
  },
  (error: unknown) => (isAsrError(error) ? error.code : String(error)),
)
fs.writeSync(1, outcome)
