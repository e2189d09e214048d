/**
 * Frames that were captured, and the records each must give.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { projectRoot } from '../project/load-script.js'
import { type Corpus, captureOf, framesOf } from '../support/corpora.js'
import { outline, type Recording, recordAll, recordsOf } from './support.js'

async function recorded(lines: Uint8Array): Promise<Recording> {
  const recording = await recordAll(framesOf(lines))
  assert.equal(recording.problems, [])
  assert.is(recording.summary.notJsonRpc, 0)
  return recording
}

async function outlineOf({ store }: Recording, sessionId: string): Promise<string[]> {
  return outline(await recordsOf(await store.stream(sessionId)))
}

/** The outline with its ids numbered: the carried captures have made ones. What a state is called stays. */
function numbered(lines: readonly string[]): string[] {
  const ids = new Map<string, number>()
  return lines.map((line) => {
    const [type, id, ...rest] = line.split(' ')
    if (type === 'state' || id === undefined) return line
    ids.set(id, ids.get(id) ?? ids.size)
    return [type, `#${ids.get(id)}`, ...rest].join(' ')
  })
}

/** Whether an outline is the expected one, but for made ids. */
type Gives = (sessionId: string, expected: string[]) => Promise<void>

function capture(name: string, check: (recording: Recording, gives: Gives, corpus: Corpus) => Promise<void>): void {
  for (const corpus of captureOf(`${name}.alpha9`)) {
    corpus.test(`ASR-701: the capture ${corpus.title} gives the records that it must give`, async () => {
      const recording = await recorded(corpus.bytes())
      const gives: Gives = async (sessionId, expected) => {
        const found = await outlineOf(recording, sessionId)
        assert.equal(numbered(found), numbered(expected))
        if (corpus.isReal) assert.equal(found, expected)
      }
      await check(recording, gives, corpus)
    })
  }
}

capture('demo-all-kinds', async (recording, gives, corpus) => {
  const sessions = [...recording.summary.sessions].sort()
  assert.is(sessions.length, 3)
  if (corpus.isReal) assert.equal(sessions, ['sess_1', 'sess_4', 'sess_child'])
  const [first, fourth, child] = sessions
  await gives(child, ['message im_1'])
  await gives(fourth, ['message msg_u2', 'message t1', 'state idle', 'state ended'])
  await gives(first, [
    'config_change',
    'message msg_u2',
    'state running',
    'message t1',
    'message m1',
    'message t1',
    'plan p1',
    'tool_call call_1',
    'permission 0:0 partial',
    'state requires_action',
    '~permission 0:0 resolved',
    '~tool_call call_1',
    'tool_result call_1 completed',
    'state running',
    'terminal term_1 exited',
    'tool_call call_2',
    'tool_result call_2 completed',
    'file_change call_2 applied',
    'permission 0:1 resolved',
    'tool_call call_3',
    'tool_result call_3 partial',
    'tool_call call_4',
    'plan p2',
    'org.agent-session.acp/plan_removed',
    'input_request 0:2 answered',
    'input_request el_9 answered',
    'org.agent-session.acp/elicitation_complete',
    'compaction cmp_1 completed',
    'usage_summary',
    'session_info',
    'config_change',
    'org.agent-session.acp/available_commands_update',
    'message notice:2026-11-29T17:31:45.010Z:0',
    'org.agent-session.acp/_acme/heartbeat',
    'subagent sess_child',
    '~message m1',
    '~plan p1',
    '~tool_result call_3 _queued',
    'org.agent-session.acp/session_message',
    'state idle',
    'message msg_u3',
    'state running',
    'message m_slow',
    'tool_call call_slow',
    'tool_result call_slow cancelled',
    'state idle',
    'config_change',
    'state ended',
    'state resumed',
    'state ended',
  ])
})

capture('claude-agent-acp-0.98.0', async (recording, gives) => {
  const [resumed, made, forked] = recording.summary.sessions
  await gives(made, ['config_change'])
  await gives(forked, ['config_change'])
  await gives(resumed, [
    'message 00000000-0000-4000-8000-000000000001',
    'message msg_1',
    'message msg_1',
    'tool_call toolu_1',
    'tool_result toolu_1 completed',
    'terminal toolu_2 exited',
    'tool_call toolu_2',
    'tool_result toolu_2 completed',
    'plan plan',
    'message msg_4',
    'state idle',
    'config_change',
    'state resumed',
    'message 8ab402dd-bb80-4327-803f-1cc2b3bf4778',
    'state running',
    'org.agent-session.acp/available_commands_update',
    'state idle',
    'session_info',
    'state ended',
  ])
  const { lineage } = await (await recording.store.stream(forked)).header()
  assert.is(lineage.forkedFrom.session, resumed)
})

capture('sdk-example-agent', async (recording, gives) => {
  const [sessionId] = recording.summary.sessions
  await gives(sessionId, [
    'message a413affc-330a-428d-8da0-bae206ef736b',
    'state running',
    'message 0bff182f-e96f-4c61-bbfa-626bea6080a7',
    'state idle',
    'state ended',
    'state resumed',
  ])
})

test('ASR-701: our own capture of the example agent of the SDK gives the records that it must give', async () => {
  const recording = await recorded(readFileSync(join(projectRoot, 'test/acp/fixtures/sdk-example-agent.jsonl')))
  assert.equal(await outlineOf(recording, '3f1ab31c-3541-46fc-a9d8-f6f3055f7a77'), [
    'message 23cede21-686d-4ec7-9d43-ef7adf816f2d',
    'state running',
    'message d566154f-72f1-4fcc-80b4-8c755a65f0c7',
    'state idle',
    'message 20379b14-5b7d-44c8-ad77-6e5c6640802e',
    'state running',
    'state idle',
    'state ended',
    'state resumed',
  ])
})

capture('codex-acp-2.4.0', async (recording) => {
  assert.equal(recording.summary.sessions, [])
})

test.run()
