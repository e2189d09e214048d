/** The second half of the runs of `engine.test.ts`, so that both can run beside each other. */
import { test } from 'uvu'
import { holdEngine } from './run.js'
import { RUNS } from './settings.js'

test('CORE-26: with reopening, rebuilt indexes and copies in between, the engine still equals the model', () =>
  holdEngine(Math.floor(RUNS / 2)))

test.run()
