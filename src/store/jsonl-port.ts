/**
 * What a store needs of JSONL; made in `jsonl/`, which builds on the store, and handed in from there.
 */
import type { ImportOptions, ImportReport } from './api.js'
import type { StreamStore } from './store.js'
import type { StreamCore } from './stream-core.js'

export interface Jsonl {
  importJsonl(
    store: StreamStore,
    chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
    options: ImportOptions,
  ): Promise<ImportReport>
  exportJsonl(core: StreamCore, options?: { salvage?: true }): AsyncIterable<Uint8Array>
}
