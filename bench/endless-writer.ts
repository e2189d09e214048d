/**
 * A process that appends until it is killed: `node endless-writer.js <store>`. It tells the last position now and then,
 * after it was acknowledged.
 */

import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import { setImmediate } from 'node:timers/promises'
import { openStore } from '../src/main.js'
import { Records } from './generate.js'

const TOLD = 50

const store = await openStore(argv[2])
const stream = await store.stream('bench')
const records = new Records({ seed: process.pid, shape: 'short', ids: 'uuid' })
for (let count = 0; ; count++) {
  const { last } = await stream.append(records.next())
  if (count % TOLD !== 0) continue
  writeSync(1, `${last}\n`)
  await setImmediate()
}
