/**
 * Every promise of a place of logs, and of a store over it.
 */
import type { ConformanceCase, PlaceConformanceOptions, PlaceSupports } from './api.js'
import type { Given, PlaceCase } from './given.js'
import { LIFE_CASES } from './place-life.js'
import { LOG_CASES } from './place-log.js'
import { STORE_CASES } from './place-store.js'

const WHY_SKIPPED: { readonly [need in keyof PlaceSupports]-?: string } = {
  sharing: 'the place is declared not to share logs (`sharing`)',
  sideFiles: 'the place is declared to keep no side files (`sideFiles`)',
  damage: 'the suite was given no way to damage an entry (`damage`)',
  tear: 'the suite was given no way to tear an append (`tear`)',
  reopen: 'the suite was given no way to open the place again (`reopen`)',
}

/** Every promise of a `LogPlace`, its logs, and a store over them, each over a place of its own. */
export function logPlaceConformance({ make, supports = {} }: PlaceConformanceOptions): ConformanceCase[] {
  const abilities = { sharing: true, sideFiles: true, ...supports }
  return [...LOG_CASES, ...LIFE_CASES, ...STORE_CASES].map(({ name, needs, run }) => {
    const isAble = needs === undefined || Boolean(abilities[needs])
    if (!isAble) return { name, skipped: WHY_SKIPPED[needs], run: async () => undefined }
    return { name, run: () => runOver({ make, supports: abilities }, run) }
  })
}

async function runOver({ make, supports = {} }: PlaceConformanceOptions, run: PlaceCase['run']): Promise<void> {
  const places = [await make()]
  const [place] = places
  const again: Given['again'] = async () => {
    if (supports.reopen === undefined) return place
    const next = await supports.reopen(place)
    places.push(next)
    return next
  }
  try {
    await run({ ...supports, place, again })
  } finally {
    for (const one of places) await one.close()
  }
}
