/**
 * Records as agents write them, from a seed: turns of a message, calls with their results, and an answer.
 */
import type { AsrRecord, Header } from '../src/main.js'
import { Random } from './random.js'
import { textOf } from './text.js'

export interface RecordsOptions {
  seed?: number
  /** `short`: about 350 bytes, the median of real sessions; `real`: median 700 bytes, p99 30 KB, and 1 MB now and then */
  shape: 'short' | 'real'
  /** `default`: the store numbers them (`r<seq>`); `uuid`: each brings its own */
  ids: 'default' | 'uuid'
}

/** Sizes of records with text in the real shape, by the share of them below: with the small ones the median is 700. */
const REAL_SIZES: readonly (readonly [share: number, bytes: number])[] = [
  [0, 300],
  [0.25, 540],
  [0.5, 900],
  [0.75, 1_400],
  [0.9, 3_200],
  [0.99, 33_000],
  [1, 75_000],
]
const HUGE_BYTES = 1_000_000
const HUGE_SHARE = 1 / 20_000
const FIRST_TS = Date.UTC(2026, 0, 5, 9)

export function headerOf(sessionId: string): Header {
  return {
    type: 'header',
    asr: '1',
    sessionId,
    agent: { name: 'com.example.agent', version: '1.4.2' },
    workspace: { roots: [{ id: 'root0', path: '/home/dev/project' }] },
    producer: { method: 'live' },
  }
}

export class Records {
  private readonly random: Random
  private readonly turn: ('user' | 'call' | 'result' | 'answer' | 'usage')[] = []
  private ts = FIRST_TS
  private callId = ''

  constructor(private readonly options: RecordsOptions) {
    this.random = new Random(options.seed ?? 1)
  }

  take(count: number): AsrRecord[] {
    return Array.from({ length: count }, () => this.next())
  }

  next(): AsrRecord {
    if (this.turn.length === 0) this.beginTurn()
    const kind = this.turn.shift()
    this.ts += 1 + this.random.below(20_000)
    const common = { ts: new Date(this.ts).toISOString(), tsSource: 'native' }
    const id = this.options.ids === 'uuid' ? { id: this.random.uuid() } : {}
    switch (kind) {
      case 'user':
        return { type: 'message', ...id, ...common, role: 'user', origin: 'prompt', content: this.content(230) }
      case 'answer':
        return {
          type: 'message',
          ...id,
          ...common,
          messageId: `msg_${this.random.hex(16)}`,
          role: 'assistant',
          content: this.content(260),
        }
      case 'call':
        this.callId = `toolu_${this.random.hex(20)}`
        return { type: 'tool_call', ...id, ...common, callId: this.callId, callIdSource: 'native', ...this.input() }
      case 'result':
        return {
          type: 'tool_result',
          ...id,
          ...common,
          callId: this.callId,
          status: 'completed',
          linkage: 'exact',
          displayContent: this.content(250),
        }
      default:
        return {
          type: 'usage_summary',
          ...id,
          ...common,
          inputTokens: this.random.below(200_000),
          outputTokens: this.random.below(4_000),
          cost: { amount: this.random.below(100_000) / 10_000, currency: 'USD' },
        }
    }
  }

  /** Ends what came before: a view shows this and what comes later. */
  compaction(): AsrRecord {
    const id = this.options.ids === 'uuid' ? { id: this.random.uuid() } : {}
    const summary = [{ type: 'text', text: textOf(2_000, this.random) }]
    return { type: 'compaction', ...id, kind: 'summary', status: 'completed', summary }
  }

  private beginTurn(): void {
    this.turn.push('user')
    for (let calls = this.random.below(5); calls > 0; calls--) this.turn.push('call', 'result')
    this.turn.push('answer')
    if (this.random.next() < 0.5) this.turn.push('usage')
  }

  private content(frame: number): { type: string; text: string }[] {
    return [{ type: 'text', text: textOf(this.size() - frame, this.random) }]
  }

  private input(): { name: string; input: { [field: string]: string } } {
    const kind = this.random.below(3)
    const path = `src/${textOf(12, this.random).replace(/\W+/g, '-')}/${this.random.below(400)}.ts`
    if (kind === 0) return { name: 'read', input: { path } }
    const rest = textOf(this.size() - 280, this.random)
    if (kind === 1) return { name: 'bash', input: { command: `npm test -- ${path} ${rest}` } }
    return {
      name: 'edit',
      input: { path, oldText: rest.slice(0, rest.length / 2), newText: rest.slice(rest.length / 2) },
    }
  }

  /** The bytes that this record's JSON text is to have, by and large. */
  private size(): number {
    if (this.options.shape === 'short') return 320 + this.random.below(180)
    if (this.random.next() < HUGE_SHARE) return HUGE_BYTES
    const share = this.random.next()
    const at = REAL_SIZES.findIndex(([limit]) => limit > share)
    const [[from, least], [to, most]] = [REAL_SIZES[at - 1], REAL_SIZES[at]]
    return Math.round(least * (most / least) ** ((share - from) / (to - from)))
  }
}
