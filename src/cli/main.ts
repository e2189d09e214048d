/**
 * Entry of the command line.
 */
import { report } from './exit.js'
import { Interrupted, interruptedCode, listenForInterrupts } from './interrupt.js'
import { createProgram } from './program.js'

// A reader that closes the pipe is no error; what else fails is told by the write that failed.
process.stdout.on('error', () => {})

async function main(): Promise<void> {
  listenForInterrupts()
  try {
    const args = process.argv.slice(2)
    await createProgram(args).parseAsync(args, { from: 'user' })
  } catch (error) {
    // Ctrl-C may leave a read of stdin pending, which would keep the process.
    if (error instanceof Interrupted) process.exit(interruptedCode())
    process.exitCode = report(error)
  }
}

void main()
