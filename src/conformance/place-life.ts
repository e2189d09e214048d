/**
 * What a place must do with whole logs: make, publish, extend and delete them, and keep what lies beside.
 */
import { name128 } from '../base/hash.js'
import type { FoundLog, LogPlace } from '../log/api.js'
import { sideFile } from '../record/side-file.js'
import { failsWith, failureOf, holds, same } from './check.js'
import {
  foundIn,
  type Given,
  headerOf,
  opened,
  type PlaceCase,
  recordAt,
  SESSION,
  saidBy,
  saidOf,
  scanned,
  written,
} from './given.js'

async function listed(place: LogPlace, name?: string): Promise<string[]> {
  return (await place.list(name)).map(({ identity }) => identity.incarnation).sort()
}

async function known(place: LogPlace): Promise<string[]> {
  return [...(await place.incarnations())].sort()
}

async function logsBegin({ place, again }: Given): Promise<void> {
  same([await listed(place), await known(place)], [[], []], 'what an empty place holds')
  const log = place.create(SESSION, { staged: false })
  const { name, incarnation } = log.identity
  same([name, /^[0-9a-f]{16}$/.test(incarnation)], [name128(SESSION), true], 'the identity of a log')
  same([await listed(place), log.bytes, log.end.location], [[], 0, 0], 'a log of which nothing is written')
  await log.append([[headerOf()]])
  const other = place.create('another session', { staged: false })
  await other.append([[headerOf('another session')]])
  const next = await again()
  same([await listed(next, name), await listed(next, name128('no session'))], [[incarnation], []], 'the logs of a name')
  const both = [incarnation, other.identity.incarnation].sort()
  same([await listed(next), await known(next)], [both, both], 'all logs')
  const found = await foundIn(next, log)
  same([found.bytes, found.storedEnd], [log.bytes, log.storedEnd], 'the size of a log that is listed')
  same(
    [await next.sessionOf(found), await next.isDeleted(found)],
    [SESSION, false],
    'whose it is, and whether it is gone',
  )
}

async function stagedAreUnseen({ place, again }: Given): Promise<void> {
  const { log, entries } = await written(place, 3, { staged: true })
  const { incarnation } = log.identity
  same([await listed(place), await known(place)], [[], [incarnation]], 'a log that is staged')
  await log.sync()
  await place.publish(log)
  same([await listed(place), await known(place)], [[incarnation], [incarnation]], 'a log that was published')
  await log.append([[recordAt(4)]])
  const later = await opened(await again(), log)
  const { found } = await scanned(later)
  same(
    found.slice(0, 4).map(({ entry }) => saidBy(later, entry)),
    entries.map(saidOf),
    'what was staged',
  )
  same(later.end, log.end, 'its end')
}

async function stagedAreTakenBack({ place, again }: Given): Promise<void> {
  const { log: first } = await written(place, 2, { staged: true })
  await place.discard(first)
  same([await listed(place), await known(place)], [[], []], 'a log that was discarded')
  const { log: second } = await written(place, 2, { staged: true })
  await second.sync()
  const next = await again()
  const [leftover, ...others] = await next.leftovers()
  same([leftover.found.identity, leftover.isRetired, others.length], [second.identity, false, 0], 'what is left over')
  await next.takeBack(leftover)
  await next.erase(leftover.found)
  await next.sweep()
  same([await next.leftovers(), await known(next)], [[], []], 'what is left over afterwards')
}

async function deletedAreGone({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 2)
  await log.append([[recordAt(3, { content: 'before it was cut' })]])
  const { log: twice } = await written(place, 2)
  const other = place.create('another session', { staged: false })
  await other.append([[headerOf('another session')]])
  const makings = await place.makings(log.identity.name)
  const incarnations = [log, twice].map(({ identity }) => identity.incarnation).sort()
  same(makings.map(({ identity }) => identity.incarnation).sort(), incarnations, 'the makings of a name')
  await place.retire(makings)
  same(await listed(place), [other.identity.incarnation], 'what is listed once they are retired')
  for (const found of makings) same(await place.isDeleted(found), true, 'whether a retired log is deleted')
  same(await known(place), [...incarnations, other.identity.incarnation].sort(), 'all logs, until they are erased')
  const next = await again()
  const leftovers = await next.leftovers()
  same(
    leftovers.map(({ isRetired }) => isRetired),
    [true, true],
    'what is left over',
  )
  for (const leftover of leftovers) {
    await next.takeBack(leftover)
    await next.erase(leftover.found)
  }
  await next.sweep()
  same([await known(next), await next.makings(log.identity.name)], [[other.identity.incarnation], []], 'what is left')
  same((await next.list()).length, 1, 'the logs of others')
}

async function readersHearOfIt({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 2)
  const reader = await opened(await again(), log, { isOfAnother: true })
  await remove(place, await place.makings(log.identity.name))
  await failsWith('ASR_STREAM_NOT_FOUND', () => reader.hasGrown())
}

