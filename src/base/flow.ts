/**
 * Questions to the index that wait only where a page is not at hand.
 *
 * A question is a generator that yields what it waits for. Pure code asks with `yield*` and sees no storage; when all is
 * in memory it never yields, and the answer is there at once.
 */

/** Now where it is at hand, later where not. */
export type MaybePromise<T> = T | Promise<T>

export type Flow<T> = Generator<PromiseLike<unknown>, T, void>

/** The answer, at once when nothing had to be waited for. */
export function runFlow<T>(query: Flow<T>): MaybePromise<T> {
  const step = query.next()
  return step.done ? step.value : runFlowLater(query, step.value)
}

async function runFlowLater<T>(query: Flow<T>, first: PromiseLike<unknown>): Promise<T> {
  let waited = first
  for (;;) {
    let step: IteratorResult<PromiseLike<unknown>, T>
    try {
      await waited
      step = query.next()
    } catch (error) {
      step = query.throw(error)
    }
    if (step.done) return step.value
    waited = step.value
  }
}

/** Waits for a value inside a question. */
export function* wait<T>(value: MaybePromise<T>): Flow<T> {
  if (!isPromise(value)) return value
  let got: { value: T } | undefined
  yield value.then((result) => {
    got = { value: result }
  })
  return (got as unknown as { value: T }).value
}

function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === 'function'
}
