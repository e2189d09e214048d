/** Where the project is, and how its scripts run a command and walk its files. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const projectRoot = fileURLToPath(new URL('..', import.meta.url))

/** Whether a module is the program, not something imported. */
export function isProgram(meta) {
  return argv[1] !== undefined && meta.url === pathToFileURL(realpathSync(argv[1])).href
}

/** Runs a command in the project with its output shown; a failure ends this process with the same exit code. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: projectRoot, stdio: ['ignore', 'inherit', 'inherit'], ...options })
  if (result.error) throw result.error
  if (result.status !== 0) process.exit(result.status ?? 1)
  return result.stdout?.toString() ?? ''
}

/** The Node program that a package offers, run without a shell so that it works on every platform. */
export function packageProgram(name, file) {
  return join(projectRoot, 'node_modules', name, file)
}

/** Files below a folder whose names match, as sorted paths relative to `root`, with `/`. */
export function filesBelow(root, folder, pattern) {
  const top = join(root, folder)
  if (!existsSync(top)) return []
  return readdirSync(top, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) =>
      relative(root, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    )
    .filter((path) => !path.includes('node_modules/'))
    .sort()
}
