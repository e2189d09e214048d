/**
 * The options that the calls of a stream take.
 */
import { abortSignal, bound, callback, count, data, flag, optionsFor, text, texts } from '../base/arguments.js'
import type { AppendOptions, LongCall, RangeOptions } from './api.js'

export const longCall = { onProgress: callback, signal: abortSignal } satisfies { [name in keyof LongCall]: unknown }
const at = { head: text, at: text }

export const appendOptions = optionsFor<AppendOptions>('append', { expected: count, head: text })
export const recordsOptions = optionsFor<RangeOptions>('records', {
  from: bound,
  to: bound,
  reverse: flag,
  types: texts,
})
export const followOptions = optionsFor<{ after?: number; signal?: AbortSignal }>('follow', {
  after: data,
  signal: abortSignal,
})
export const entityOptions = optionsFor<{ head?: string; at?: string; anywhere?: true }>('entity', {
  ...at,
  anywhere: flag,
})
export const activePathOptions = optionsFor<{ head?: string; at?: string }>('activePath', at)
export const contextViewOptions = optionsFor<{ head?: string; at?: string }>('contextView', at)
export const exportOptions = optionsFor<{ salvage?: true }>('exportJsonl', { salvage: flag })
