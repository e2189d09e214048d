/**
 * The figures by name.
 */
import { append } from './append.js'
import { coldView } from './cold-view.js'
import { disk } from './disk.js'
import type { Figure } from './figure.js'
import { get } from './get.js'
import { importing } from './import.js'
import { loop } from './loop.js'
import { manyStreams } from './many-streams.js'
import { memory } from './memory.js'
import { path } from './path.js'
import { record } from './record.js'
import { reopen } from './reopen.js'
import { replay } from './replay.js'
import { scan } from './scan.js'

export const FIGURES: { [name: string]: Figure } = {
  append,
  'cold-view': coldView,
  scan,
  get,
  path,
  import: importing,
  memory,
  disk,
  reopen,
  'many-streams': manyStreams,
  record,
  replay,
  loop,
}
