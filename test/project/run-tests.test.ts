import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loadScript } from './load-script.js'

interface Judgement {
  passed: number
  failed: number
  skipped: number
  reason: string
}

const { judge, totals: sum } = await loadScript<{
  judge(output: string, exit: string): Judgement
  totals(sum: Omit<Judgement, 'reason'>): string
}>('run-tests.mjs')
const GOOD = 'exit code 0'
const totals = (total: number, passed: number, skipped: number) =>
  `• •   (${passed} / ${total})\n\n  Total:     ${total}\n  Passed:    ${passed}\n  Skipped:   ${skipped}\n  Duration:  1.00ms\n\n`

test('totals of one file are added up', () => {
  assert.equal(judge(totals(3, 3, 1), GOOD), { passed: 3, failed: 0, skipped: 1, reason: '' })
  assert.equal(judge(totals(3, 3, 0) + totals(4, 2, 0), 'exit code 1'), {
    passed: 5,
    failed: 2,
    skipped: 0,
    reason: '',
  })
})

test('a file that ran no test has failed, also when it ended well', () => {
  assert.is(judge('', GOOD).failed, 1)
  assert.is(judge(totals(0, 0, 0), GOOD).failed, 1)
})

test('a file whose tests are all skipped has not failed', () => {
  assert.equal(judge(totals(0, 0, 2), GOOD), { passed: 0, failed: 0, skipped: 2, reason: '' })
})

test('a file that passed all tests and then crashed or was killed has failed', () => {
  assert.is(judge(totals(3, 3, 0), 'exit code 1').failed, 1)
  assert.is(judge(totals(3, 3, 0), 'SIGKILL').failed, 1)
})

test('what could not run stands in the last line', () => {
  assert.is(sum({ passed: 3, failed: 0, skipped: 0 }), '3 passed, 0 failed')
  assert.is(sum({ passed: 3, failed: 1, skipped: 2 }), '3 passed, 1 failed, 2 skipped')
})

test.run()
