/**
 * Numbers in sentences.
 */

/** `1 record`, `2 records`: a count with its noun. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
