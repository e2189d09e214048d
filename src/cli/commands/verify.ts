import type { Command } from 'commander'
import { counted } from '../../base/words.js'
import type { VerifyReport } from '../../main.js'
import { action, example } from '../cli.js'
import { endBad } from '../exit.js'
import { reading } from '../open.js'
import type { Line } from '../output.js'
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
          if (out.format === 'jsonl') return out.list(report.streams)
          await out.value(report, () => inWords(report))
        })
      }),
    )
}

type Checked = VerifyReport['streams'][number]

function inWords(report: VerifyReport): Line[] {
  const streams = report.streams.flatMap(streamInWords)
  const bad = report.streams.filter((stream) => !stream.ok).length
  const checked = `${counted(report.streams.length, 'stream')} checked`
  return [...streams, bad === 0 ? `${checked}, all sound` : `${checked}, ${bad} damaged`]
}

function streamInWords(stream: Checked): Line[] {
  const title = `${stream.sessionId}: ${stream.ok ? 'ok' : 'DAMAGED'}, ${counted(stream.records, 'record')}`
  const problems = stream.problems.map((problem) => `  ${describeProblem(problem)}`)
  return [title, ...problems, ...adviceFor(stream.sessionId, stream.problems).map((advice) => `  -> ${advice}`)]
}
