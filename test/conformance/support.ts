/**
 * Runs the shipped conformance suites as tests, and does to logs in files what the suite asks for.
 */
import type { ConformanceCase, PlaceSupports } from '../../src/conformance/api.js'
import type { FoundLog, LogPlace } from '../../src/log/api.js'
import { FilePlace } from '../../src/log/files/file-place.js'
import { offsetOf, STREAMS_FOLDER, segmentFile, segmentOf } from '../../src/log/files/segment.js'
import { FRAME_HEAD_BYTES } from '../../src/log/format/frame.js'
import type { LogStorage } from '../../src/log/storage/storage.js'

interface AddTest {
  (name: string, run: () => Promise<void>): void
  skip(name: string, run: () => Promise<void>): void
}

/** Adds the cases as tests; those that are skipped as skipped, with the reason in their names. */
export function addCases(test: AddTest, cases: readonly ConformanceCase[]): void {
  for (const { name, skipped, run } of cases) {
    if (skipped === undefined) test(name, run)
    else test.skip(`${name}: ${skipped}`, run)
  }
}

function fileOf({ identity }: FoundLog, location: number): string {
  return segmentFile(STREAMS_FOLDER, identity, segmentOf(location))
}

/** What the suite does to logs in files. */
export function fileSupports(reopen: (storage: LogStorage) => LogStorage): PlaceSupports {
  const storageOf = (place: LogPlace): LogStorage => (place as FilePlace).storage
  return {
    reopen: (place) => new FilePlace(reopen(storageOf(place))),
    tear: async (place, found, location) => {
      await storageOf(place).truncate(fileOf(found, location), offsetOf(location) + FRAME_HEAD_BYTES + 3)
    },
    damage: async (place, found, location) => {
      const storage = storageOf(place)
      const file = fileOf(found, location)
      const bytes = await storage.read(file, 0, 2 ** 30)
      bytes[offsetOf(location) + FRAME_HEAD_BYTES + 1] ^= 1
      await storage.truncate(file, 0)
      await storage.append(file, bytes)
    },
  }
}
