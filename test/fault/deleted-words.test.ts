/**
 * What was deleted is gone: none of a stream's words stands in any file of the store, whatever had become of the stream before,
 * and nothing brings it back.
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { clearLog, settleRows } from '../../src/index/rows.js'
import { openStore, type Store, type Stream } from '../../src/main.js'
import { INDEX_FOLDER } from '../../src/store/node/index-folder.js'
import { snapshotIndex } from '../../src/store/node/index-snapshot.js'
import type { StreamStore } from '../../src/store/store.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import { cases } from './battery.js'

/** Letters that compress to nothing shorter, so that a table holds them as they are. */
const SECRET = {
  sessionId: 'Qzjvkwpxhgbfyd',
  title: 'Wkxqjzvtmplrnc',
  cwd: 'Hbgyxwqkzjfvdm',
  agent: 'Vtrqzjxkwhpnsd',
  text: 'Jxqwzkvbghfmyt',
  head: 'Zpqkxjwvmbtdrh',
  field: 'Kvjzqxwghtbpmf',
}

async function makeSecret(store: Store, records: number): Promise<Stream> {
  const { sessionId, title, cwd, agent, text, head, field } = SECRET
  const stream = await store.createStream({ ...header(sessionId), cwd, agent: { name: agent, version: '1' } } as never)
  await stream.append({ type: 'session_info', title })
  for (let from = 0; from < records; from += 500) {
    const length = Math.min(500, records - from)
    await stream.append(
      Array.from({ length }, (_, i) => ({ type: 'message', [field]: i, content: `${text} ${from + i}` })),
    )
  }
  await stream.append({ type: 'session_info', title: `${title} again` })
  await stream.setHead(head, 'r1')
  return stream
}

async function makeOther(store: Store, sessionId: string, records: number): Promise<void> {
  const stream = await store.createStream(header(sessionId))
  await stream.append(Array.from({ length: records }, (_, i) => ({ type: 'message', content: `kept ${i}` })))
}

/** Where the words stand, by file. */
function found(folder: string): string[] {
  const places: string[] = []
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name)
    for (const [what, word] of Object.entries(SECRET)) {
      const inName = name.includes(word)
      if (inName || (statSync(path).isFile() && readFileSync(path).includes(word))) places.push(`${name}: ${what}`)
    }
  }
  return places
}

/** The files of the log that is about to be deleted. */
function logsOf(folder: string): string[] {
  const paths = readdirSync(join(folder, 'streams')).map((name) => join(folder, 'streams', name))
  return paths.filter((path) => readFileSync(path).includes(SECRET.sessionId))
}

/** What may have become of a stream before it is deleted; the folder is of a store that is closed. */
const FATES: { [fate: string]: (folder: string) => Promise<void> } = {
  'nothing more': async () => undefined,
  'opened again and again': async (folder) => {
    for (let n = 0; n < 3; n++) {
      const store = await openStore(folder)
      await (await store.stream(SECRET.sessionId)).append({ type: 'session_info', title: `${SECRET.title} ${n}` })
      await store.close()
    }
  },
  'its index built again': async (folder) => {
    const store = await openStore(folder)
    await store.rebuildIndex()
    await store.close()
  },
  'an unfinished append at its end, cut off': async (folder) => {
    for (const log of logsOf(folder)) appendFileSync(log, readFileSync(log).subarray(0, 40))
    const store = await openStore(folder)
    for await (const { sessionId } of store.streams()) await store.stream(sessionId).catch(() => undefined)
    await store.close()
  },
  'its log damaged': async (folder) => {
    for (const log of logsOf(folder)) truncateSync(log, statSync(log).size - 30)
  },
  'an index put aside': async (folder) => {
    cpSync(join(folder, INDEX_FOLDER), join(folder, 'index.damaged'), { recursive: true })
  },
  'a reader that was killed': async (folder) => {
    const module = new URL('../../src/store/node/index-snapshot.js', import.meta.url)
    const code = `import { snapshotIndex } from '${module}'
      snapshotIndex('${join(folder, INDEX_FOLDER)}')
      process.kill(process.pid, 'SIGKILL')`
    assert.is(spawnSync(process.execPath, ['--input-type=module', '-e', code]).signal, 'SIGKILL')
    assert.is(readdirSync(join(folder, 'readers')).length, 1)
  },
  'recorded beside': async (folder) => {
    const [log] = logsOf(folder)
    mkdirSync(join(folder, 'native'), { recursive: true })
    const name = log.slice(log.lastIndexOf('/') + 1).split('-')[0]
    appendFileSync(join(folder, 'native', `${name}.jsonl`), JSON.stringify(SECRET))
  },
  'made twice': async (folder) => {
    const [log] = logsOf(folder)
    cpSync(log, log.replace(/-[0-9a-f]{16}-/, '-0123456789abcdef-'))
  },
  'deleted, and the process killed': async (folder) => {
    for (const log of logsOf(folder)) {
      mkdirSync(join(folder, 'trash'), { recursive: true })
      renameSync(log, log.replace('/streams/', '/trash/'))
      appendFileSync(`${log}.cut-7`, SECRET.text)
    }
  },
}

