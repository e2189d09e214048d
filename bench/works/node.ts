/**
 * Node alone.
 */
import type { Works } from './work.js'

export const WORKS: Works = {
  idle: () => ({ result: 0 }),
}
