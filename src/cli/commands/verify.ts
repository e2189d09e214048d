import type { Command } from 'commander'
import type { VerifyReport } from '../../main.js'
import { action, example } from '../cli.js'
import { endBad } from '../exit.js'
import { reading } from '../open.js'
import { lines } from '../output.js'
import { adviceFor, describeProblem } from '../problems.js'
import { withProgress } from '../progress.js'

export function verifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check the log, its chain and the index against it')
    .argument('[session]', 'session id (default: every stream)')
    .addHelpText('after', example('asr verify', 'asr verify my-session --json'))
    .action(
      action(async (cli, sessionId?: string) => {
        const { out } = cli
        await reading(cli, async (store, signal) => {
          const report = await withProgress('verify', (onProgress) => store.verify({ sessionId, onProgress, signal }))
          if (!report.ok) endBad()
          if (out.format === 'jsonl') return out.list(report.streams, { text: String })
          await out.value(report, () => inWords(report))
        })
      }),
    )
}

type Checked = VerifyReport['streams'][number]

function inWords(report: VerifyReport): string {
  const streams = report.streams.map(streamInWords).join('')
  const bad = report.streams.filter((stream) => !stream.ok).length
  const count = report.streams.length
  const sum = bad === 0 ? `${count} checked, all sound` : `${count} checked, ${bad} damaged`
  return streams + lines(sum)
}

function streamInWords(stream: Checked): string {
  const title = `${stream.sessionId}: ${stream.ok ? 'ok' : 'DAMAGED'}, ${stream.records} records`
  const problems = stream.problems.map((problem) => `  ${describeProblem(problem)}`)
  return lines(title, ...problems, ...adviceFor(stream.sessionId, stream.problems).map((advice) => `  -> ${advice}`))
}