async function remove(place: LogPlace, logs: FoundLog[]): Promise<void> {
  await place.retire(logs)
  for (const found of logs) await place.erase(found)
}

async function asideIsUnseen({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 1)
  holds((await place.putAside(await foundIn(place, log))).length > 0, 'what is put aside has a name for messages')
  same([await listed(place), await listed(await again())], [[], []], 'what is listed then')
  const { log: next } = await written(place, 1)
  same(await listed(place), [next.identity.incarnation], 'what is listed once it is made again')
}

async function extensionsAreWhole({ place, again }: Given): Promise<void> {
  const { log, entries } = await written(place, 2)
  const { end } = log
  const extension = log.extension()
  const batches = [0, 1, 2].map((batch) => [1, 2, 3].map((n) => recordAt(2 + 3 * batch + n, { batch, deep: { n } })))
  for (const batch of batches) await extension.append([batch])
  holds(extension.bytes > 0 && !extension.isFull && !extension.isPoisoned, 'an extension holds what it was given')
  same([log.end, (await opened(await again(), log)).end], [end, end], 'the end before the extension is taken in')
  await log.takeIn(extension)
  await log.sync()
  await log.append([[recordAt(12)]])
  const later = await opened(await again(), log)
  same(later.end, log.end, 'the end afterwards')
  const all = [...entries, ...batches.flat(), recordAt(12)]
  same(
    (await scanned(later)).found.map(({ entry }) => saidBy(later, entry)),
    all.map(saidOf),
    'what it holds then',
  )
}

async function extensionsCanBeLeft({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 2)
  const removed = log.extension()
  await removed.append([[recordAt(3)]])
  await removed.remove()
  await log.extension().append([[recordAt(3, { content: 'left' })]])
  const next = await again()
  await next.sweep()
  same([(await opened(next, log)).end, await next.leftovers()], [log.end, []], 'a log that was to be extended')
  await log.append([[recordAt(3)]])
  same((await opened(await again(), log)).end.pos, 3, 'its length after an append')
}

async function staleExtensionsAreRefused({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 2)
  const extension = log.extension()
  await extension.append([[recordAt(3), recordAt(4)]])
  const other = await opened(await again(), log)
  await other.append([[recordAt(3, { by: 'another' })]])
  await failsWith('ASR_FENCED', () => log.takeIn(extension))
  same((await opened(await again(), log)).end.pos, 3, 'the length of the log')
}

const NAME = 'native/some file.jsonl'

async function sideFilesAreKept({ place, again }: Given): Promise<void> {
  const { side } = place
  same(await side.size(NAME), undefined, 'the size of a file that is not there')
  holds((await failureOf(() => side.read(NAME, 0, 1))) !== undefined, 'a file that is not there cannot be read')
  same(await side.append(NAME, Uint8Array.of(1, 2, 3)), 3, 'the size after an append')
  same(await side.append(NAME, Uint8Array.of(4)), 4, 'the size after another')
  const later = (await again()).side
  same([...(await later.read(NAME, 1, 2))], [2, 3], 'a range of it')
  same([...(await later.read(NAME, 2, 100))], [3, 4], 'its end')
  same(await later.size(NAME), 4, 'its size')
  same(await listed(place), [], 'the logs')
  await later.remove(NAME)
  same(await side.size(NAME), undefined, 'its size once it is removed')
}

async function sideFilesGoWithTheirStream({ place }: Given): Promise<void> {
  const { log } = await written(place, 1)
  for (const name of [sideFile(SESSION), NAME]) await place.side.append(name, Uint8Array.of(1))
  await remove(place, await place.makings(log.identity.name))
  same(
    [await place.side.size(sideFile(SESSION)), await place.side.size(NAME)],
    [undefined, 1],
    'the sizes of the files',
  )
}

export const LIFE_CASES: PlaceCase[] = [
  { name: 'a log is there once its first append is, under its name', run: logsBegin },
  { name: 'a staged log is not listed before it is published', run: stagedAreUnseen },
  { name: 'a staged log is discarded, or found left over, and leaves nothing', run: stagedAreTakenBack },
  {
    name: 'all makings of a name are retired at once, and erased by whoever opens the place next',
    run: deletedAreGone,
  },
  { name: 'a reader learns that its log was deleted', needs: 'sharing', run: readersHearOfIt },
  { name: 'a log that is put aside is not listed', run: asideIsUnseen },
  { name: 'an extension comes in whole, and is not seen before', run: extensionsAreWhole },
  { name: 'an extension that is left, or removed, changes nothing', run: extensionsCanBeLeft },
  { name: 'an extension is refused when another has written', needs: 'sharing', run: staleExtensionsAreRefused },
  { name: 'side files are appended to, read and removed', needs: 'sideFiles', run: sideFilesAreKept },
  { name: 'the side file of a stream goes with it, and no other', needs: 'sideFiles', run: sideFilesGoWithTheirStream },
]
