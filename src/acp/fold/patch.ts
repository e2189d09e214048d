/**
 * ACP's patch rule for a field (ASR-704): omitted leaves it, null clears it, a value replaces it.
 */
import { isObject, type JsonObject } from '../json.js'

/** The field as an update leaves it. A value of another kind counts as omitted. */
export function patchedText(current: string | undefined, value: unknown): string | undefined {
  if (value === null) return undefined
  return typeof value === 'string' ? value : current
}

export function patchedObject(current: JsonObject | undefined, value: unknown): JsonObject | undefined {
  if (value === null) return undefined
  return isObject(value) ? value : current
}

export function patchedList(current: readonly unknown[] | undefined, value: unknown): readonly unknown[] | undefined {
  if (value === null) return undefined
  return Array.isArray(value) ? value : current
}

/** Any JSON value. */
export function patchedValue(current: unknown, value: unknown): unknown {
  return value === undefined ? current : (value ?? undefined)
}

/** `_meta` by key: a present key replaces, null removes it, `_meta: null` removes all (ASR-708). */
export function patchedMeta(current: JsonObject | undefined, value: unknown): JsonObject | undefined {
  if (value === null) return undefined
  return isObject(value) ? mergedMeta(current, value) : current
}

/** The `_meta` of a chunk adds to its entity's by key; it can not clear all of it (ASR-708, M4). */
export function chunkMeta(current: JsonObject | undefined, value: unknown): JsonObject | undefined {
  return isObject(value) ? mergedMeta(current, value) : current
}

function mergedMeta(current: JsonObject | undefined, patch: JsonObject): JsonObject | undefined {
  const entries = new Map(Object.entries(current ?? {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) entries.delete(key)
    else entries.set(key, value)
  }
  return entries.size === 0 ? undefined : Object.fromEntries(entries)
}
