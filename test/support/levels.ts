/**
 * Levels that answer later, as those of browsers do: what reads them gives way to others meanwhile. MemoryLevel answers at once.
 */
import { MemoryLevel } from 'memory-level'
import { memoryLocation } from '../../src/main.js'
import type { MemoryLocation } from './stores.js'

export function waitingLevel(): MemoryLevel<string, Uint8Array> {
  const level = new MemoryLevel<string, Uint8Array>({ valueEncoding: 'view' })
  Object.defineProperty(level, 'supports', { value: { ...level.supports, getSync: false } })
  return level
}

export function waitingLocation(): MemoryLocation {
  return { ...memoryLocation(), index: waitingLevel() }
}
