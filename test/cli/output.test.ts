import { Writable } from 'node:stream'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Format, Output } from '../../src/cli/output.js'

class Sink extends Writable {
  text = ''
  most = 0
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.text += String(chunk)
    this.most = Math.max(this.most, chunk.length)
    done()
  }
}

async function listed(format: Format, items: unknown[]): Promise<string> {
  const sink = new Sink()
  const out = new Output(sink, format)
  await out.list(items, { text: (item) => [`<${item}>`] })
  await out.flush()
  return sink.text
}

test('a list is an array in JSON, a line an item in JSONL and in text', async () => {
  assert.equal(JSON.parse(await listed('json', [1, 'a', null])), [1, 'a', null])
  assert.equal(JSON.parse(await listed('json', [])), [])
  assert.is(await listed('jsonl', [1, 'a']), '1\n"a"\n')
  assert.is(await listed('jsonl', []), '')
  assert.is(await listed('text', [1, 'a']), '<1>\n<a>\n')
})

test('a zero keeps its sign in JSON', async () => {
  assert.is(await listed('jsonl', [-0, { a: [0, -0] }]), '-0\n{"a":[0,-0]}\n')
  assert.is(await listed('json', [-0]), '[-0]\n')
})

test('an object whose list is written item by item is one JSON value', async () => {
  const sink = new Sink()
  const out = new Output(sink, 'json')
  await out.objectWithList({ a: 1 }, 'list', [1, 2])
  await out.objectWithList({}, 'list', [])
  await out.flush()
  assert.equal(
    sink.text
      .trim()
      .split(/\n(?={)/)
      .map((value) => JSON.parse(value)),
    [{ a: 1, list: [1, 2] }, { list: [] }],
  )
})

test('a list is never held as a whole: it is written in pieces as it comes', async () => {
  const sink = new Sink()
  const out = new Output(sink, 'jsonl')
  const item = 'x'.repeat(1_000)
  let before = 0
  function* items(): Iterable<string> {
    for (let i = 0; i < 1_000; i++) {
      before = sink.text.length
      yield item
    }
  }
  await out.list(items())
  await out.flush()
  assert.is(sink.text.length, 1_003 * 1_000)
  assert.ok(before > 800_000, 'most is written before the last item is asked for')
  assert.ok(sink.most < 100_000)
})

test('a closed pipe is no error: the list stops, and what follows goes nowhere', async () => {
  const broken = new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error('broken pipe'), { code: 'EPIPE' }))
    },
  })
  const out = new Output(broken, 'jsonl')
  let asked = 0
  function* endless(): Iterable<string> {
    for (;;) {
      asked++
      yield 'x'.repeat(10_000)
    }
  }
  await out.list(endless())
  assert.ok(out.closed)
  assert.ok(asked < 20)
  await out.bytes(new Uint8Array(3))
})

test('another failure of the output is told as ASR_IO', async () => {
  const full = new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error('no space left'), { code: 'ENOSPC' }))
    },
  })
  const out = new Output(full, 'text')
  void out.lines(['x'])
  try {
    await out.flush()
    assert.unreachable()
  } catch (error) {
    assert.is((error as { code: string }).code, 'ASR_IO')
    assert.match((error as Error).message, 'no space left')
  }
})

test.run()
