/**
 * A store as an agent: what a client of the SDK gets for each request.
 */
import * as acp from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createReplayAgent } from '../../../src/acp/agent/agent.js'
import { compareContextViews } from '../../../src/acp/equivalence/compare.js'
import { replay } from '../../../src/acp/replay/replay.js'
import { memoryLocation, openStore, type Store } from '../../../src/main.js'
import { collect } from '../../support/collect.js'
import { call, header, message, note, result, text } from '../../support/records.js'
import { openMemory } from '../../support/stores.js'
import { asked, memoryPair, refused, START, withClient } from './support.js'

const SESSION = [
  { type: 'session_info', id: 'i', title: 'A title' },
  message('m1', { messageId: 'm1' }),
  call('t', 'c1', { input: { a: 1 } }),
  result('u', 'c1'),
  message('m2', { messageId: 'm2', role: 'assistant' }),
  message('m3', { messageId: 'm3', parentId: 'm1', head: 'side' }),
  { type: 'config_change', id: 'o', options: [{ configId: 'x', name: 'X', type: 'boolean', currentValue: true }] },
  note('s', { stopReason: 'end_turn' }),
]

async function storeOf(sessionId = 's', records: object[] = SESSION): Promise<Store> {
  const { store } = await openMemory()
  const roots = [
    { id: 'root0', path: '/w' },
    { id: 'root1', path: '/lib' },
  ]
  const stream = await store.createStream(header(sessionId, { workspace: { roots } }))
  if (records.length > 0) await stream.append(records as never)
  return store
}

test('initialize: the agent says what it can do, and what it may not', async () => {
  const store = await storeOf()
  const answers: unknown[] = []
  for (const options of [{}, { allowFork: false, allowDelete: true, info: { name: 'x', version: '7' } }]) {
    const [client, agent] = memoryPair()
    createReplayAgent(store, options).connect(agent)
    const info = { name: 'test', version: '1' }
    await acp.client().connectWith(client, async (context) => {
      answers.push(await context.request(asked.initialize, { protocolVersion: 2, info }))
    })
  }
  assert.equal(answers, [
    {
      protocolVersion: 2,
      info: { name: 'asr-store', title: 'Recorded sessions', version: '0' },
      capabilities: { session: { additionalDirectories: {}, fork: {} } },
    },
    {
      protocolVersion: 2,
      info: { name: 'x', version: '7' },
      capabilities: { session: { additionalDirectories: {}, delete: {} } },
    },
  ])
})

test('session/list: sessions with their directories, title and time; those of one directory when asked', async () => {
  const store = await storeOf('a', [...SESSION, note('w', { ts: '2026-01-01T00:00:00Z' })])
  await store.createStream(header('b', { workspace: { roots: [{ id: 'root0', path: null }] } }))
  await store.createStream(header('c'))
  await withClient(store, async ({ agent }) => {
    const first = { sessionId: 'a', cwd: '/w', additionalDirectories: ['/lib'], title: 'A title' }
    const sessions = [
      { ...first, updatedAt: '2026-01-01T00:00:00Z' },
      { sessionId: 'b', cwd: '/' },
      { sessionId: 'c', cwd: '/' },
    ]
    assert.equal(await agent.request(asked.session.list, {}), { sessions })
    assert.equal(await agent.request(asked.session.list, { cwd: '/w' }), { sessions: [sessions[0]] })
    assert.equal(await agent.request(asked.session.list, { cwd: '/' }), { sessions: [] })
  })
})

test('session/list: pages follow one another, whatever the ids, and a strange cursor is refused', async () => {
  const { store } = await openMemory()
  const ids = [...Array.from({ length: 205 }, (_, n) => `session ${String(n).padStart(3, '0')}`), '😀', 'é/x']
  for (const id of ids) await store.createStream(header(id))
  await withClient(store, async ({ agent }) => {
    const listed: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const page: acp.ListSessionsResponse = await agent.request(asked.session.list, { cursor })
      listed.push(...page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor ?? undefined
      pages++
    } while (cursor !== undefined)
    assert.equal([pages, listed], [3, [...ids].sort()])
    for (const strange of ['', 'zzz', btoa('nonsense'), '\u0000']) {
      assert.is((await refused(agent.request(asked.session.list, { cursor: strange }))).code, -32602, strange)
    }
  })
})

