/**
 * A list that grows at its end without being copied: each state of a fold shares the earlier ones.
 */
export interface Chain<T> {
  readonly last: T
  readonly before: Chain<T> | undefined
}

export function linked<T>(before: Chain<T> | undefined, last: T): Chain<T> {
  return { last, before }
}

export function chainOf<T>(items: readonly T[]): Chain<T> | undefined {
  let chain: Chain<T> | undefined
  for (const item of items) chain = linked(chain, item)
  return chain
}

export function chainItems<T>(chain: Chain<T> | undefined): T[] {
  const items: T[] = []
  for (let link = chain; link !== undefined; link = link.before) items.push(link.last)
  return items.reverse()
}
