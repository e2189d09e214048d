/**
 * What the cases of the suites say with: a comparison, a condition, and the error of a call.
 */

const SHOWN_CHARS = 400

/** @throws Error when the two are not the same, by value */
export function same(actual: unknown, expected: unknown, what = 'the answer'): void {
  const [found, wanted] = [shown(actual), shown(expected)]
  if (found === wanted) return
  let at = 0
  while (found[at] === wanted[at]) at++
  const [theFound, theWanted] = [found, wanted].map((text) => around(text, at))
  throw new Error(`${what} is ${theFound} instead of ${theWanted}`)
}

/** A text, or what of a long one is near a place. */
function around(text: string, at: number): string {
  const from = Math.max(at - SHOWN_CHARS / 2, 0)
  const to = from + SHOWN_CHARS
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
}

/** @throws Error when the condition does not hold */
export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(`it does not hold that ${what}`)
}

/** What a call throws or rejects with; undefined when it does neither. */
export async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error ?? new Error('nothing was thrown')
  }
  return undefined
}

/** @throws Error when the call does not fail with the code */
export async function failsWith(code: string, call: () => unknown): Promise<void> {
  const error = await failureOf(call)
  if (error === undefined) throw new Error(`${call} does not fail with ${code}`)
  if ((error as { code?: unknown }).code !== code)
    throw new Error(`${call} does not fail with ${code}`, { cause: error })
}

/** A value as text; the keys of objects in order. */
function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Object.is(value, -0)) return '-0'
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value)
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{ ${fields.map(([name, field]) => `${JSON.stringify(name)}: ${shown(field)}`).join(', ')} }`
}
