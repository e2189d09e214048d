import { type Command, InvalidArgumentError, Option } from 'commander'
import type { KeepWire, ObservedFrame, RecorderOptions, RecorderProblem, RecorderSummary } from '../../acp/main.js'
import { readTime } from '../../acp/recorder/time.js'
import { counted } from '../../base/words.js'
import { hasExactNumbers } from '../../record/exact.js'
import { memberAt } from '../../record/json-text.js'
import { action, type Cli, example } from '../cli.js'
import { endBad } from '../exit.js'
import { LineSplitter } from '../frame-lines.js'
import { openInput } from '../input.js'
import { writing } from '../open.js'
import { say } from '../say.js'

export function recordCommand(program: Command): void {
  program
    .command('record')
    .description('record an ACP agent while a client talks to it over stdio, or a capture of frames')
    .argument('[agent...]', 'behind "--": the agent and its arguments')
    .option('--frames <file>', 'record a capture: {dir, frame, at?, conn?} a line; - is stdin')
    .addOption(
      new Option('--keep-wire <how>', 'keep the frames beside the streams').choices(['redacted', 'verbatim', 'none']),
    )
    .option('--agent-name <name>', "the agent's registered short name or a reverse-DNS name")
    .option('--person', "the client relays a person's input")
    .option('--secret-field <name>', 'never store the answer to this form field; may be given again', collected, [])
    .option('--snapshot-every <ms>', 'write what is open as it stands, at most this often', milliseconds)
    .addHelpText('after', example('asr record -- my-agent --acp', 'asr record --frames capture.jsonl'))
    .action(action(record))
}

interface RecordOptions {
  frames?: string
  keepWire?: KeepWire
  agentName?: string
  person?: boolean
  secretField: string[]
  snapshotEvery?: number
}

function collected(name: string, names: string[]): string[] {
  return [...names, name]
}

function milliseconds(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number of milliseconds.')
  return Number(text)
}

async function record(cli: Cli, agent: string[], options: RecordOptions): Promise<void> {
  if (agent.length > 0 === (options.frames !== undefined)) cli.misuse('either an agent behind "--", or --frames')
  if (options.frames !== undefined) return recordCapture(cli, options.frames, options)
  return recordAgent(cli, agent, options)
}

function recorderOptions({ keepWire, agentName, person, secretField, snapshotEvery }: RecordOptions): RecorderOptions {
  return { keepWire, agentName, clientIsPerson: person, secretFields: secretField, snapshotEvery }
}

async function recordCapture({ location }: Cli, file: string, options: RecordOptions): Promise<void> {
  await writing(location, { create: true }, async (store, signal) => {
    let bad = 0
    const onProblem = (problem: RecorderProblem): void => {
      if (problem.code !== 'session_known') bad++
      tell(problem)
    }
    // Loaded only when there is something to record: no other command pays for it.
    const { createRecorder } = await import('../../acp/recorder/recorder.js')
    const recorder = createRecorder(store, { ...recorderOptions(options), onProblem, knownSession: 'skip' })
    const input = await openInput(file, { signal })
    const sayTime = onceEach((line, what) => say(`${file}:${line} has a time that ${what}`))
    const lines = new LineSplitter((text, line) => {
      const frame = captured(text)
      if (frame === undefined) {
        bad++
        say(`${file}:${line} is no frame`)
        return
      }
      const at = frame.at === undefined ? undefined : readTime(frame.at)
      recorder.observe({ ...frame, at: at?.time })
      if (at?.readAs !== undefined) sayTime(line, `is read as ${at.readAs}, and so are those like it`)
      if (frame.at === undefined || at !== undefined) return
      bad++
      sayTime(line, 'can not be read; others like it are not named')
    })
    for await (const chunk of input.chunks) {
      lines.push(chunk)
      await recorder.settled()
    }
    lines.end()
    sum(await recorder.stop())
    if (bad > 0) endBad()
  })
}

/** Tells what is to be said of a line once, however many lines it holds for. */
function onceEach(tell: (line: number, what: string) => void): (line: number, what: string) => void {
  const told = new Set<string>()
  return (line, what) => {
    if (!told.has(what)) tell(line, what)
    told.add(what)
  }
}

/** A line of a capture; its time is whatever it says. */
function captured(text: string): (Omit<ObservedFrame, 'at'> & { at?: unknown }) | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || !('dir' in value)) return undefined
  const { dir, frame, text: raw, at, conn } = value as Record<string, unknown>
  if (dir !== 'c2a' && dir !== 'a2c') return undefined
  if (frame === undefined && typeof raw !== 'string') return undefined
  const told = typeof raw === 'string' ? raw : exactText(text)
  return {
    dir,
    frame,
    ...(told !== undefined && { text: told }),
    ...(at !== undefined && at !== null && { at }),
    ...((typeof conn === 'string' || typeof conn === 'number') && { conn }),
  }
}

/** The text of a frame that has numbers in it that its value does not hold. */
function exactText(line: string): string | undefined {
  const member = hasExactNumbers(line) ? memberAt(line, 'frame') : undefined
  return member && line.slice(member.from, member.to).trim()
}

/** The traffic comes first: a store that can not be opened is said, and the agent runs unrecorded. */
async function recordAgent({ location }: Cli, agent: string[], options: RecordOptions): Promise<void> {
  const proxy = await import('../record-proxy.js')
  const { end, summary } = await proxy.recordAgent(agent, { location, recorder: recorderOptions(options) })
  if (summary !== undefined) sum(summary)
  proxy.endLike(end)
}

function tell({ code, message }: RecorderProblem): void {
  say(`${code}: ${message}`)
}

function sum({ sessions, records, frames, notJsonRpc }: RecorderSummary): void {
  const strange = notJsonRpc === 0 ? '' : `, ${notJsonRpc} of them no JSON-RPC`
  const [told, heard] = [counted(records, 'record'), counted(frames, 'frame')]
  say(`recorded ${told} of ${counted(sessions.length, 'session')} from ${heard}${strange}`)
}
