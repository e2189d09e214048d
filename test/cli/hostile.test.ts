/**
 * Strings that would steer a terminal, or hide, in each place that a name, an id, a text, a file or an argument can stand:
 * no command prints them raw, in whatever format, to stdout or stderr, and its JSON reads back as what was stored.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { jsonOf } from '../../src/cli/json.js'
import { createProgram } from '../../src/cli/program.js'
import { folder, jsonl, type Outcome, run } from './helper.js'

/** All that nobody sees, and what obeys a terminal; only the ends of lines may be printed. */
const RAW = /[\p{Cc}\p{DI}\p{Zl}\p{Zp}\ufff9-\ufffb]/u
const EVIL =
  '\u001b[31m\u001b]0;t\u0007\b\r\t\u007f\u0085\u009b\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e' +
  '\u2066\u2067\u2068\u2069\ufeff\ufffa\u{e0041}é漢'
/** In an argument and in a file's name lone surrogates can not stand. */
const of = (name: string) => `${name}${EVIL}`
const SESSION = of('s')
const said = [{ type: 'text', text: `${of('text')}\ud800\n` }]

const HEADER = { type: 'header', asr: '1', sessionId: SESSION, agent: { name: of('agent'), version: of('1') } }
const RECORDS = [
  { type: 'session_info', seq: 1, id: of('r1'), title: `${of('title')}\udc00` },
  { type: 'message', seq: 2, id: of('r2'), messageId: of('m1'), role: 'user', content: said },
  { type: 'tool_call', seq: 3, id: of('r3'), callId: of('c1'), name: of('tool'), input: { [of('key')]: of('value') } },
  { type: 'tool_result', seq: 4, id: of('r4'), callId: of('c1'), status: 'failed', content: said },
  { type: 'compaction', seq: 5, id: of('r5'), compactionId: of('k'), status: 'completed', summary: said },
  { type: 'com.example/kind', seq: 6, id: of('r6'), title: of('title'), head: of('side') },
  { type: 'tool_result', seq: 7, id: of('r7'), callId: of('nowhere'), status: 'completed', content: said },
  { type: 'tool_call', seq: 8, id: of('r8'), callId: of('open'), name: of('tool') },
]
const STREAM = jsonl([HEADER, ...RECORDS])

/** The file of it has a line that is kept with a flaw, and one that is refused. */
const FLAWED = `${STREAM}${jsonl([{ type: 'message', seq: 9, id: of('r9'), parentId: of('none') }])}{"type":"${of('x').replace('\n', '')}\n`

interface Case {
  args: string[]
  /** what the JSON holds somewhere; undefined where there is no JSON */
  holds?: unknown[]
  code?: number
  input?: string
  /** of a store of its own, as it changes it, or finds it damaged */
  store?: () => Promise<string>
  /** stdout carries what others say to programs, as it is */
  relays?: boolean
}

async function filled(content = STREAM): Promise<string> {
  const store = join(folder(), of('store'))
  await run(['import', '--store', store, '-'], { input: content })
  return store
}

/** One wrong byte in the middle of the log. */
async function damaged(): Promise<string> {
  const store = await filled()
  const [name] = readdirSync(join(store, 'streams')).filter((one) => one.endsWith('.log'))
  const log = join(store, 'streams', name)
  const bytes = readFileSync(log)
  bytes[bytes.length >> 1] ^= 1
  writeFileSync(log, bytes)
  return store
}

function fileOf(content: string): string {
  const path = join(folder(), of('file'))
  writeFileSync(path, content)
  return path
}

const CAPTURE = jsonl(
  [
    {
      dir: 'c2a',
      frame: { id: 0, method: 'initialize', params: { protocolVersion: 2, info: { name: 'c', version: '1' } } },
    },
    { dir: 'a2c', frame: { id: 0, result: { protocolVersion: 2, info: { name: of('agent'), version: of('1') } } } },
    { dir: 'c2a', frame: { id: 1, method: 'session/new', params: { cwd: '/' } } },
    { dir: 'a2c', frame: { id: 1, result: { sessionId: SESSION } } },
    ...['plan', 'message'].map((name) => ({
      dir: 'a2c',
      frame: {
        method: 'session/update',
        params: {
          sessionId: SESSION,
          update: {
            sessionUpdate: 'agent_message',
            messageId: of(name),
            content: [{ type: 'text', text: of('text') }],
          },
        },
      },
    })),
  ].map(({ dir, frame }) => ({ dir, at: '2026-01-01T00:00:00Z', frame: { jsonrpc: '2.0', ...frame } })),
)

