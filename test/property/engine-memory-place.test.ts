/** CORE-4 … CORE-26 over a log that has no frames and no files: the ports hide nothing that the engine needs. */
import { test } from 'uvu'
import { MemoryPlace } from '../../src/main.js'
import { waitingLevel } from '../support/levels.js'
import { holdEngine } from './run.js'
import { RUNS } from './settings.js'

test('the engine equals the model after every command, over a place in memory', () =>
  holdEngine(Math.ceil(RUNS / 4), () => ({ place: new MemoryPlace(), index: waitingLevel() })))

test.run()
