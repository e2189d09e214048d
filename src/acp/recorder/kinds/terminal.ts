/**
 * Terminals as records: the bytes of their output are one blob.
 */
import type { AsrRecord } from '../../../record/record.js'
import { fromBase64, toBase64 } from '../../base64.js'
import { chainOf } from '../../chain.js'
import { foldTerminal, newTerminal, outputBytes, type TerminalState } from '../../fold/terminal.js'
import { objectOf, picked, textOf } from '../../json.js'
import type { PathRef } from '../../paths.js'
import { findSingle, type UpdatedKind } from '../slot.js'

export const terminalKind: UpdatedKind<TerminalState> = {
  name: 'terminal',
  idOf: ({ terminalId }) => textOf(terminalId),
  fold: foldTerminal,
  slots(state, { roots }) {
    const { terminalId, command, cwd, output, exitStatus, fromChunks, meta } = state
    const body = {
      type: 'terminal',
      terminalId,
      ...(command !== undefined && { command }),
      ...(cwd !== undefined && { cwd: roots.ref(cwd) }),
      status: exitStatus === undefined ? 'partial' : 'exited',
      ...picked(exitStatus ?? {}, ['exitCode', 'signal']),
      ...(output && { output: { blob: toBase64(outputBytes(state)) } }),
      assembly: fromChunks ? 'chunks' : 'folded',
      ...(meta && { _meta: meta }),
    }
    return [{ name: 'terminal', body, growing: exitStatus === undefined }]
  },
  find: (stream, id) => findSingle(stream, 'terminal', id),
  revive(terminalId, bodies, roots) {
    const body = bodies.get('terminal') as AsrRecord
    const cwd = objectOf(body.cwd)
    const bytes = fromBase64(textOf(objectOf(body.output)?.blob) ?? '')
    return {
      ...newTerminal(terminalId),
      command: textOf(body.command),
      cwd: cwd && roots.absolute(cwd as unknown as PathRef),
      output: bytes === undefined || bytes.length === 0 ? undefined : chainOf([bytes]),
      fromChunks: body.assembly === 'chunks',
      exitStatus: body.status === 'exited' ? picked(body, ['exitCode', 'signal']) : undefined,
      meta: objectOf(body._meta),
    }
  },
}
