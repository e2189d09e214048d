/**
 * What a store says of a stream through every door, so that two doors can be compared: the library open to write or to
 * read, and the command line.
 */

import { report } from '../../src/cli/exit.js'
import { createProgram } from '../../src/cli/program.js'
import { isAsrError, type Store, type Stream } from '../../src/main.js'
import { collect, linesOf } from '../support/collect.js'

/** What a question came to: the answer, or the code that it was refused with. */
async function outcome(question: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await question())
  } catch (error) {
    if (isAsrError(error)) return error.code
    throw error
  }
}

async function recordsOf(stream: Stream): Promise<string> {
  let count = 0
  const code = await outcome(async () => {
    for await (const _ of stream.records()) count++
    return 'all'
  })
  return `${count}, then ${code}`
}

/** What is said of the stream `s`, question by question. */
export async function saidBy(store: Store): Promise<Record<string, string>> {
  const of = (ask: (stream: Stream) => Promise<unknown>) => outcome(async () => ask(await store.stream('s')))
  return {
    list: await outcome(async () => {
      const info = (await collect(store.streams())).find(({ sessionId }) => sessionId === 's')
      return info && [info.records, info.damage?.code]
    }),
    records: await of(recordsOf),
    header: await of((stream) => stream.header()),
    digest: await of((stream) => stream.digest()),
    heads: await of((stream) => stream.heads()),
    path: await of(async (stream) => {
      const path = await stream.activePath()
      return [path.length, path.cut, path.gaps, await collect(path.ids())]
    }),
    view: await of(async (stream) => (await collect((await stream.contextView()).entries())).length),
    export: await of((stream) => linesOf(stream.exportJsonl())),
    salvage: await of(async (stream) => (await linesOf(stream.exportJsonl({ salvage: true }))).length),
    verify: await outcome(async () => {
      const { streams } = await store.verify({ sessionId: 's' })
      return streams.map(({ ok, records, problems }) => [ok, records, problems.map(({ message }) => message)])
    }),
  }
}

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

/** Runs `asr` within this process: what a process of its own would print and end with. */
export async function asr(...args: string[]): Promise<Ran> {
  const ran: Ran = { code: 0, stdout: '', stderr: '' }
  const restore = [
    capture(process.stdout, (text) => (ran.stdout += text)),
    capture(process.stderr, (text) => (ran.stderr += text)),
  ]
  process.exitCode = 0
  try {
    await createProgram(args).parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error)
  } finally {
    ran.code = Number(process.exitCode)
    process.exitCode = 0
    for (const each of restore) each()
  }
  return ran
}

function capture(stream: NodeJS.WriteStream, take: (text: string) => void): () => void {
  const { write } = stream
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    take(typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk))
    const done = rest.find((each) => typeof each === 'function') as (() => void) | undefined
    if (done !== undefined) setImmediate(done)
    return true
  }) as typeof write
  return () => {
    stream.write = write
  }
}
