/** What a place cannot do is declared, and the suite says what it skips for it; what it promises and does not keep is found. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { failsWith, holds, same } from '../../src/conformance/check.js'
import { logPlaceConformance, logStorageConformance } from '../../src/conformance/main.js'
import { MemoryLog } from '../../src/log/memory/memory-log.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { AsrError, MemoryPlace } from '../../src/main.js'

const make = (): MemoryPlace => new MemoryPlace()

function skippedFor(word: string, cases: { skipped?: string }[]): number {
  return cases.filter(({ skipped }) => skipped?.includes(word)).length
}

test('cases that need what is declared away are skipped with a reason, and do nothing', async () => {
  const all = logPlaceConformance({ make })
  const fewer = logPlaceConformance({ make, supports: { sharing: false, sideFiles: false } })
  assert.is(fewer.length, all.length)
  for (const word of ['sharing', 'sideFiles']) {
    assert.is(skippedFor(word, all), 0)
    assert.ok(skippedFor(word, fewer) > 0, word)
  }
  for (const word of ['damage', 'tear']) assert.ok(skippedFor(word, all) > 0, word)
  const untouched = logPlaceConformance({ make: () => assert.unreachable('a skipped case makes no place') as never })
  for (const { skipped, run } of untouched) if (skipped !== undefined) await run()
})

/** The cases that a place does not pass. */
async function failing(given: Parameters<typeof logPlaceConformance>[0]): Promise<string[]> {
  const names: string[] = []
  for (const { name, run } of logPlaceConformance(given)) await run().catch(() => names.push(name))
  return names
}

class ForgetfulPlace extends MemoryPlace {
  override async discard(): Promise<void> {}
}

class OpenPlace extends MemoryPlace {
  override async list(name?: string) {
    const staged = (await this.leftovers()).map(({ found }) => found)
    return [...(await super.list(name)), ...staged]
  }
}

test('a place that does not keep a promise fails the case that names it', async () => {
  assert.equal(await failing({ make: () => new ForgetfulPlace() }), [
    'a staged log is discarded, or found left over, and leaves nothing',
  ])
  assert.ok(
    (await failing({ make: () => new OpenPlace() })).includes('a staged log is not listed before it is published'),
  )
})

test('a log that loses the last entry of an append fails', async () => {
  const { append } = MemoryLog.prototype
  MemoryLog.prototype.append = function (appends) {
    return append.call(
      this,
      appends.map((entries) => (entries.length > 1 ? entries.slice(0, -1) : entries)),
    )
  }
  try {
    assert.ok((await failing({ make })).length > 3)
  } finally {
    MemoryLog.prototype.append = append
  }
})

test('a storage that gives a size to what is not there fails', async () => {
  class Keeping extends MemoryStorage {
    override size(name: string): number | undefined {
      return super.size(name) ?? 0
    }
  }
  const names: string[] = []
  for (const { name, run } of logStorageConformance({ make: () => new Keeping() }))
    await run().catch(() => names.push(name))
  assert.ok(names.includes('remove takes the file away, and its name is free'), names.join())
})

test('the words of a failure say what was found, and near what', async () => {
  assert.throws(() => same([1n, -0, undefined], [1n, 0, undefined]), /is \[1n, -0, undefined\] instead of/)
  assert.throws(() => same('x'.repeat(5_000), `${'x'.repeat(4_999)}y`, 'the text'), /^the text is ….{100,450}$/)
  assert.throws(() => holds(false, 'it rains'), 'it does not hold that it rains')
  same({ a: 1, b: [null] }, { b: [null], a: 1 })
  await failsWith('ASR_IO', () => Promise.reject(new AsrError('ASR_IO', 'made up')))
  for (const call of [() => undefined, () => Promise.reject(new AsrError('ASR_IO', 'made up'))])
    assert.match(String(await failsWith('ASR_FENCED', call).catch((error: Error) => error.message)), 'ASR_FENCED')
})

test.run()
