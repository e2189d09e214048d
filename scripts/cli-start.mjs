#!/usr/bin/env node
/**
 * Becomes dist/cli.js: runs cli/main.cjs, with the code that V8 has cached for it where that fits this version of Node.
 * Most of a short command's time is spent on compiling what it needs.
 */
import { createRequire } from 'node:module'

// Asked for with `require`: an `import` makes a namespace of all that a module of Node exports, which takes longer.
const require = createRequire(import.meta.url)
const { readFileSync, writeFileSync } = require('node:fs')
const { dirname } = require('node:path')
const { fileURLToPath } = require('node:url')
const { Script } = require('node:vm')

const program = fileURLToPath(new URL('cli/main.cjs', import.meta.url))
const cache = fileURLToPath(new URL('cli/main.cache', import.meta.url))

function cached() {
  try {
    return readFileSync(cache)
  } catch {
    return undefined
  }
}

// It is all ASCII, as the build makes it.
const source = `(function (exports, require, module, __filename, __dirname) { ${readFileSync(program, 'latin1')}\n})`
const script = new Script(source, { filename: program, cachedData: cached() })
const module = { exports: {} }
script.runInThisContext()(module.exports, createRequire(program), module, program, dirname(program))
if (process.env.ASR_WRITE_CODE_CACHE) process.on('exit', () => writeFileSync(cache, script.createCachedData()))
