/** Compiles src/, test/ and bench/ into an empty build/, so that no test of a removed file is left to run. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { packageProgram, projectRoot, run } from './project.mjs'

rmSync(join(projectRoot, 'build'), { recursive: true, force: true })
run(process.execPath, [packageProgram('typescript', 'bin/tsc'), '-p', 'tsconfig.json'])
