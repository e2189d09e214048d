/**
 * Looks for words in all that a folder holds.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where words stand, as `file: name of the word`, whether in a file or in its name. */
export function wordsIn(folder: string, words: Readonly<Record<string, string>>): string[] {
  const places: string[] = []
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name)
    const bytes = statSync(path).isFile() ? readFileSync(path) : Buffer.alloc(0)
    for (const [what, word] of Object.entries(words)) {
      if (name.includes(word) || bytes.includes(word)) places.push(`${name}: ${what}`)
    }
  }
  return places.sort()
}
