/** Builds dist/: the library in few files, with its types file by file; the command line as dist/cli.cjs, which runs what is in dist/cli/. */
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { packageProgram, projectRoot, run } from './project.mjs'

const require = createRequire(import.meta.url)

/**
 * Addons are `.node` files that lie in their own packages. Their JavaScript is bundled, but the place is asked for at
 * run time, from the package that depends on the addon: with some package managers only that one can see it.
 */
const ADDONS = [
  { importer: 'level', addon: 'classic-level', entry: /classic-level[\\/]binding\.js$/, loader: 'node-gyp-build' },
]

const addonPlugin = {
  name: 'addons',
  setup({ onLoad }) {
    for (const { importer, addon, entry, loader } of ADDONS) {
      onLoad({ filter: entry }, () => ({
        contents: `
          const { createRequire } = require('node:module')
          const { dirname } = require('node:path')
          const ask = createRequire(createRequire(__filename).resolve('${importer}'))
          module.exports = require('${loader}')(dirname(ask.resolve('${addon}/package.json')))
        `,
      }))
    }
  },
}

/** The addon and the streams of msgpackr take a start longer to load than most commands gain by them. */
const withoutAddonPlugin = {
  name: 'without-addon',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^msgpackr$/ }, () => ({ path: 'msgpackr', namespace: 'without-addon' }))
    onLoad({ filter: /./, namespace: 'without-addon' }, () => ({ contents: '' }))
  },
}

/** Modules of Node that most commands do without: each is loaded when something of it is first used. */
const AT_FIRST_USE = /^(?:node:)?(?:child_process|crypto|(?:fs|readline|stream|timers)\/promises|worker_threads|zlib)$/

const atFirstUsePlugin = {
  name: 'at-first-use',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: AT_FIRST_USE }, ({ path, namespace }) =>
      namespace === 'at-first-use' ? { path, external: true } : { path, namespace: 'at-first-use' },
    )
    onLoad({ filter: /.*/, namespace: 'at-first-use' }, ({ path }) => {
      const getters = Object.keys(require(path)).map((name) => `get ${name}() { return load().${name} },`)
      return { contents: `const load = () => require('${path}')\nmodule.exports = {\n${getters.join('\n')}\n}` }
    })
  },
}

/** What stays an import in the library: packages that hold what differs between Node and browsers, or that few need. */
const EXTERNAL = ['node:*', 'level', 'msgpackr', 'fflate', '@agentclientprotocol/sdk', 'zod']

/** What the command line loads only when needed, by its name in dist/cli/: what is not there is not taken from the cache. */
const LATER = {
  recorder: 'src/acp/recorder/recorder.ts',
  replay: 'src/acp/replay/main.ts',
  agent: 'src/acp/agent/agent.ts',
  'record-proxy': 'src/cli/record-proxy.ts',
  'recording-worker': 'src/cli/recording-worker.ts',
  'serve-stdio': 'src/cli/serve-stdio.ts',
  'serve-socket': 'src/cli/serve-socket.ts',
  'cli-progress': 'cli-progress',
}

const laterPlugin = {
  name: 'later',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined
      const wanted = path.startsWith('.') ? join(resolveDir, path.replace(/\.js$/, '.ts')) : path
      const found = Object.entries(LATER).find(([, entry]) => wanted === entry || wanted === join(projectRoot, entry))
      return found && { path: `./${found[0]}.cjs`, external: true }
    })
  },
}

/**
 * The files are CommonJS, which V8 takes from its code cache. Such a file can not wait at its top: what is waited for there
 * is made at once, or is not needed in Node. And it finds files beside it in its own way.
 */
const AS_COMMONJS = [
  { file: /src[\\/]base[\\/]hash\.ts$/, find: 'await xxhash()', put: 'xxhash()' },
  { file: /xxhash-wasm[\\/]esm[\\/]xxhash-wasm\.js$/, find: 'async function', put: 'function' },
  {
    file: /xxhash-wasm[\\/]esm[\\/]xxhash-wasm\.js$/,
    find: '(await WebAssembly.instantiate(t)).instance',
    put: 'new WebAssembly.Instance(new WebAssembly.Module(t))',
  },
  { file: /src[\\/]log[\\/]format[\\/]deflate\.ts$/, find: "await import('./fflate.js')", put: 'undefined' },
  {
    file: /src[\\/]cli[\\/]recording\.ts$/,
    find: "new URL('./recording-worker.js', import.meta.url)",
    put: "require('node:path').join(__dirname, 'recording-worker.cjs')",
  },
]

