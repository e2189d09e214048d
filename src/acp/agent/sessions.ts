/**
 * The sessions of a connection: opened, replayed, forked, closed, deleted.
 */
import {
  type AgentContext,
  type ForkSessionRequest,
  type ForkSessionResponse,
  methods,
  type ResumeSessionRequest,
  type ResumeSessionResponse,
  type SessionConfigOption,
  type UpdateSessionNotification,
} from '@agentclientprotocol/sdk/experimental/v2/unstable'
import type { Store } from '../../store/api.js'
import type { Stream } from '../../stream/api.js'
import { directoriesOf } from '../paths.js'
import type { ReplayLoss } from '../replay/api.js'
import { currentState, replay } from '../replay/replay.js'
import { ACP_VENDOR } from '../revision.js'
import { closedMeanwhile, invalidParams, requestError } from './errors.js'
import { forkStream } from './fork.js'

/** The key of `_meta` under which an answer tells what was not replayed. */
export const LOSSES_META = `${ACP_VENDOR}/losses`

interface ResumeContext {
  params: ResumeSessionRequest
  client: Pick<AgentContext, 'notify'>
  signal: AbortSignal
}

export class Sessions {
  /** replays under way or waiting, by session: closing a session ends them */
  private readonly replays = new Map<string, Set<AbortController>>()
  /** the end of the last request to open a session, by session */
  private readonly last = new Map<string, Promise<void>>()

  constructor(private readonly store: Store) {}

  /** @throws -32002 when no stream is of that session */
  async known(sessionId: string): Promise<Stream> {
    return answering(sessionId, () => this.store.stream(sessionId))
  }

  /**
   * Sends what the client asked for, update by update as fast as it takes them, always with the state as the last before
   * the answer (ASR-724, M22), which says what a replay left out (ASR-731). @throws -32602 for a place to begin that is not the start
   */
  resume({ params, client, signal }: ResumeContext): Promise<ResumeSessionResponse> {
    const { sessionId, replayFrom } = params
    return this.inTurn(sessionId, async (isClosed) => {
      const stream = await this.known(sessionId)
      if (replayFrom != null && replayFrom.type !== 'start') {
        throw invalidParams(`a replay begins at the start, not at ${JSON.stringify(replayFrom.type)}`)
      }
      return answering(sessionId, async () => {
        const demandOpen = (): void => {
          signal.throwIfAborted()
          if (isClosed()) throw closedMeanwhile(sessionId)
        }
        demandOpen()
        const replayed = replayFrom == null ? undefined : replay(stream, { protocol: 2 })
        for await (const update of replayed ?? currentState(stream)) {
          demandOpen()
          await client.notify(methods.client.session.update, update as UpdateSessionNotification)
        }
        return { ...(await optionsOf(stream)), ...(replayed && lossesOf(await replayed.losses())) }
      })
    })
  }

  /** A copy of the session as it is, under an id of its own (ASR-718). */
  async fork(params: ForkSessionRequest, signal: AbortSignal): Promise<ForkSessionResponse> {
    const stream = await this.known(params.sessionId)
    return answering(params.sessionId, async () => {
      const sessionId = crypto.randomUUID()
      await forkStream(this.store, stream, sessionId, directoriesOf({ ...params }), signal)
      return { sessionId, ...(await optionsOf(stream)) }
    })
  }

  async close(sessionId: string): Promise<void> {
    const asked = [...(this.replays.get(sessionId) ?? [])] // not what is asked behind this
    await this.known(sessionId)
    for (const replaying of asked) replaying.abort()
  }

  async delete(sessionId: string): Promise<void> {
    await this.close(sessionId)
    await answering(sessionId, () => this.store.deleteStream(sessionId))
  }

  /** One behind the other: what two replays of a session tell at once could not be told apart (ASR-725). */
  private async inTurn<T>(sessionId: string, run: (isClosed: () => boolean) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const replays = this.replays.get(sessionId) ?? new Set()
    this.replays.set(sessionId, replays.add(controller))
    const before = this.last.get(sessionId)
    const done = (before ?? Promise.resolve()).then(() => run(() => controller.signal.aborted))
    // The next one begins when this one's answer has gone out.
    const over = done.then(nextTurn, nextTurn)
    this.last.set(sessionId, over)
    try {
      return await done
    } finally {
      replays.delete(controller)
      if (replays.size === 0) this.replays.delete(sessionId)
      if (this.last.get(sessionId) === over) this.last.delete(sessionId)
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

/** Failures of the store are told as the errors that clients know. */
async function answering<T>(sessionId: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw requestError(error, sessionId)
  }
}

/** A replay is no complete representation, and says so (ASR-731). */
function lossesOf(losses: readonly ReplayLoss[]): { _meta?: Record<string, unknown> } {
  return losses.length === 0 ? {} : { _meta: { [LOSSES_META]: losses } }
}

/** The options recorded last on primary's path: ACP tells the current ones in the answer, not in the history. */
async function optionsOf(stream: Stream): Promise<{ configOptions?: SessionConfigOption[] }> {
  for await (const { id } of stream.records({ reverse: true, types: ['config_change'] })) {
    const [entity] = await stream.entity('config_change', id)
    const options: unknown = entity?.inForce?.options
    if (Array.isArray(options)) return { configOptions: options as SessionConfigOption[] }
  }
  return {}
}
