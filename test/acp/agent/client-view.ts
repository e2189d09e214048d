/**
 * What a client of ACP holds of a session, from the updates alone: a naive fold by the protocol's patch rule, which shares
 * nothing with the recorder's.
 */
export type Fields = { [field: string]: unknown }

/** An entity as the client has it. Those of a view stand in the order in which they were first told of. */
export interface Held {
  kind: string
  id: string
  says: Fields
}

const MESSAGES = ['user_message', 'agent_message', 'agent_thought']

export class ClientView {
  private readonly held = new Map<string, Held>()
  private readonly now: Fields = {}

  /** The entities, in order, without fields that say nothing. */
  get entities(): Held[] {
    return [...this.held.values()].map(({ kind, id, says }) => ({ kind, id, says: telling(says) }))
  }

  /** Title, usage and state as they are now. */
  get current(): Fields {
    return this.now
  }

  take(update: Fields): void {
    const kind = String(update.sessionUpdate)
    const whole = kind.replace(/_chunk$/, '')
    if (MESSAGES.includes(whole)) this.takeContent(whole, String(update.messageId), kind !== whole, update)
    else if (kind === 'compaction_summary_chunk')
      this.append('compaction', update.compactionId, 'summary', update.content)
    else if (kind === 'compaction_update') this.patch('compaction', update.compactionId, update, ['status', 'summary'])
    else if (kind === 'tool_call_update') this.takeCall(update)
    else if (kind === 'tool_call_content_chunk') this.append('tool_call', update.toolCallId, 'content', update.content)
    else if (kind === 'plan_update') this.takePlan(update.plan as Fields)
    else if (kind === 'terminal_update') this.takeTerminal(update)
    else if (kind === 'terminal_output_chunk') this.output(update.terminalId, bytes(update.data), true)
    else if (kind === 'session_info_update' && 'title' in update) this.now.title = update.title
    else if (kind === 'usage_update') this.now.usage = { used: update.used, size: update.size, cost: update.cost }
    else if (kind === 'state_update') this.now.state = { state: update.state, stopReason: update.stopReason }
  }

  /** A prompt is a message once it has its id, unless the agent has told it already (ASR-713). */
  prompted(messageId: string, prompt: unknown): void {
    const message = this.entity('user_message', messageId)
    message.says.content ??= prompt
  }

  /** The call inside a permission's subject is told like any other (M3). */
  takeCall(update: Fields): void {
    const fields = ['name', 'title', 'kind', 'status', 'content', 'locations', 'rawInput', 'rawOutput']
    this.patch('tool_call', update.toolCallId, update, fields)
  }

  private entity(kind: string, id: unknown): Held {
    const key = `${kind} ${id}`
    const held = this.held.get(key) ?? { kind, id: String(id), says: {} }
    this.held.set(key, held)
    return held
  }

  private takeContent(kind: string, id: string, isChunk: boolean, update: Fields): void {
    if (isChunk) this.append(kind, id, 'content', update.content)
    else this.patch(kind, id, update, ['content'])
  }

  private append(kind: string, id: unknown, field: string, item: unknown): void {
    const { says } = this.entity(kind, id)
    says[field] = [...((says[field] as unknown[] | null) ?? []), item]
  }

  private patch(kind: string, id: unknown, update: Fields, fields: readonly string[]): void {
    const { says } = this.entity(kind, id)
    for (const field of fields) if (update[field] !== undefined) says[field] = update[field]
  }

  private takePlan(plan: Fields): void {
    this.entity('plan', plan.planId).says = { ...plan, planId: undefined }
  }

  private takeTerminal(update: Fields): void {
    this.patch('terminal', update.terminalId, update, ['command', 'cwd', 'exitStatus'])
    if (update.output !== undefined)
      this.output(update.terminalId, bytes((update.output as Fields | null)?.data), false)
  }

  private output(terminalId: unknown, data: Buffer, appends: boolean): void {
    const { says } = this.entity('terminal', terminalId)
    const before = appends ? Buffer.from(String(says.output ?? ''), 'hex') : Buffer.alloc(0)
    says.output = Buffer.concat([before, data]).toString('hex')
  }
}

function bytes(data: unknown): Buffer {
  return Buffer.from(String(data ?? ''), 'base64')
}

/** Null, empty lists and a status that is not the last word say nothing; adjacent text reads as one. */
function telling(says: Fields): Fields {
  const told: Fields = {}
  for (const [field, value] of Object.entries(says)) {
    if ((value ?? null) === null || (Array.isArray(value) && value.length === 0)) continue
    if (field === 'status' && (value === 'pending' || value === 'in_progress')) continue
    told[field] = Array.isArray(value) ? joined(value) : value
  }
  return told
}

function joined(items: Fields[]): Fields[] {
  const all: Fields[] = []
  for (const item of items) {
    const last = all.at(-1)
    if (isPlainText(item) && isPlainText(last))
      all[all.length - 1] = { type: 'text', text: `${last?.text}${item.text}` }
    else all.push(item)
  }
  return all
}

function isPlainText(item: Fields | undefined): boolean {
  return item?.type === 'text' && Object.keys(item).length === 2
}
