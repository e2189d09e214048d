/**
 * The agent dies with the recorder, as it would have died in its place: by a SIGKILL that no process can hand on.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const TIE = ['setpriv', '--pdeathsig', 'KILL'] as const

/** How far into a program a line that names its interpreter is looked for; Linux reads no more. */
const SHEBANG_BYTES = 256

/**
 * A command that runs another one tied to this process: when this one ends, however it ends, the kernel kills it. It is
 * util-linux's `setpriv` that asks for that, and then becomes the program: its process, arguments, signals and end are its own.
 * The command as it is where that can not be had (no Linux, no setpriv), and where it can not be run: then the system says so.
 */
export function tied(command: readonly string[]): readonly string[] {
  if (process.platform !== 'linux' || !isRunnable(command[0])) return command
  const [setpriv, ...options] = TIE
  const { status } = spawnSync(setpriv, [...options, 'true'], { stdio: 'ignore' })
  return status === 0 ? [...TIE, '--', ...command] : command
}

/** Whether the system finds a program by this name, and can run it. */
function isRunnable(name: string): boolean {
  if (name.includes('/')) return isProgram(name)
  return (process.env.PATH ?? '').split(delimiter).some((folder) => isProgram(join(folder, name)))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    if (!statSync(path).isFile()) return false
    const interpreter = /^#!\s*(\S+)/.exec(beginning(path))?.[1]
    return interpreter === undefined || isProgram(interpreter)
  } catch {
    return false
  }
}

/** The first bytes of a program; none of one that may be run but not read. */
function beginning(path: string): string {
  const bytes = new Uint8Array(SHEBANG_BYTES)
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return ''
  }
  try {
    return new TextDecoder('latin1').decode(bytes.subarray(0, readSync(fd, bytes)))
  } finally {
    closeSync(fd)
  }
}
