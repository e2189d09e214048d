/**
 * Node's own modules where there are any: this code runs in browsers too.
 */
interface Host {
  process?: { getBuiltinModule?: <T>(name: string) => T | undefined }
}

/** The module of Node, loaded when it is asked for; undefined elsewhere. */
export function builtin<T>(name: `node:${string}`): T | undefined {
  return (globalThis as Host).process?.getBuiltinModule?.<T>(name)
}

/** Takes so many descriptors and gives them back. @throws the system's error when there are fewer (EMFILE, ENFILE) */
export function probeDescriptors(count: number): void {
  const fs = builtin<typeof import('node:fs')>('node:fs')
  const nothing = builtin<typeof import('node:os')>('node:os')?.devNull
  if (fs === undefined || nothing === undefined || !fs.existsSync(nothing)) return
  const taken: number[] = []
  try {
    while (taken.length < count) taken.push(fs.openSync(nothing, 'r'))
  } finally {
    for (const fd of taken) fs.closeSync(fd)
  }
}

export const hasBuiltins = (globalThis as Host).process?.getBuiltinModule !== undefined
