/**
 * What a log must do: take appends all or none, chain and keep them, and check what is read.
 */
import { AsrError } from '../base/error.js'
import { chainAfter, FLAG_GAP, FLAG_ORPHAN, LOG_START } from '../log/api.js'
import { failsWith, holds, same } from './check.js'
import {
  foundIn,
  type Given,
  headerOf,
  opened,
  type PlaceCase,
  recordAt,
  recordOfLine,
  SESSION,
  saidBy,
  saidOf,
  scanned,
  written,
} from './given.js'

async function appendsAreChained({ place }: Given): Promise<void> {
  const { log, entries, locations } = await written(place, 5)
  let chain = 0n
  for (const entry of entries) chain = chainAfter(chain, entry)
  same([log.end.pos, log.end.chain], [5, chain], 'the end of the log')
  holds(
    locations.every((location, i) => location > (locations[i - 1] ?? 0) && location < log.end.location),
    'locations rise from above 0, and lie before the end',
  )
  for (const [i, location] of locations.entries()) {
    const entry = await log.entry(location, entries[i].pos)
    same(saidBy(log, entry), saidOf(entries[i]), `entry ${i}`)
  }
  same((await log.entry(locations[5])).chain, chain, 'the chain that the last entry says')
}

async function appendsShareAWrite({ place }: Given): Promise<void> {
  const log = place.create(SESSION, { staged: false })
  const appends = [[headerOf()], [recordAt(1), recordAt(2, {}, { parent: 0, flags: FLAG_ORPHAN })]]
  appends.push([recordAt(3, {}, { flags: FLAG_GAP }), headerOf(undefined, { title: 'changed' }, 3), recordAt(4)])
  const locations = await log.append(appends)
  same(locations.length, 6, 'the number of locations')
  const { found, end } = await scanned(await opened(place, log))
  same(
    found.map(({ entry }) => saidBy(log, entry)),
    appends.flat().map(saidOf),
    'what a scan gives',
  )
  same(
    found.map(({ at }) => at),
    locations,
    'where it lies',
  )
  same([end.point, end.tornBytes], [log.end, 0], 'where the scan ends')
}

