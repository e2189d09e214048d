/** The conformance suites: `asr-store/conformance`. */
export type * from './api.js'
export { logPlaceConformance } from './place.js'
export { logStorageConformance } from './storage.js'
