/**
 * How large things may be. What lies beyond is refused, never cut.
 */

/** Bytes of a record's text in UTF-8 (CORE-7). A larger line or value would have to be held whole several times over. */
export const RECORD_BYTES_MAX = 64 * 1024 * 1024

/** Containers nested inside a record, itself not counted (CORE-7): well within what any engine's stack bears. */
export const NESTING_MAX = 512

/** Bytes of a session id in UTF-8 (CORE-1). */
export const SESSION_ID_BYTES_MAX = 4096
