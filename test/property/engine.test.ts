/** CORE-4 … CORE-26: after every command the engine answers as the naive model does. First half of the runs. */
import { test } from 'uvu'
import { holdEngine } from './run.js'
import { RUNS } from './settings.js'

test('the engine equals the model after every command: receipts, codes, heads, paths, entities, views, digests', () =>
  holdEngine(Math.ceil(RUNS / 2)))

test.run()