const VALUES: object[] = [
  { content: '' },
  { content: 'x'.repeat(20_000) },
  { content: 'a\0b\n\u2028 "\\ é😀' },
  { n: [0, -1, 1.5, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, -0] },
  { deep: [[[{ a: [null, true, false] }]]], '': 0, '1': 'one', constructor: null },
  JSON.parse('{"__proto__":{"a":1},"toJSON":"no function"}'),
  Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key ${i}`, i])),
]
const LINE = '{"seq":8, "id":"r8","type":"message","n":1.50e2,"big":12345678901234567890123}'

async function valuesComeBack({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 0)
  const entries = [...VALUES.map((fields, i) => recordAt(i + 1, fields)), recordOfLine(8, LINE)]
  const locations = await log.append([entries])
  const later = await opened(await again(), log)
  for (const one of [log, log.apart(), later]) {
    for (const [i, location] of locations.entries()) {
      const entry = await one.entry(location, i + 1)
      same(saidBy(one, entry), saidOf(entries[i]), `what is stored of value ${i}`)
      same(JSON.stringify(one.decode(entry)), JSON.stringify(JSON.parse(one.line(entry))), `value ${i}`)
    }
    const last = await one.entry(locations[7], 8)
    same([one.line(last), one.keptLine(last)], [LINE, LINE], 'a line that came as text')
  }
}

async function valuesAreCopies({ place }: Given): Promise<void> {
  const { log, locations } = await written(place, 1)
  const entry = await log.entry(locations[1], 1)
  Object.assign(log.decode(entry), { content: 'changed' })
  same(log.decode(await log.entry(locations[1], 1)).content, 'text 1', 'what was changed by who got it')
}

async function readsAreChecked({ place }: Given): Promise<void> {
  const { log, locations, entries } = await written(place, 3)
  await failsWith('ASR_CORRUPT', () => log.entry(locations[2], 3))
  await failsWith('ASR_CORRUPT', () => log.entry(log.end.location, 4))
  await failsWith('ASR_CORRUPT', () => log.sound(undefined, 1))
  const reader = log.reader()
  for (const [i, location] of locations.entries()) {
    await log.entry(location, entries[i].pos, reader)
    const held = reader.held(location)
    if (held !== undefined)
      same(saidBy(log, log.sound(held, entries[i].pos)), saidOf(entries[i]), 'what a reader holds')
  }
}

async function scansBeginAnywhere({ place }: Given): Promise<void> {
  const { log, locations } = await written(place, 700)
  const { points } = await scanned(log)
  for (const from of [0, 1, 350, 699]) {
    const { found, end } = await scanned(log, points[from])
    same([found.length, found[0].at], [700 - from, locations[from + 1]], `what comes after entry ${from}`)
    same(end.point, log.end, 'where the scan ends')
  }
  same((await scanned(log, log.end)).found.length, 0, 'what comes after the end')
}

async function logsGoOn({ place, again }: Given): Promise<void> {
  const { log, entries } = await written(place, 3)
  await log.sync()
  const next = await again()
  const later = await opened(next, log)
  same(later.end, log.end, 'where the log ends for who opens it')
  same([later.bytes, later.storedEnd], [log.bytes, log.storedEnd], 'its size')
  const more = [recordAt(4), recordAt(5)]
  await later.append([more])
  const { found } = await scanned(await opened(await again(), log))
  same(
    found.map(({ entry }) => saidBy(later, entry)),
    [...entries, ...more].map(saidOf),
    'what it holds at last',
  )
}

async function statesAreEnough({ place, again }: Given): Promise<void> {
  const { log, locations, entries } = await written(place, 20)
  const next = await again()
  const later = next.open(await foundIn(next, log), SESSION, { isOfAnother: false })
  later.adoptState(JSON.parse(JSON.stringify(log.state())))
  for (const [i, location] of locations.entries())
    same(saidBy(later, await later.entry(location)), saidOf(entries[i]), `entry ${i}, without a scan`)
}

async function failuresPoison({ place }: Given): Promise<void> {
  for (const poison of ['fail', 'abandon'] as const) {
    const { log } = await written(place, 1)
    const cause = new AsrError('ASR_IO', 'made up')
    if (poison === 'abandon') log.abandon(cause)
    else same(log.fail(cause, 'a test').code, 'ASR_IN_DOUBT', 'the error of the call that failed')
    holds(log.isPoisoned, 'the log is poisoned')
    await failsWith('ASR_POISONED', async () => log.append([[recordAt(2)]]))
    await failsWith('ASR_POISONED', () => log.sync())
    const later = await opened(place, log)
    await later.append([[recordAt(2)]])
    same(later.end.pos, 2, 'the length once it was opened again')
  }
}

async function readersFollow({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 2)
  const reader = await opened(await again(), log, { isOfAnother: true })
  same(await reader.hasGrown(), false, 'whether it has grown')
  await log.append([[recordAt(3), recordAt(4)]])
  same((await scanned(reader)).end.point.pos, 2, 'what a reader sees before it looks')
  same(await reader.hasGrown(), true, 'whether it has grown')
  const { found, end } = await scanned(reader, reader.end)
  same([found.length, end.point.pos], [2, 4], 'what came')
  reader.end = end.point
  await log.cut((await scanned(log)).points[3].location)
  await failsWith('ASR_LOST_TAIL', () => reader.hasGrown())
}

async function writersAreFenced({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 2)
  const other = await opened(await again(), log)
  await log.append([[recordAt(3, { by: 'the first' })]])
  await failsWith('ASR_FENCED', async () => other.append([[recordAt(3, { by: 'the other' })]]))
  await failsWith('ASR_POISONED', async () => other.append([[recordAt(3)]]))
  const { found } = await scanned(await opened(await again(), log))
  same(log.decode(found[3].entry).by, 'the first', 'what stands at position 3')
}

async function logsAreCut({ place, again }: Given): Promise<void> {
  const { log, locations } = await written(place, 5)
  const { points } = await scanned(log)
  const seen = await place.endAt(await foundIn(place, log), points[4].location, true)
  const shown = place.open(seen, SESSION, { isOfAnother: true })
  same((await scanned(shown)).end.point, points[4], 'the end of a log that is only seen shorter')
  same((await scanned(await opened(place, log))).end.point, log.end, 'the end of the log itself')
  await place.endAt(await foundIn(place, log), points[3].location, false)
  const later = await opened(await again(), log)
  same(later.end, points[3], 'the end of a log that was cut')
  await later.cut(points[2].location)
  later.end = points[2]
  same([later.storedEnd, (await scanned(later)).end.point], [points[2].location, points[2]], 'the end of one cut again')
  await failsWith('ASR_CORRUPT', async () => later.entry(locations[5], 5))
  await later.append([[recordAt(3, { after: 'the cut' })]])
  const last = (await scanned(await opened(await again(), log))).found.at(-1)
  same(last && later.decode(last.entry).after, 'the cut', 'what was appended after it')
}

async function pointsAreDoubted({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 4)
  const { points } = await scanned(log)
  const next = await again()
  for (const point of [LOG_START, ...points, log.end])
    same(await next.doubtOf(await foundIn(next, log), point), undefined, 'the doubt of a point that is there')
  await log.cut(points[2].location)
  log.end = points[2]
  const short = await again()
  holds(
    (await short.doubtOf(await foundIn(short, log), points[4])) !== undefined,
    'a point that was cut off is doubted',
  )
  await log.append([
    [recordAt(3, { content: 'text X', deep: { pos: 3 } })],
    [recordAt(4, { content: 'text 4', deep: { pos: 4 } })],
  ])
  const other = await again()
  holds(
    (await other.doubtOf(await foundIn(other, log), points[4])) !== undefined,
    'another entry in its place is doubted',
  )
}

async function rewritingChangesNothing({ place, again }: Given): Promise<void> {
  const { log } = await written(place, 4)
  const { points } = await scanned(log)
  for (const { location } of [LOG_START, points[2], log.end]) {
    await place.rewrite(await foundIn(place, log), location)
    log.distrustSyncs(location)
    await log.sync()
  }
  same((await opened(await again(), log)).end, log.end, 'the end of a log that was written again')
  await log.append([[recordAt(5)]])
  same(log.end.pos, 5, 'its length after one more')
}

async function tornIsNotThere({ place, again, tear }: Given): Promise<void> {
  const { log, locations } = await written(place, 3)
  const [, , at] = await log.append([[recordAt(4), recordAt(5), recordAt(6)]])
  await log.sync()
  const end = (await scanned(log)).points[3]
  await tear?.(place, await foundIn(place, log), at)
  const next = await again()
  const later = await opened(next, log)
  const { found, damaged, end: torn } = await scanned(later)
  same([later.end, found.length, damaged], [end, locations.length, []], 'what is there of a torn append')
  holds(torn.tornBytes > 0 && torn.isBeginning, 'the scan counts what is torn, and knows it for a beginning')
  await later.cut(end.location)
  await later.append([[recordAt(4)]])
  const healed = await scanned(await opened(await again(), log))
  same([healed.end.point.pos, healed.end.tornBytes], [4, 0], 'the log that went on')
}

async function damageIsNamed({ place, again, damage }: Given): Promise<void> {
  const { log, locations, entries } = await written(place, 6)
  await log.sync()
  await damage?.(place, await foundIn(place, log), locations[3])
  const next = await again()
  const later = next.open(await foundIn(next, log), SESSION, { isOfAnother: false })
  const { found, damaged } = await scanned(later)
  const [first] = damaged
  if (first === undefined || first.entry !== undefined) throw new Error('the scan names no damage')
  same([first.firstPos, first.lastPos, damaged.length], [3, 3, 1], 'the positions that it names')
  same(found.length, entries.length - 1, 'how many entries it finds around the damage')
  await failsWith('ASR_CORRUPT', () => later.entry(locations[3], 3))
  same(saidBy(later, await later.entry(locations[4], 4)), saidOf(entries[4]), 'what stands after the damage')
  const left: number[] = []
  for await (const { entry } of later.apart().leftEntries()) left.push(entry.pos)
  for (const pos of [1, 2, 4, 5, 6]) holds(left.includes(pos), `record ${pos} is among what is left`)
}

export const LOG_CASES: PlaceCase[] = [
  { name: 'appends are chained, and each entry is read where it lies (CORE-9)', run: appendsAreChained },
  { name: 'appends that share a write come back entry by entry, in order', run: appendsShareAWrite },
  { name: 'values, and lines kept as text, come back as they were', run: valuesComeBack },
  { name: 'what is done to a value that was read changes nothing that is stored', run: valuesAreCopies },
  { name: 'an entry is read as that of its position alone (CORE-10)', run: readsAreChecked },
  { name: 'a scan begins after any entry', run: scansBeginAnywhere },
  { name: 'a log that is opened again ends where it ended, and goes on', run: logsGoOn },
  { name: 'the state that a log gives is enough to read its entries without a scan', run: statesAreEnough },
  { name: 'a log that failed takes nothing more until it is opened again', run: failuresPoison },
  {
    name: 'a reader sees what was written when it looks, and that a log became shorter',
    needs: 'sharing',
    run: readersFollow,
  },
  { name: 'a writer stops when another has written', needs: 'sharing', run: writersAreFenced },
  { name: 'a log ends where it is cut; for reading only, it is seen so', run: logsAreCut },
  { name: 'a point that the log does not bear is doubted', run: pointsAreDoubted },
  { name: 'writing a log again changes nothing of it', run: rewritingChangesNothing },
  { name: 'an append that is torn was never there, and is told from damage', needs: 'tear', run: tornIsNotThere },
  {
    name: 'damage is named with its positions, and what stands around it is read',
    needs: 'damage',
    run: damageIsNamed,
  },
]
