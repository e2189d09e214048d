/**
 * The time of a frame, from whatever is told of it (ASR-707).
 */

export interface ReadTime {
  /** ISO 8601 with an offset */
  time: string
  /** what it was taken for, when it is neither ISO 8601 with an offset nor a number of milliseconds */
  readAs?: string
}

/** The instants that a number is taken for, in seconds of the epoch: 1973 to 2286. Those of other units are other numbers. */
const EARLIEST_S = 1e8
const LATEST_S = 1e10

/** How many of a unit are a second. */
const UNITS = [
  ['seconds', 1],
  ['milliseconds', 1e3],
  ['microseconds', 1e6],
  ['nanoseconds', 1e9],
] as const

/** Text that needs no closer look: of UTC, on a day that every month has. Nearly every frame that comes with its time has such. */
const PLAIN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/
const DIGITS = /^\+?\d+(?:\.\d+)?(?:e\+?\d+)?$/i
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:(Z)|([+-]\d\d)(?::?(\d\d))?)?$/i

/**
 * Reads a time: text of ISO 8601, which keeps its digits and its offset, or time since the epoch, whose size says in which
 * unit. Undefined when it is neither: a clock that began at another time tells no time.
 */
export function readTime(given: unknown): ReadTime | undefined {
  if (given instanceof Date) return isReal(given) ? { time: given.toISOString() } : undefined
  if (typeof given === 'number') return isIn(given, 1000) ? { time: new Date(given).toISOString() } : sinceEpoch(given)
  if (typeof given !== 'string') return undefined
  if (PLAIN.test(given)) return { time: given }
  const text = given.trim()
  return DIGITS.test(text) ? sinceEpoch(Number(text)) : isoTime(text)
}

function sinceEpoch(given: number): ReadTime | undefined {
  const unit = UNITS.find(([, aSecond]) => isIn(given, aSecond))
  if (unit === undefined) return undefined
  const [name, aSecond] = unit
  return { time: new Date(Math.round((given / aSecond) * 1000)).toISOString(), readAs: `${name} of the epoch` }
}

function isIn(given: number, aSecond: number): boolean {
  return given >= EARLIEST_S * aSecond && given < LATEST_S * aSecond
}

function isoTime(text: string): ReadTime | undefined {
  const parts = ISO.exec(text)
  if (parts === null) return undefined
  const [, date, minutes, seconds = '00', fraction, zulu, hours, past = '00'] = parts
  const offset = hours === undefined ? 'Z' : `${hours}:${past}`
  const time = `${date}T${minutes}:${seconds}${fraction === undefined ? '' : `.${fraction}`}${offset}`
  if (!isDay(date) || !isReal(new Date(time))) return undefined
  return hours === undefined && zulu === undefined ? { time, readAs: 'UTC, as they name no offset' } : { time }
}

/** Whether its month has the day: a later one would be read as one of the next month. */
function isDay(date: string): boolean {
  const day = Number(date.slice(-2))
  return day <= 28 || new Date(`${date}T00:00:00Z`).getUTCDate() === day
}

function isReal(date: Date): boolean {
  return !Number.isNaN(date.getTime())
}
