/**
 * msgpackr without its streams and its addon, which take longer to load than all of our own code. What opens folders loads the whole
 * (`store/node/folder.ts`), and then what is here reads with the addon too. The types of these entries name none of their own.
 */
import { Packr as PackrAlone } from 'msgpackr/pack'
import { Unpackr as UnpackrAlone } from 'msgpackr/unpack'

type Whole = typeof import('msgpackr')

export type Packr = import('msgpackr').Packr
export type Unpackr = import('msgpackr').Unpackr
export const Packr = PackrAlone as Whole['Packr']
export const Unpackr = UnpackrAlone as Whole['Unpackr']
