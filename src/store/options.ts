/**
 * The options that the calls of a store take.
 */
import { durability, flag, optionsFor, text } from '../base/arguments.js'
import type { LongCall } from '../stream/api.js'
import { longCall } from '../stream/options.js'
import type { ImportOptions, StoreOptions } from './api.js'

export const openOptions = optionsFor<StoreOptions>('openStore', {
  create: flag,
  readOnly: flag,
  durability,
  acceptLoss: flag,
})
export const importOptions = optionsFor<ImportOptions>('importJsonl', { ...longCall, sessionId: text, strict: flag })
export const verifyOptions = optionsFor<{ sessionId?: string } & LongCall>('verify', { ...longCall, sessionId: text })
export const rebuildOptions = optionsFor<{ sessionId?: string } & LongCall>('rebuildIndex', {
  ...longCall,
  sessionId: text,
})
