import { homedir } from 'node:os'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { storeLocation } from '../../src/cli/open.js'

test('the store is the one given, else $ASR_STORE, else asr in the XDG data directory', () => {
  const env = { ASR_STORE: '/b', XDG_DATA_HOME: '/data' }
  assert.is(storeLocation('/a', env), '/a')
  assert.is(storeLocation(undefined, env), '/b')
  assert.is(storeLocation(undefined, { XDG_DATA_HOME: '/data' }), '/data/asr')
  assert.is(storeLocation(undefined, {}), `${homedir()}/.local/share/asr`)
})

test('an empty $ASR_STORE, and an XDG directory that is empty or relative, count as not set', () => {
  assert.is(storeLocation(undefined, { ASR_STORE: '', XDG_DATA_HOME: '/data' }), '/data/asr')
  for (const data of ['', 'data']) {
    assert.is(storeLocation(undefined, { XDG_DATA_HOME: data }), `${homedir()}/.local/share/asr`)
  }
})

test.run()
