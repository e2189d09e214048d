/**
 * One bit flipped, a case each: `node flipped-folder-child.js <image folder> <file> <count> <from>`. Level may end the process
 * over a damaged table, so this runs in one of its own.
 */
import { figure } from './battery.js'
import { runCases } from './cases-apart.js'
import { flippedAt } from './damage.js'
import { readKept } from './folder.js'
import { answersDespite } from './index-answers.js'

const [folder, name, count, from] = process.argv.slice(2)
const kept = readKept(folder)
const bytes = kept.image.get(name)!
const BITS = figure(1, 8)
const STEP = figure(3, 1)

await runCases(Number(count), Number(from), (n, random) => {
  const at = Math.min(Math.floor(n / BITS) * STEP + random.below(STEP), bytes.length - 1)
  const image = new Map(kept.image).set(name, flippedAt(bytes, at, BITS === 1 ? random.below(8) : n % 8))
  return answersDespite(kept, image, random.chance(0.2))
})
