/**
 * Takes in what the engine hands out piece by piece.
 */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all = await collect(chunks)
  const bytes = new Uint8Array(all.reduce((size, chunk) => size + chunk.length, 0))
  let at = 0
  for (const chunk of all) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** Lines without their LF; the last LF must be there. */
export async function linesOf(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const lines = new TextDecoder('utf-8', { fatal: true }).decode(await bytesOf(chunks)).split('\n')
  if (lines.pop() !== '') throw new Error('the last line has no LF')
  return lines
}

export async function idsOf(records: AsyncIterable<{ id: string }>): Promise<string[]> {
  return (await collect(records)).map((record) => record.id)
}
