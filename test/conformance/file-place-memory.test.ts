import { test } from 'uvu'
import { logPlaceConformance } from '../../src/conformance/main.js'
import { FilePlace } from '../../src/log/files/file-place.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { addCases, fileSupports } from './support.js'

addCases(
  test,
  logPlaceConformance({ make: () => new FilePlace(new MemoryStorage()), supports: fileSupports((storage) => storage) }),
)

test.run()
