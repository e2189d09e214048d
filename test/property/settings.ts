/**
 * How much the properties run: `ASR_RUNS` runs of up to `ASR_COMMANDS` commands, from `ASR_SEED` when it is set. Where the
 * tests decide whether a change lands (`CI=true`) they try the same cases each time, elsewhere other ones at each run.
 */
const setting = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise)

export const RUNS = setting('ASR_RUNS', 1_000)
export const COMMANDS = setting('ASR_COMMANDS', 50)
const SEED = process.env.ASR_SEED ?? (process.env.CI === 'true' ? '1' : undefined)

/** Where to start: `ASR_SEED` makes a run repeatable; fast-check prints the seed and path of a failure. */
export const settings = (runs: number) => ({
  numRuns: runs,
  includeErrorInReport: true,
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
})