async function recorded(): Promise<string> {
  const store = join(folder(), of('store'))
  await run(['record', '--store', store, '--frames', fileOf(CAPTURE)])
  return store
}

const LIST = [
  { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 2, info: { name: 'c', version: '1' } } },
  { jsonrpc: '2.0', id: 1, method: 'session/list', params: {} },
]

/** What a client must not send, which the SDK quotes on the console. */
const MISTAKEN = [
  { jsonrpc: '2.0', id: of('answer'), result: {} },
  { jsonrpc: '2.0', method: 'session/cancel', params: { [of('key')]: EVIL } },
  { jsonrpc: '2.0', method: EVIL, params: EVIL },
]

const CASES: Readonly<Record<string, Case[]>> = {
  import: [
    { args: [fileOf(FLAWED)], holds: [SESSION, of('r9')], code: 1, store: async () => join(folder(), of('store')) },
    { args: ['--strict', fileOf(FLAWED)], holds: [SESSION], code: 1, store: async () => join(folder(), of('store')) },
    { args: [join(folder(), of('none'))], code: 1 },
    { args: ['--session', of('other'), fileOf(STREAM)], code: 1 },
  ],
  record: [
    { args: ['--frames', fileOf(CAPTURE)], store: async () => join(folder(), of('store')) },
    { args: ['--frames', fileOf(`{"dir":"a2c"}\n${CAPTURE}${CAPTURE}`)], code: 1, store: filled },
    { args: ['--keep-wire', EVIL, '--frames', 'x'], code: 2 },
    { args: ['--', join(folder(), of('agent'))], code: 1 },
  ],
  replay: [
    { args: [SESSION], holds: [SESSION, of('m1'), of('c1')] },
    { args: ['--frames', SESSION], holds: [SESSION, of('c1')] },
    { args: ['--wire', SESSION], holds: [SESSION, of('message')], store: recorded },
    { args: ['--wire', SESSION], code: 1 },
    { args: [SESSION], code: 1, store: damaged },
  ],
  serve: [
    { args: [], input: jsonl(LIST), holds: [SESSION], relays: true },
    { args: [], input: jsonl([LIST[0], ...MISTAKEN, LIST[1]]), holds: [SESSION], relays: true },
    { args: ['--listen', EVIL], code: 2 },
    { args: ['--listen', `${EVIL.replaceAll(/[\][:]/g, '')}:0`, '--allow-remote'], code: 1 },
  ],
  ls: [
    { args: [], holds: [SESSION, of('agent'), `${of('title')}\udc00`] },
    { args: [EVIL], code: 2 },
  ],
  log: [
    { args: [SESSION], holds: RECORDS },
    { args: [SESSION, '--from', EVIL], code: 2 },
    { args: [SESSION], code: 1, store: damaged },
  ],
  heads: [{ args: [SESSION], holds: [of('side'), of('r6')] }],
  leaves: [{ args: [SESSION], holds: [of('side'), of('r6'), of('r8')] }],
  path: [
    { args: [SESSION], holds: RECORDS.slice(6) },
    { args: [SESSION, '--head', of('none')], code: 1 },
    { args: [SESSION, '--at', of('none')], code: 1 },
    { args: [SESSION, '--at', of('r9')], holds: [of('r9')], store: () => filled(FLAWED) },
  ],
  context: [
    { args: [SESSION], holds: RECORDS.slice(6) },
    { args: [SESSION, '--at', of('r9')], holds: [of('r9')], store: () => filled(FLAWED) },
  ],
  entity: [
    { args: [SESSION, 'message', of('m1')], holds: [RECORDS[1]] },
    { args: [SESSION, 'message', of('none')], holds: [] },
    { args: [SESSION, EVIL, EVIL, EVIL], code: 2 },
  ],
  get: [
    { args: [SESSION, of('r2')], holds: [RECORDS[1]] },
    { args: [SESSION, of('none')], code: 1 },
    { args: [of('none'), of('none')], code: 1 },
  ],
  'set-head': [
    { args: [SESSION, of('head'), of('r2')], holds: [], store: filled },
    { args: [SESSION, of('head'), of('none')], code: 1 },
  ],
  export: [
    { args: [SESSION, '-o', join(folder(), of('none'), 'x')], code: 1 },
    { args: [SESSION, '--json'], code: 2 },
  ],
  digest: [{ args: [SESSION], holds: [SESSION] }],
  verify: [
    { args: [], holds: [SESSION] },
    { args: [SESSION], holds: [SESSION], code: 1, store: damaged },
  ],
  reindex: [{ args: [SESSION], holds: [SESSION] }],
  stats: [
    { args: [SESSION], holds: [SESSION, of('tool'), 'com.example/kind'] },
    { args: [], holds: [SESSION, of('tool')] },
  ],
  rm: [
    { args: [SESSION, '--yes'], holds: [SESSION], store: filled },
    { args: [SESSION], code: 2 },
    { args: [of('none'), '--yes'], code: 1 },
  ],
}