test('session/list: the next page goes on with the listing, where others come in between and what is left is deleted', async () => {
  const { store } = await openMemory()
  for (const n of Array.from({ length: 350 }).keys()) await store.createStream(header(`s${String(n).padStart(3, '0')}`))
  let listings = 0
  const counted = new Proxy(store, {
    get: (target, name) => {
      if (name === 'streams') listings++
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const page = (agent: acp.ClientContext, cursor?: string | null): Promise<acp.ListSessionsResponse> =>
    agent.request(asked.session.list, { cursor })
  await withClient(counted, async ({ agent }) => {
    const first = await page(agent)
    await store.deleteStream('s150')
    const second = await page(agent, first.nextCursor)
    assert.is(listings, 1)
    const ids = second.sessions.map(({ sessionId }) => sessionId)
    assert.equal([ids.length, ids[0], ids.includes('s150'), ids[99]], [100, 's100', false, 's200'])
    // The same page again is of a listing of its own, and so is each of two at once.
    assert.equal(await page(agent, first.nextCursor), second)
    const [one, other] = await Promise.all([page(agent, second.nextCursor), page(agent, second.nextCursor)])
    assert.equal(one, other)
    assert.is(listings, 3)
    const last = await page(agent, one.nextCursor)
    assert.equal(last.sessions.length, 49)
    assert.is(last.nextCursor, undefined)
    assert.is(listings, 3)
  })
})

test('ASR-724: session/resume from the start sends what replay gives, and only then answers', async () => {
  const store = await storeOf()
  const expected = await collect(replay(await store.stream('s')))
  await withClient(store, async ({ agent, updates }) => {
    const answer = await agent.request(asked.session.resume, { sessionId: 's', ...START })
    assert.equal(updates, expected)
    assert.equal(updates.at(-1)?.update, { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' })
    assert.equal(answer.configOptions, SESSION[6].options as acp.SessionConfigOption[])
    await agent.request(asked.session.resume, { sessionId: 's', ...START })
    assert.equal(updates, [...expected, ...expected])
  })
})

test('M22: the state comes before the answer, also without a replay and for an empty stream', async () => {
  const store = await storeOf()
  await store.createStream(header('empty'))
  await withClient(store, async ({ agent, updates }) => {
    for (const replayFrom of [undefined, null]) {
      updates.length = 0
      await agent.request(asked.session.resume, { sessionId: 's', cwd: '/w', replayFrom })
      const state = { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' }
      assert.equal(updates.at(-1), { sessionId: 's', update: state })
      assert.not(updates.some(({ update }) => 'messageId' in update))
    }
    for (const from of [START, { cwd: '/w' }]) {
      updates.length = 0
      await agent.request(asked.session.resume, { sessionId: 'empty', ...from })
      assert.equal(updates, [{ sessionId: 'empty', update: { sessionUpdate: 'state_update', state: 'idle' } }])
    }
  })
})

test('session/resume: a session that is not there and a place that is not the start are refused, and nothing is sent', async () => {
  await withClient(await storeOf(), async ({ agent, updates }) => {
    const unknown = await refused(agent.request(asked.session.resume, { sessionId: 'nobody', ...START }))
    assert.equal(unknown, { code: -32002, message: 'there is no session "nobody"', data: { sessionId: 'nobody' } })
    const place = { sessionId: 's', cwd: '/w', replayFrom: { type: '_middle' as const } }
    assert.is((await refused(agent.request(asked.session.resume, place))).code, -32602)
    assert.equal(updates, [])
  })
})

test('a recording takes no prompts, no options and no new sessions, and says that it is read-only', async () => {
  await withClient(await storeOf(), async ({ agent }) => {
    const requests = [
      agent.request(asked.session.prompt, { sessionId: 's', prompt: [{ type: 'text', text: 'hi' }] }),
      agent.request(asked.session.setConfigOption, { sessionId: 's', configId: 'x', type: 'boolean', value: true }),
      agent.request(asked.session.new, { cwd: '/w' }),
      agent.request(asked.session.delete, { sessionId: 's' }),
    ]
    for (const { code, message: said, data } of await Promise.all(requests.map(refused))) {
      assert.equal([code, data], [-32600, { code: 'ASR_READ_ONLY' }])
      assert.match(said, /^read-only: /)
    }
    assert.is((await refused(agent.request(asked.session.prompt, { sessionId: 'nobody', prompt: [] }))).code, -32002)
    await agent.notify(asked.session.cancel, { sessionId: 's' })
    assert.is((await refused(agent.request('_acme/other', {}))).code, -32601)
  })
})

test('ASR-718, CORE-27: session/fork copies the stream, branches and all, under an id of its own', async () => {
  const store = await storeOf()
  const parent = await store.stream('s')
  await withClient(store, async ({ agent, updates }) => {
    const forked = { sessionId: 's', cwd: '/w', additionalDirectories: ['/more'] }
    const { sessionId, configOptions } = await agent.request(asked.session.fork, forked)
    assert.is(configOptions?.length, 1)
    const fork = await store.stream(sessionId)
    const { lineage, workspace } = await fork.header()
    const evidence = 'native_field'
    assert.equal(lineage, {
      forkedFrom: { session: 's', evidence },
      inherits: { mode: 'copied', from: 's', evidence, localThroughId: 's' },
    })
    assert.equal(
      workspace.roots.map(({ path }: { path: string }) => path),
      ['/w', '/lib', '/more'],
    )
    const copies = await collect(fork.records())
    for (const { copiedFrom, id } of copies) assert.equal(copiedFrom, { session: 's', id, proof: 'native_id' })
    assert.equal(
      copies.map(({ copiedFrom, ...record }) => record),
      await collect(parent.records()),
    )
    assert.equal(await fork.heads(), await parent.heads())
    assert.ok((await compareContextViews(parent, fork)).equal)
    await agent.request(asked.session.resume, { sessionId, ...START })
    assert.equal(
      updates.map(({ update }) => update),
      (await collect(replay(parent))).map(({ update }) => update),
    )
    assert.is((await refused(agent.request(asked.session.fork, { ...forked, sessionId: 'nobody' }))).code, -32002)
  })
})

test('session/fork of an empty stream is an empty stream; where forks are not allowed it is refused', async () => {
  const store = await storeOf('s', [])
  const forked = { sessionId: 's', cwd: '/w' }
  await withClient(store, async ({ agent }) => {
    const { sessionId } = await agent.request(asked.session.fork, forked)
    assert.is((await store.stream(sessionId)).length, 0)
  })
  const refusal = ({ agent }: { agent: acp.ClientContext }) => refused(agent.request(asked.session.fork, forked))
  assert.is((await withClient(store, refusal, { allowFork: false })).code, -32600)
})

test('session/fork and session/delete of a store that is open for reading are refused as read-only', async () => {
  const location = memoryLocation()
  const writer = await openStore(location)
  await writer.createStream(header('s'))
  await writer.close()
  const store = await openStore(location, { readOnly: true })
  await withClient(
    store,
    async ({ agent }) => {
      const { code, data } = await refused(agent.request(asked.session.fork, { sessionId: 's', cwd: '/w' }))
      assert.equal([code, data], [-32600, { code: 'ASR_READ_ONLY' }])
      assert.is((await refused(agent.request(asked.session.delete, { sessionId: 's' }))).code, -32600)
    },
    { allowDelete: true },
  )
})

test('session/delete, where it is allowed, deletes for good; session/close leaves everything as it is', async () => {
  const store = await storeOf()
  await withClient(
    store,
    async ({ agent }) => {
      assert.equal(await agent.request(asked.session.close, { sessionId: 's' }), {})
      assert.is((await store.stream('s')).length, SESSION.length)
      assert.is((await refused(agent.request(asked.session.close, { sessionId: 'nobody' }))).code, -32002)
      assert.equal(await agent.request(asked.session.delete, { sessionId: 's' }), {})
      assert.equal(await agent.request(asked.session.list, {}), { sessions: [] })
      assert.is((await refused(agent.request(asked.session.delete, { sessionId: 's' }))).code, -32002)
      assert.is((await refused(agent.request(asked.session.resume, { sessionId: 's', ...START }))).code, -32002)
    },
    { allowDelete: true },
  )
})

test('a failure of the store is told by its code, and the connection goes on', async () => {
  const store = await storeOf()
  await withClient(store, async ({ agent }) => {
    await store.close()
    for (let i = 0; i < 2; i++) {
      const { code, data } = await refused(agent.request(asked.session.resume, { sessionId: 's', ...START }))
      assert.equal([code, data], [-32603, { code: 'ASR_CLOSED' }])
    }
  })
})

test('many connections read at once, and each gets all of it', async () => {
  const store = await storeOf(
    's',
    Array.from({ length: 500 }, (_, n) => message(`m${n}`, { content: text(`${n}`) })),
  )
  const expected = await collect(replay(await store.stream('s')))
  const seen = await Promise.all(
    Array.from({ length: 8 }, () =>
      withClient(store, async ({ agent, updates }) => {
        await agent.request(asked.session.resume, { sessionId: 's', ...START })
        return updates
      }),
    ),
  )
  for (const updates of seen) assert.equal(updates, expected)
})

test('ASR-731: the answer to session/resume says what the replay left out, and a state alone is no replay', async () => {
  const store = await storeOf()
  const losses = await replay(await store.stream('s')).losses()
  assert.ok(losses.some(({ loss }) => loss === 'off_path') && losses.some(({ loss }) => loss === 'config_change'))
  await withClient(store, async ({ agent }) => {
    const replayed = await agent.request(asked.session.resume, { sessionId: 's', ...START })
    assert.equal(replayed._meta, { 'org.agent-session.acp/losses': losses })
    assert.is((await agent.request(asked.session.resume, { sessionId: 's', cwd: '/w' }))._meta, undefined)
  })
})

test.run()
