/**
 * The command line as a whole: what holds for every command, and the list of commands.
 */
import { Command, InvalidArgumentError, Option } from 'commander'
import { contextCommand } from './commands/context.js'
import { digestCommand } from './commands/digest.js'
import { entityCommand } from './commands/entity.js'
import { exportCommand } from './commands/export.js'
import { getCommand } from './commands/get.js'
import { headsCommand } from './commands/heads.js'
import { importCommand } from './commands/import.js'
import { leavesCommand } from './commands/leaves.js'
import { logCommand } from './commands/log.js'
import { lsCommand } from './commands/ls.js'
import { pathCommand } from './commands/path.js'
import { recordCommand } from './commands/record.js'
import { reindexCommand } from './commands/reindex.js'
import { replayCommand } from './commands/replay.js'
import { rmCommand } from './commands/rm.js'
import { serveCommand } from './commands/serve.js'
import { setHeadCommand } from './commands/set-head.js'
import { statsCommand } from './commands/stats.js'
import { verifyCommand } from './commands/verify.js'
import { sayLines } from './say.js'
import { printable } from './text.js'
import { VERSION } from './version.js'

/** In the order in which the help lists them. */
const COMMANDS: Readonly<Record<string, (program: Command) => void>> = {
  import: importCommand,
  record: recordCommand,
  replay: replayCommand,
  serve: serveCommand,
  ls: lsCommand,
  log: logCommand,
  heads: headsCommand,
  leaves: leavesCommand,
  path: pathCommand,
  context: contextCommand,
  entity: entityCommand,
  get: getCommand,
  'set-head': setHeadCommand,
  export: exportCommand,
  digest: digestCommand,
  verify: verifyCommand,
  reindex: reindexCommand,
  stats: statsCommand,
  rm: rmCommand,
}

const AFTER_HELP = `
A session or record id that begins with "-" goes behind "--".
Exit codes: 0 done, 1 the data is bad or not there, 2 wrong usage, 3 another process writes the store.`

/** The program for these arguments: all commands, or the one that they ask for, as to describe them all takes a while. */
export function createProgram(args: readonly string[]): Command {
  const program = new Command('asr')
    .description('Keeps agent sessions: imports, shows, checks and exports ASR streams.')
    .version(VERSION)
    .option('--store <dir>', 'the store (default: $ASR_STORE, else asr in the XDG data directory)', named)
    .addOption(new Option('--json', 'print one JSON value').conflicts('jsonl'))
    .addOption(new Option('--jsonl', 'print JSON, a line an item'))
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeErr: sayLines,
      outputError: (text, write) => write(withArguments(text.replace(/^error:/, 'asr:'), args)),
    })
    .showHelpAfterError('(--help tells how it is used)')
  for (const name of asked(program, args)) COMMANDS[name](program)
  return program
}

/** Of what is told of arguments, only those in between are lines: a break in an argument, or in its value, is shown. */
function withArguments(text: string, args: readonly string[]): string {
  return args
    .flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1)])
    .filter((arg) => arg.includes('\n'))
    .reduce((told, arg) => told.replaceAll(arg, () => printable(arg)), text)
}

function asked(program: Command, args: readonly string[]): string[] {
  const [name] = program.parseOptions([...args]).operands
  const isHelp = args.includes('--help') || args.includes('-h')
  return Object.hasOwn(COMMANDS, name ?? '') && !isHelp ? [name] : Object.keys(COMMANDS)
}

/** An empty name is a variable that was not set; the default store is not what was meant. */
function named(dir: string): string {
  if (dir === '') throw new InvalidArgumentError('It is empty.')
  return dir
}
