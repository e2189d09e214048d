import { type Command, Option } from 'commander'
import { counted } from '../../base/words.js'
import type { Entity } from '../../main.js'
import { action, example } from '../cli.js'
import { reading } from '../open.js'
import type { Line } from '../output.js'
import { numberedRecords } from '../records.js'

export function entityCommand(program: Command): void {
  program
    .command('entity')
    .description('show an entity and its revisions')
    .argument('<session>', 'session id')
    .argument('<type>', 'record type')
    .argument('<id>', "the entity's id: messageId, callId and so on, or the first record's id")
    .option('--at <record>', 'on the path that ends at this record (default: on the path of primary)')
    .addOption(new Option('--anywhere', 'in the whole stream').conflicts('at'))
    .addHelpText(
      'after',
      example('asr entity my-session tool_call call_7', 'asr entity my-session message m1 --anywhere'),
    )
    .action(
      action(async (cli, session: string, type: string, id: string, options: EntityOptions) => {
        const { out } = cli
        await reading(cli, async (store) => {
          const stream = await store.stream(session)
          const at = options.anywhere ? ({ anywhere: true } as const) : { at: options.at }
          const entities = await stream.entity(type, id, at)
          await out.list(entities, { text: (entity) => describe(entity, stream.length) })
          if (out.format === 'text' && entities.length === 0) await out.lines(['no such entity there'])
        })
      }),
    )
}

interface EntityOptions {
  at?: string
  anywhere?: boolean
}

function describe(entity: Entity, length: number): Line[] {
  const shown = numberedRecords(length)
  const { inForce, revisions } = entity
  const state = inForce ? `in force: ${inForce.id}` : 'dead: a tombstone took it out'
  const title = `${counted(revisions.length, 'revision')}, ${state}`
  return [title, ...revisions.flatMap((record) => shown.text({ number: record.seq, record }))]
}
