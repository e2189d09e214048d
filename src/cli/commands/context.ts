import type { Command } from 'commander'
import { counted } from '../../base/words.js'
import type { ContextView } from '../../main.js'
import { type AtOptions, atOf, sayIfBroken, withAt } from '../at.js'
import { action, example } from '../cli.js'
import { reading } from '../open.js'
import type { Line } from '../output.js'
import { listBySeq } from '../records.js'
import { say } from '../say.js'

export function contextCommand(program: Command): void {
  withAt(program.command('context'))
    .description('show the context view: what the model sees at a head or a record')
    .argument('<session>', 'session id')
    .addHelpText('after', example('asr context my-session', 'asr context my-session --at r12 --json'))
    .action(
      action(async (cli, session: string, options: AtOptions) => {
        const { out } = cli
        await reading(cli, async (store) => {
          const stream = await store.stream(session)
          const view = await stream.contextView(atOf(options))
          if (out.format === 'json') return out.objectWithList(summary(view), 'entries', view.entries())
          sayIfBroken(view)
          for (const found of view.diagnostics) say(`note: ${found.code}: ${found.message}`)
          if (out.format === 'text') await out.lines([caption(view)])
          await listBySeq(out, view.entries(), stream.length)
          if (out.format === 'text') await out.lines(open(view))
        })
      }),
    )
}

function summary(view: ContextView): object {
  const { head, compaction, openCalls, danglingResults, cut, gaps, diagnostics, length } = view
  return { head, compaction, openCalls, danglingResults, cut, gaps, diagnostics, length }
}

function caption(view: ContextView): Line {
  const where = view.head === null ? '' : `head ${view.head}, `
  const compaction = view.compaction ? `, compaction ${view.compaction.id} in force` : ''
  return `${where}${counted(view.length, 'entry', 'entries')}${compaction}`
}

function open({ openCalls, danglingResults }: ContextView): Line[] {
  const lines: Line[] = []
  if (openCalls.length > 0) lines.push(`open calls: ${openCalls.join(', ')}`)
  if (danglingResults.length > 0) {
    lines.push(`results without a call: ${danglingResults.map((id) => id || '(no callId)').join(', ')}`)
  }
  return lines
}
