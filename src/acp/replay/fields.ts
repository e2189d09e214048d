/**
 * Fields of records as ACP takes them; what it does not take is left out.
 */
import { isObject, type JsonObject, textOf } from '../json.js'
import type { Roots } from '../paths.js'
import type { SessionUpdate } from './api.js'

const UINT32_MAX = 0xffff_ffff

/** An update that is being made. */
export type Draft = { -readonly [field in keyof SessionUpdate]: SessionUpdate[field] }

/** An update with the entity's `_meta`, when there is something in it. */
export function withMeta<T extends object>(update: T, { _meta }: JsonObject): T {
  return isObject(_meta) && Object.keys(_meta).length > 0 ? Object.assign(update, { _meta }) : update
}

/** A PathRef as an absolute path (ASR-711); undefined when it is none, or its root's path is not told. */
export function absolutePath(ref: unknown, roots: Roots): string | undefined {
  if (!isObject(ref) || typeof ref.path !== 'string') return undefined
  return roots.absolute({ root: textOf(ref.root) ?? null, path: ref.path })
}

export function uint32(value: unknown): number | undefined {
  return isUint(value) && value <= UINT32_MAX ? value : undefined
}

export function isUint(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