const asCommonjsPlugin = {
  name: 'as-commonjs',
  setup({ onLoad }) {
    onLoad({ filter: /(?:hash|deflate|recording)\.ts$|xxhash-wasm\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8')
      for (const { file, find, put } of AS_COMMONJS) {
        if (!file.test(path)) continue
        if (contents.split(find).length !== 2) throw new Error(`${path} does not say once: ${find}`)
        contents = contents.replace(find, () => put)
      }
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
    })
  },
}

/** The entries of the package, by their names in dist/: what several of them use, and what is loaded later, is in dist/shared/. */
const ENTRIES = {
  main: 'src/main.ts',
  'acp/main': 'src/acp/main.ts',
  'conformance/main': 'src/conformance/main.ts',
  // for package.json, which puts the second in the place of the first where a bundler builds for browsers
  'store/node/folder': 'src/store/node/folder.ts',
  'store/node/no-folder': 'src/store/node/no-folder.ts',
}

/**
 * Most of what importing a library costs is a toll on each file. So its modules come in few, and the small parts of packages
 * that it uses at once come with them; other packages stay imports. Nothing is minified: a bundler does that.
 */
async function bundleLibrary() {
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: ENTRIES,
    outdir: 'dist',
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'neutral', // one build for Node and browsers
    mainFields: ['module', 'main'],
    target: 'es2022',
    format: 'esm',
    external: EXTERNAL,
    logLevel: 'warning',
    metafile: true,
  })
  for (const output of Object.keys(metafile.outputs)) withoutBareImports(join(projectRoot, output))
  return Object.keys(metafile.inputs)
}

/** A file imports others for their order alone too; no module here has an effect, and bundlers warn of such imports. */
function withoutBareImports(file) {
  const text = readFileSync(file, 'utf8')
  const fewer = text.replace(/^import "\.[^"]+";\n/gm, '')
  if (fewer !== text) writeFileSync(file, fewer)
}

async function bundleCommandLine() {
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: { main: 'src/cli/main.ts', ...LATER },
    outdir: 'dist/cli',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    supported: { 'dynamic-import': false }, // a script from the code cache can require, but not import
    minify: true, // and so all ASCII
    plugins: [withoutAddonPlugin, addonPlugin, atFirstUsePlugin, laterPlugin, asCommonjsPlugin],
    logLevel: 'warning',
    metafile: true,
  })
  return Object.keys(metafile.inputs)
}

/** Makes the program one function of what a CommonJS module is given, as `scripts/cli-start.cjs` runs it. */
function wrapMain() {
  const main = join(projectRoot, 'dist/cli/main.cjs')
  const text = readFileSync(main, 'latin1')
  writeFileSync(main, `(function (exports, require, module, __filename, __dirname) { ${text}\n})`, 'latin1')
}

/** Has V8 note what it compiles for a command that opens a store and reads: a start then spends no time on it. */
function makeCodeCache() {
  const store = mkdtempSync(join(tmpdir(), 'asr-build-'))
  const asr = (args, extra) =>
    run(process.execPath, [join(projectRoot, 'dist/cli.cjs'), '--store', store, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...extra },
    })
  asr(['import', join(projectRoot, 'sample/session.asr.jsonl')])
  asr(['context', 'sample/slugs'], { ASR_WRITE_CODE_CACHE: '1' })
  rmSync(store, { recursive: true, force: true })
}

/** The licences of the packages whose code is in what is built. */
function bundledLicences(inputs) {
  const folders = inputs.flatMap((input) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0] ?? [])
  const texts = [...new Set(folders)].sort().map((folder) => {
    const file = readdirSync(join(projectRoot, folder)).find((entry) => /^licen[cs]e/i.test(entry))
    const { name, license } = JSON.parse(readFileSync(join(projectRoot, folder, 'package.json'), 'utf8'))
    const text = file === undefined ? license : readFileSync(join(projectRoot, folder, file), 'utf8').trim()
    return `## ${name}\n\n${text}\n`
  })
  return `The files of dist/ hold code of these packages.\n\n${texts.join('\n')}`
}

rmSync(join(projectRoot, 'dist'), { recursive: true, force: true })
run(process.execPath, [packageProgram('typescript', 'bin/tsc'), '-p', 'tsconfig.dist.json'])

rmSync(join(projectRoot, 'dist/cli'), { recursive: true, force: true })
const inputs = [...(await bundleLibrary()), ...(await bundleCommandLine())]
copyFileSync(join(projectRoot, 'scripts/cli-start.cjs'), join(projectRoot, 'dist/cli.cjs'))
chmodSync(join(projectRoot, 'dist/cli.cjs'), 0o755)
wrapMain()
writeFileSync(join(projectRoot, 'dist/LICENSES.md'), bundledLicences(inputs))
makeCodeCache()