const SIZES = [3, 2_000, 20_000]

test('no word of a deleted stream is left in any file of the store, nor after a reindex', async () => {
  const fates = Object.entries(FATES)
  await cases('deletions', fates.length * SIZES.length, async (n) => {
    const [fate, suffer] = fates[n % fates.length]
    const folder = join(tempFolder(), 'store')
    const made = await openStore(folder)
    await makeOther(made, 'before', 300)
    await makeSecret(made, SIZES[Math.floor(n / fates.length)])
    await makeOther(made, 'behind', 3_000)
    await made.close()
    const before = found(folder).map((place) => place.replace(/^(\w+).*: /, '$1: '))
    for (const what of ['index: sessionId', 'index: title', 'index: agent']) assert.ok(before.includes(what), what)
    await suffer(folder)
    const store = await openStore(folder)
    const deleted = store.deleteStream(SECRET.sessionId)
    if (fate === 'deleted, and the process killed') await fails('ASR_STREAM_NOT_FOUND', () => deleted)
    else await deleted
    assert.equal(found(folder), [], `${fate}: while the store is open`)
    await store.rebuildIndex()
    assert.equal(found(folder), [], `${fate}: after a reindex`)
    await store.close()
    assert.equal(found(folder), [], `${fate}: closed`)
    const again = await openStore(folder)
    assert.is((await again.verify()).ok, true)
    const there = (await collect(again.streams())).map(({ sessionId }) => sessionId)
    assert.equal(there, ['before', 'behind'])
    await again.close()
    assert.equal(found(folder), [], `${fate}: opened again`)
  })
})

test('what was deleted as versions before this one did, a reindex clears away', async () => {
  for (const when of ['later', 'at once'] as const) {
    const folder = join(tempFolder(), 'store')
    let store = await openStore(folder)
    await makeOther(store, 'other', 3_000)
    await makeSecret(store, 2_000)
    if (when === 'later') {
      await store.close()
      store = await openStore(folder)
    } else {
      const { core } = (await store.stream(SECRET.sessionId)) as StoredStream
      await core.flush()
      core.deleted = true
    }
    const { level } = (store as StreamStore).environment
    const logs = logsOf(folder)
    await clearLog(level, /-([0-9a-f]{16})-/.exec(logs[0])?.[1] ?? '')
    await settleRows(level) // at once: what was written and what deletes it become one table, which nothing lies above
    for (const log of logs) rmSync(log)
    await store.close().catch(() => undefined)
    assert.ok(
      found(folder).some((place) => place.startsWith('index/')),
      'level keeps what it was told to delete',
    )
    const again = await openStore(folder)
    await again.rebuildIndex()
    assert.equal(found(folder), [], when)
    await again.close()
    assert.equal(found(folder), [], when)
  }
})

test('a stream that is deleted in the process that made it leaves no word; what other streams hold is read as before', async () => {
  for (const records of SIZES) {
    const folder = join(tempFolder(), 'store')
    const store = await openStore(folder)
    await makeOther(store, 'other', 3_000)
    await makeSecret(store, records)
    await store.deleteStream(SECRET.sessionId)
    assert.equal(found(folder), [])
    assert.is((await collect((await store.stream('other')).records())).length, 3_000)
    assert.is((await store.verify()).ok, true)
    await store.close()
    assert.equal(found(folder), [])
  }
})

