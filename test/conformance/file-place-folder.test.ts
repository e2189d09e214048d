import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import { logPlaceConformance } from '../../src/conformance/main.js'
import { FilePlace } from '../../src/log/files/file-place.js'
import { NodeStorage } from '../../src/log/storage/node-storage.js'
import type { LogStorage } from '../../src/log/storage/storage.js'
import { addCases, fileSupports } from './support.js'

const roots = new Map<LogStorage, string>()

function storageIn(root: string): NodeStorage {
  const storage = new NodeStorage(root)
  roots.set(storage, root)
  return storage
}

test.after(() => {
  for (const root of roots.values()) rmSync(root, { recursive: true, force: true })
})

addCases(
  test,
  logPlaceConformance({
    make: () => new FilePlace(storageIn(mkdtempSync(join(tmpdir(), 'asr-test-conformance-')))),
    supports: fileSupports((storage) => storageIn(roots.get(storage) as string)),
  }),
)

test.run()
