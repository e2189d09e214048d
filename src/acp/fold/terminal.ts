/**
 * Terminals. Each piece of output is base64 of its own: pieces are decoded one by one and their bytes joined.
 */
import { fromBase64, joinedBytes } from '../base64.js'
import { type Chain, chainItems, linked } from '../chain.js'
import { isObject, type JsonObject } from '../json.js'
import { chunkMeta, patchedMeta, patchedObject, patchedText } from './patch.js'

export interface TerminalState {
  readonly terminalId: string
  readonly command: string | undefined
  readonly cwd: string | undefined
  readonly output: Chain<Uint8Array> | undefined
  readonly fromChunks: boolean
  /** there: the command has ended, even when nothing is said of how */
  readonly exitStatus: JsonObject | undefined
  readonly meta: JsonObject | undefined
}

/** A terminal after an update or a chunk; undefined when that can not be read. */
export function foldTerminal(state: TerminalState | undefined, update: JsonObject): TerminalState | undefined {
  const { terminalId } = update
  if (typeof terminalId !== 'string') return undefined
  const before = state ?? newTerminal(terminalId)
  if (update.sessionUpdate === 'terminal_output_chunk') return withOutputChunk(before, update)
  const output = patchedOutput(before, update.output)
  if (output === undefined) return undefined
  return {
    terminalId,
    command: patchedText(before.command, update.command),
    cwd: patchedText(before.cwd, update.cwd),
    ...output,
    exitStatus: patchedObject(before.exitStatus, update.exitStatus),
    meta: patchedMeta(before.meta, update._meta),
  }
}

export function outputBytes(state: TerminalState): Uint8Array {
  return joinedBytes(chainItems(state.output))
}

export function newTerminal(terminalId: string): TerminalState {
  return {
    terminalId,
    command: undefined,
    cwd: undefined,
    output: undefined,
    fromChunks: false,
    exitStatus: undefined,
    meta: undefined,
  }
}

function withOutputChunk(state: TerminalState, { data, _meta }: JsonObject): TerminalState | undefined {
  const bytes = typeof data === 'string' ? fromBase64(data) : undefined
  if (bytes === undefined) return undefined
  const fromChunks = state.fromChunks || state.output === undefined
  return { ...state, output: linked(state.output, bytes), fromChunks, meta: chunkMeta(state.meta, _meta) }
}

type Output = Pick<TerminalState, 'output' | 'fromChunks'>

function patchedOutput({ output, fromChunks }: TerminalState, value: unknown): Output | undefined {
  if (value === null) return { output: undefined, fromChunks: false }
  if (!isObject(value) || typeof value.data !== 'string') return { output, fromChunks }
  const bytes = fromBase64(value.data)
  return bytes === undefined ? undefined : { output: linked(undefined, bytes), fromChunks: false }
}
