/**
 * The entries of the package, as they are built: what importing each loads, and that a bundler makes of the engine what a browser runs.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as acp from '../../src/acp/main.js'
import * as engine from '../../src/main.js'
import { tempFolder } from '../support/temp.js'
import { projectRoot } from './load-script.js'

/** Runs a module in the project's folder, where `asr-store` is this package, and returns the lines that it prints. */
function linesOf(text: string): string[] {
  const args = ['--input-type=module', '--eval', text]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: projectRoot,
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.is(status, 0, stderr)
  return stdout.trim().split('\n')
}

/** Prints where each module comes from that is loaded by a piece of code, and each file that was required. */
function loadedBy(code: string): string[] {
  const hooks = `import { writeSync } from 'node:fs'
    export function load(url, context, next) { writeSync(1, url + '\\n'); return next(url, context) }`
  return linesOf(`import { createRequire, register } from 'node:module'
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})
    ${code}
    for (const file of Object.keys(createRequire(import.meta.url).cache)) console.log(file)`)
}

const OF_ACP = /@agentclientprotocol|\bzod\b|dist\/acp/

test('importing asr-store, and opening a store in a folder, loads no module of the ACP SDK nor of zod', () => {
  const folder = JSON.stringify(join(tempFolder(), 'store'))
  const imported = loadedBy("await import('asr-store')")
  assert.ok(imported.some((url) => url.endsWith('dist/main.js')))
  const opened = loadedBy(`await (await (await import('asr-store')).openStore(${folder})).close()`)
  assert.ok(opened.some((url) => url.includes('classic-level')))
  for (const url of [...imported, ...opened]) assert.not.match(url, OF_ACP)
  const sdk = loadedBy("await import('@agentclientprotocol/sdk/experimental/v2/unstable')")
  assert.ok(
    sdk.some((url) => OF_ACP.test(url)),
    'they would have been seen',
  )
})

test('importing asr-store loads what opens a folder only when one is opened, and few files', () => {
  const files = loadedBy("await import('asr-store')").filter((url) => !url.startsWith('node:'))
  for (const file of files) assert.not.match(file, /level|msgpackr-extract|node-index|store\/node/)
  assert.ok(files.length <= 16, files.join('\n'))
})

test('what is built exports what the sources do, and both entries share one engine', () => {
  const [names, shared] = linesOf(`import * as engine from 'asr-store'
    import * as acp from 'asr-store/acp'
    console.log(JSON.stringify([Object.keys(engine), Object.keys(acp)]))
    const store = await engine.openStore(engine.memoryLocation())
    const error = await acp.replay(await store.createStream({ sessionId: 's' }), { at: 'x' }).losses().catch((e) => e)
    console.log(error instanceof engine.AsrError, error.code)`)
  assert.equal(JSON.parse(names), [Object.keys(engine).sort(), Object.keys(acp).sort()])
  assert.is(shared, 'true ASR_NOT_FOUND')
})

/** The globals of Node that no browser has. */
const OF_NODE = ['process', 'Buffer', 'global', 'setImmediate', 'clearImmediate']

test('the engine is bundled for browsers without Node’s modules, and opens there in memory', async () => {
  const folder = tempFolder()
  const file = join(folder, 'engine.mjs')
  const { warnings } = await build({
    stdin: { contents: "export { memoryLocation, openStore } from 'asr-store'", resolveDir: projectRoot },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    outfile: file,
    logLevel: 'silent',
  })
  assert.equal(warnings, [])
  const bundle = readFileSync(file)
  assert.not.match(bundle.toString(), /\b(?:from|import|require)\s*\(?\s*["'](?!data:)/, 'nothing is left to import')
  writeFileSync(
    join(folder, 'page.mjs'),
    `const { exit } = process
    for (const name of ${JSON.stringify(OF_NODE)}) delete globalThis[name]
    const { memoryLocation, openStore } = await import('./engine.mjs')
    const location = memoryLocation()
    const store = await openStore(location)
    const stream = await store.createStream({ sessionId: 's' })
    for (let n = 0; n < 300; n++) await stream.append({ type: 'message', role: 'user', text: 'many words '.repeat(100) })
    const { ok } = await store.verify()
    await store.close()
    const again = await openStore(location)
    const records = []
    for await (const record of (await again.stream('s')).records()) records.push(record)
    const refused = await openStore('folder').catch((error) => error)
    console.log(ok, records.length, records[299].text.length, refused instanceof TypeError)
    exit(0) // a browser's page lives on: what yields to its events holds a port open`,
  )
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'page.mjs')], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.is(stdout.trim(), 'true 300 1100 true', stderr)
  const [gzip, brotli] = [gzipSync(bundle, { level: 9 }), brotliCompressSync(bundle)].map(({ length }) => length)
  process.stdout.write(`figure: the engine for browsers: ${bundle.length} bytes, gzip ${gzip}, brotli ${brotli}\n`)
  assert.ok(gzip <= 76_000, 'it does not grow unnoticed')
})

test.run()
