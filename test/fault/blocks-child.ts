/**
 * A block of the index's files damaged, a case each: `node blocks-child.js <image folder> <count> <from>`.
 */
import { runCases } from './cases-apart.js'
import { anyDamage } from './damage.js'
import { readKept } from './folder.js'
import { answersDespite } from './index-answers.js'

const [folder, count, from] = process.argv.slice(2)
const kept = readKept(folder)
const names = [...kept.image.keys()].filter((name) => /^index\/(?!LOG|LOCK)/.test(name)).sort()

await runCases(Number(count), Number(from), (_, random) => {
  const name = random.pick(names)
  const bytes = kept.image.get(name)!
  const older = new Uint8Array(bytes.length)
  older.set((kept.older.get(name) ?? new Uint8Array(0)).subarray(0, bytes.length))
  const changed = anyDamage(bytes, older, random)
  return changed === undefined
    ? Promise.resolve('no room')
    : answersDespite(kept, new Map(kept.image).set(name, changed), random.chance(0.2))
})
