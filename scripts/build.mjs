/** Builds dist/: the library file by file with its types; the command line as dist/cli.js, and in dist/cli/ what it loads when needed. */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { packageProgram, projectRoot, run } from './project.mjs'

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

/**
 * Node's own modules are asked for with `require`: an `import` of one makes a namespace of all it exports, which has it
 * load more. commander asks for `node:child_process`, for subcommands that are programs of their own: we have none.
 */
const builtinPlugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, importer, namespace }) => {
      if (namespace === 'builtin') return { path, external: true }
      const isUnused = path === 'node:child_process' && /[\\/]commander[\\/]/.test(importer)
      return { path, namespace: isUnused ? 'unused' : 'builtin' }
    })
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: `module.exports = require('${path}')` }))
    onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
  },
}

// What CommonJS packages expect to find, in an ES module. The entry itself begins with the `#!` line.
const BANNER = `import { createRequire as __createRequire } from 'node:module'
import { fileURLToPath as __fileURLToPath } from 'node:url'
const require = __createRequire(import.meta.url)
const __filename = __fileURLToPath(import.meta.url)
`

/** The licences of the packages whose code is in the bundle. */
function bundledLicences(inputs) {
  const folders = inputs.flatMap((input) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0] ?? [])
  const texts = [...new Set(folders)].sort().map((folder) => {
    const file = readdirSync(join(projectRoot, folder)).find((entry) => /^licen[cs]e/i.test(entry))
    const { name, license } = JSON.parse(readFileSync(join(projectRoot, folder, 'package.json'), 'utf8'))
    const text = file === undefined ? license : readFileSync(join(projectRoot, folder, file), 'utf8').trim()
    return `## ${name}\n\n${text}\n`
  })
  return `dist/cli.js holds code of these packages.\n\n${texts.join('\n')}`
}

rmSync(join(projectRoot, 'dist'), { recursive: true, force: true })
run(process.execPath, [packageProgram('typescript', 'bin/tsc'), '-p', 'tsconfig.dist.json'])

if (existsSync(join(projectRoot, 'src/cli/main.ts'))) {
  rmSync(join(projectRoot, 'dist/cli'), { recursive: true, force: true })
  const result = await build({
    absWorkingDir: projectRoot,
    entryPoints: { cli: 'src/cli/main.ts' },
    outdir: 'dist',
    chunkNames: 'cli/[name]-[hash]',
    bundle: true,
    splitting: true, // a start pays for the code of its own command, not for that of all
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: BANNER },
    // Without its streams and its addon: to load them takes a start longer than most commands gain by them.
    alias: { msgpackr: 'msgpackr/pack' },
    plugins: [addonPlugin, builtinPlugin],
    logLevel: 'warning',
    metafile: true,
  })
  chmodSync(join(projectRoot, 'dist/cli.js'), 0o755)
  writeFileSync(join(projectRoot, 'dist/LICENSES.md'), bundledLicences(Object.keys(result.metafile.inputs)))
}
