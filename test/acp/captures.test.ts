/**
 * Frames that were captured, and the records each must give. Those outside of the project are skipped when absent.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ObservedFrame } from '../../src/main.js'
import { projectRoot } from '../project/load-script.js'
import { outline, type Recording, recordAll, recordsOf } from './support.js'

const OUTSIDE = resolve(projectRoot, '../shared/data/acp-frames')

function framesOf(file: string): ObservedFrame[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const { dir, frame, at, conn, raw } = JSON.parse(line)
    return { dir, frame, at, conn, text: raw }
  })
}

async function recorded(file: string): Promise<Recording> {
  const recording = await recordAll(framesOf(file))
  assert.equal(recording.problems, [])
  assert.is(recording.summary.notJsonRpc, 0)
  return recording
}

async function outlineOf({ store }: Recording, sessionId: string): Promise<string[]> {
  return outline(await recordsOf(await store.stream(sessionId)))
}

function capture(name: string, check: (file: string) => Promise<void>): void {
  const file = join(OUTSIDE, `${name}.alpha9.jsonl`)
  const run = existsSync(file) ? test : test.skip
  run(`ASR-701: the capture ${name} gives the records that it must give`, () => check(file))
}

capture('demo-all-kinds', async (file) => {
  const recording = await recorded(file)
  assert.equal([...recording.summary.sessions].sort(), ['sess_1', 'sess_4', 'sess_child'])
  assert.equal(await outlineOf(recording, 'sess_child'), ['message im_1'])
  assert.equal(await outlineOf(recording, 'sess_4'), ['message msg_u2', 'message t1', 'state idle', 'state ended'])
  assert.equal(await outlineOf(recording, 'sess_1'), [
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

capture('claude-agent-acp-0.98.0', async (file) => {
  const recording = await recorded(file)
  const [resumed, made, forked] = recording.summary.sessions
  assert.equal(await outlineOf(recording, made), ['config_change'])
  assert.equal(await outlineOf(recording, forked), ['config_change'])
  assert.equal(await outlineOf(recording, resumed), [
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

capture('sdk-example-agent', async (file) => {
  const recording = await recorded(file)
  const [sessionId] = recording.summary.sessions
  assert.equal(await outlineOf(recording, sessionId), [
    'message a413affc-330a-428d-8da0-bae206ef736b',
    'state running',
    'message 0bff182f-e96f-4c61-bbfa-626bea6080a7',
    'state idle',
    'state ended',
    'state resumed',
  ])
})

test('ASR-701: our own capture of the example agent of the SDK gives the records that it must give', async () => {
  const recording = await recorded(join(projectRoot, 'test/acp/fixtures/sdk-example-agent.jsonl'))
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

capture('codex-acp-2.4.0', async (file) => {
  const recording = await recorded(file)
  assert.equal(recording.summary.sessions, [])
})

test.run()