test('a reader that is open meanwhile keeps its snapshot until it closes, and no longer', async () => {
  const folder = join(tempFolder(), 'store')
  const store = await openStore(folder)
  await makeSecret(store, 3_000)
  await makeOther(store, 'other', 10)
  await store.close()
  const reader = await openStore(folder, { readOnly: true })
  const writer = await openStore(folder)
  await writer.deleteStream(SECRET.sessionId)
  assert.ok(
    found(folder).every((place) => place.startsWith('readers/')),
    found(folder).join(),
  )
  await reader.close()
  assert.equal(found(folder), [])
  assert.not(existsSync(join(folder, 'readers')))
  await writer.close()
})

test('an index that fails while a stream is deleted: the next opening goes on, and nothing of it is put aside', async () => {
  const folder = join(tempFolder(), 'store')
  const store = await openStore(folder)
  await makeSecret(store, 2_000)
  await makeOther(store, 'other', 10)
  await store.close()
  const failing = await openStore(folder)
  const { environment } = failing as StreamStore
  environment.level.clear = async () => {
    throw new Error('the disk is gone')
  }
  await failing.deleteStream(SECRET.sessionId)
  await failing.close()
  const again = await openStore(folder)
  assert.equal(found(folder), [])
  assert.equal(
    (await collect(again.streams())).map(({ sessionId }) => sessionId),
    ['other'],
  )
  assert.is((await again.verify()).ok, true)
  await again.close()
})

test('a handle from before the deletion answers nothing, writes nothing and brings nothing back', async () => {
  const folder = join(tempFolder(), 'store')
  const store = await openStore(folder)
  const stream = await makeSecret(store, 2_000)
  const { core, queue } = stream as StoredStream
  const under = Array.from({ length: 20 }, () => stream.append({ type: 'message', content: SECRET.text }))
  const settled = Promise.allSettled(under)
  const rebuilding = store.rebuildIndex({ sessionId: SECRET.sessionId }).catch((error: Error) => error)
  await store.deleteStream(SECRET.sessionId)
  await settled
  await rebuilding
  const calls: (() => Promise<unknown>)[] = [
    () => stream.append({ type: 'message', content: SECRET.text }),
    () => stream.append({ type: 'session_info', id: 'r1', title: SECRET.title }),
    () => stream.append([]),
    () => stream.setHead(SECRET.head, 'r1'),
    () => stream.reviseHeader({ title: SECRET.title }),
    () => stream.header(),
    () => stream.get('r1'),
    () => stream.position('r1'),
    () => stream.hash('r1'),
    () => stream.digest(),
    () => stream.heads(),
    () => stream.leaves(),
    () => stream.entity('message', 'r1'),
    () => stream.activePath(),
    () => stream.contextView(),
    () => collect(stream.records()),
    () => collect(stream.exportJsonl()),
    () => collect(stream.exportJsonl({ salvage: true })),
    () => collect(stream.follow()),
    // As an import and the index's own timer would go on.
    () => queue.reviseHeader(async () => ({ header: header(SECRET.sessionId) })),
    () => queue.alone(async () => undefined),
    () => queue.appendPlaced([], core.state.point),
  ]
  for (const call of calls) {
    const error = await call().then(
      () => undefined,
      (failure: { code?: string }) => failure,
    )
    assert.match(String(error?.code), /^ASR_(CLOSED|STREAM_NOT_FOUND)$/, String(call))
  }
  await core.flush()
  await core.compact()
  assert.equal(found(folder), [])
  await fails('ASR_STREAM_NOT_FOUND', () => store.stream(SECRET.sessionId))
  await makeOther(store, 'other', 10)
  await store.close()
  assert.equal(found(folder), [])
  const again = await openStore(folder)
  assert.equal(
    (await collect(again.streams())).map(({ sessionId }) => sessionId),
    ['other'],
  )
  await again.close()
})

test('the snapshot of a killed reader is swept by the next reader, and by the next writer; a living one’s is not', async () => {
  for (const readOnly of [true, false]) {
    const folder = join(tempFolder(), 'store')
    const store = await openStore(folder)
    await makeOther(store, 'other', 10)
    await store.close()
    await FATES['a reader that was killed'](folder)
    const living = snapshotIndex(join(folder, INDEX_FOLDER))
    assert.is(readdirSync(join(folder, 'readers')).length, 2)
    const next = await openStore(folder, { readOnly })
    assert.is(readdirSync(join(folder, 'readers')).length, readOnly ? 2 : 1)
    assert.ok(existsSync(living?.folder ?? ''))
    living?.remove()
    await next.close()
    assert.not(existsSync(join(folder, 'readers')))
  }
})

test.run()
