/**
 * A piece of work for a process of its own. Modules beside this one each load what their works need, and export them
 * by name as `WORKS`.
 */

/** Closing is not part of the work, unless the work does it itself. */
export interface Done {
  result: number
  close?: () => unknown
}

export type Work = (path: string, argument: string) => Done | Promise<Done>

export type Works = { [name: string]: Work }

/** Microseconds a call takes, after some that are not counted. */
export async function microsecondsEach(times: number, call: () => unknown): Promise<number> {
  const warm = Math.ceil(times / 5)
  let start = 0
  for (let n = 0; n < warm + times; n++) {
    if (n === warm) start = performance.now()
    await call()
  }
  return ((performance.now() - start) * 1_000) / times
}
