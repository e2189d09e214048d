/**
 * About how much memory a JSON value takes: its text, and a little for each value.
 */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 16
  if (typeof value !== 'object' || value === null) return 8
  let weight = 16
  for (const key in value) weight += 16 + weightOf((value as Record<string, unknown>)[key])
  return weight
}