function assertNothingRaw(text: string, which: string): void {
  const at = text.replaceAll('\n', ' ').search(RAW)
  if (at !== -1) assert.unreachable(`${which} prints U+${text.codePointAt(at)?.toString(16)}: ${jsonOf(text)}`)
}

/** The value itself, or one that is in it. */
function holds(all: unknown, wanted: unknown): boolean {
  if (isDeepStrictEqual(all, wanted)) return true
  return typeof all === 'object' && all !== null && Object.values(all).some((one) => holds(one, wanted))
}

function assertHolds(stdout: string, format: string, wanted: readonly unknown[]): void {
  const lines = stdout === '' ? [] : stdout.trimEnd().split('\n')
  const all = format === '--json' ? JSON.parse(stdout) : lines.map((line) => JSON.parse(line))
  for (const one of wanted) if (!holds(all, one)) assert.unreachable(`${jsonOf(one)} is not in ${jsonOf(stdout)}`)
}

async function outcomeOf(name: string, { args, input, store }: Case, format: string): Promise<Outcome> {
  const location = await (store?.() ?? shared)
  return run(['--store', location, ...(format === '' ? [] : [format]), name, ...args], { input })
}

let shared: Promise<string>

test('what is hostile is tried on every command there is', () => {
  assert.equal(
    createProgram([])
      .commands.map((command) => command.name())
      .toSorted(),
    Object.keys(CASES).toSorted(),
  )
})

for (const [name, cases] of Object.entries(CASES)) {
  test(`asr ${name} prints nothing raw, in text, JSON and JSONL, and its JSON is what was stored`, async () => {
    shared ??= filled()
    for (const one of cases) {
      for (const format of ['', '--json', '--jsonl']) {
        const { code, stdout, stderr } = await outcomeOf(name, one, format)
        const which = `asr ${format} ${name} ${jsonOf(one.args)}`
        // Of what has no JSON, that is told.
        if (code !== 2 || format === '') assert.is(code, one.code ?? 0, `${which}: ${stderr}`)
        assertNothingRaw(stderr, `${which}, stderr`)
        if (one.relays !== true) assertNothingRaw(stdout, `${which}, stdout`)
        if (one.holds !== undefined && format !== '' && code !== 2) {
          assertHolds(stdout, one.relays ? '--jsonl' : format, one.holds)
        }
      }
    }
  })
}

test('what the user gives is printed raw nowhere either: commands, options, stores, stacks', async () => {
  const given: string[][] = [
    [EVIL],
    [`--${EVIL}`],
    ['ls', `--${EVIL}`],
    ['help', EVIL],
    ['ls', '--store', join(folder(), EVIL)],
    ['ls', '--json', '--jsonl', EVIL],
  ]
  for (const args of given) {
    const { code, stdout, stderr } = await run(args, { env: { ASR_DEBUG: '1' } })
    assert.ok(code !== 0)
    assertNothingRaw(stdout + stderr, jsonOf(args))
  }
  const broken = 'a\nasr: all is well'
  for (const args of [
    ['ls', broken],
    ['log', 's', `--from=${broken}`],
    [`--store=`, broken],
    ['ls', `--${broken}`],
  ]) {
    const { stderr } = await run(args)
    assert.equal(stderr.match(/^asr: .*/gm)?.length, 1, stderr)
  }
})

test('an export alone gives the bytes that came in, and what a store is made over is told without them', async () => {
  const store = await filled()
  const { stdout } = await run(['--store', store, 'export', SESSION])
  assert.is(stdout, STREAM)
  const other = join(folder(), of('no-store'))
  mkdirSync(other)
  writeFileSync(join(other, of('file')), 'x')
  const { stderr } = await run(['--store', other, 'import', '-'], { input: STREAM })
  assertNothingRaw(stderr, 'stderr')
})

test.run()
