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

export const hasBuiltins = (globalThis as Host).process?.getBuiltinModule !== undefined
