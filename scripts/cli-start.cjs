#!/usr/bin/env node
/**
 * Becomes dist/cli.cjs: runs cli/main.cjs, with the code that V8 has cached for it where that fits this version of Node.
 * Most of a short command's time is spent on loading and compiling what it needs; Node's loader of ES modules alone would
 * add a tenth to it.
 */
const { readFileSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

const program = join(__dirname, 'cli', 'main.cjs')
const cache = join(__dirname, 'cli', 'main.cache')

function cached() {
  try {
    return readFileSync(cache)
  } catch {
    return undefined
  }
}

// It is all ASCII, and one function of what a CommonJS module is given, as the build makes it.
const script = new Script(readFileSync(program, 'latin1'), { filename: program, cachedData: cached() })
const made = { exports: {} }
script.runInThisContext()(made.exports, createRequire(program), made, program, dirname(program))
if (process.env.ASR_WRITE_CODE_CACHE) process.on('exit', () => writeFileSync(cache, script.createCachedData()))
