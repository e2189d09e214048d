/**
 * LangGraph's SQLite saver: each step stores the whole state as a checkpoint, and the latest is read to go on.
 */
import type { AsrRecord } from '../../src/main.js'
import { requirePeer } from './load.js'

export const LANGGRAPH = '@langchain/langgraph-checkpoint-sqlite'

interface Config {
  configurable: { thread_id: string; checkpoint_ns?: string; checkpoint_id?: string }
}

interface Checkpoint {
  v: number
  id: string
  ts: string
  channel_values: { messages: AsrRecord[] }
  channel_versions: { messages: number }
  versions_seen: object
}

interface Saver {
  put(config: Config, checkpoint: Checkpoint, metadata: object): Promise<Config>
  getTuple(config: Config): Promise<{ checkpoint: Checkpoint } | undefined>
  db: { pragma(text: string): unknown; close(): void }
}

interface SaverModule {
  SqliteSaver: { fromConnString(file: string): Saver }
}

/** @throws PeerMissing */
export function loadLangGraph(): SaverModule {
  return requirePeer(LANGGRAPH) as SaverModule
}

const THREAD: Config = { configurable: { thread_id: 'bench' } }

export class LangGraphStore {
  private step = 0
  private config = THREAD

  private constructor(private readonly saver: Saver) {}

  static open(file: string): LangGraphStore {
    const { SqliteSaver } = loadLangGraph()
    const saver = SqliteSaver.fromConnString(file)
    saver.db.pragma('journal_mode = WAL')
    saver.db.pragma('synchronous = NORMAL')
    return new LangGraphStore(saver)
  }

  /** A step of the graph: the messages with one more. */
  async put(messages: AsrRecord[]): Promise<void> {
    const step = ++this.step
    const checkpoint: Checkpoint = {
      v: 4,
      // Read back by the order of ids.
      id: `${String(step).padStart(8, '0')}-0000-6000-8000-000000000000`,
      ts: new Date(Date.UTC(2026, 0, 5) + step).toISOString(),
      channel_values: { messages },
      channel_versions: { messages: step },
      versions_seen: {},
    }
    this.config = await this.saver.put(this.config, checkpoint, { source: 'loop', step, parents: {} })
  }

  async latest(): Promise<AsrRecord[]> {
    const tuple = await this.saver.getTuple(THREAD)
    return tuple?.checkpoint.channel_values.messages ?? []
  }

  close(): void {
    this.saver.db.close()
  }
}
