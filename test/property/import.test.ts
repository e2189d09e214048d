/** CORE-2, CORE-3, CORE-7, CORE-12, CORE-21: imports, sound and hostile, come to what the model says. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAsrError, memoryLocation, openStore } from '../../src/main.js'
import { draft } from './arbitraries.js'
import { chunked, fileDraft, fileOf, headerDress, linesOf, rewritten, SESSION } from './files.js'
import { isFault, type ModelStream } from './model.js'
import { importFile, type ModelImport } from './model-import.js'
import { RUNS, settings } from './settings.js'
import { compareAll, outcomeOf, Subject, told } from './subject.js'

const cutting = fc.record({ cuts: fc.array(fc.nat(100_000), { maxLength: 6 }), asText: fc.boolean() })
const extension = fc.record({ headerDress, kept: fc.nat(20), dropped: fc.nat(20), shorterFirst: fc.boolean() })
const runs = Math.ceil(RUNS / 3)

async function withSubject(check: (subject: Subject) => Promise<void>): Promise<void> {
  const location = memoryLocation()
  const subject = new Subject(await openStore(location), location)
  try {
    await check(subject)
  } catch (error) {
    throw told(error, subject)
  } finally {
    await subject.store.close()
  }
}

/** Imports into both, compares report or code, and answers with what the model came to. */
async function importBoth(
  subject: Subject,
  bytes: Uint8Array,
  before?: ModelStream,
  chunks: (Uint8Array | string)[] = [bytes],
): Promise<ModelImport | null> {
  const expected = importFile(bytes, before)
  const outcome = await outcomeOf(() => subject.store.importJsonl(chunks))
  if (isFault(expected) || 'code' in outcome) {
    assert.equal(outcome, expected, 'code of a refused file')
    return null
  }
  const report = outcome.value
  const session = expected.stream.header.sessionId as string
  const sorted = (diagnostics: { code: string; line?: number }[]) =>
    diagnostics.map(({ code, line }) => `${String(line).padStart(4)} ${code}`).toSorted()
  assert.equal(sorted(report.diagnostics), sorted(expected.diagnostics), 'diagnostics')
  const { sessionId, records, appended, duplicates } = report
  assert.equal(
    { sessionId, records, appended, duplicates },
    {
      sessionId: session,
      records: expected.stream.rows.length,
      appended: expected.appended,
      duplicates: expected.duplicates,
    },
    'report',
  )
  await subject.attend(session, expected.stream)
  return expected
}

test('CORE-2 and CORE-12: what a file brings, what is said of its lines, and all answers equal the model', () =>
  fc.assert(
    fc.asyncProperty(fileDraft(30), cutting, (file, { cuts, asText }) =>
      withSubject(async (subject) => {
        const bytes = fileOf(file)
        if ((await importBoth(subject, bytes, undefined, chunked(bytes, cuts, asText))) === null) {
          assert.equal(await outcomeOf(() => subject.store.stream(SESSION)), { code: 'ASR_STREAM_NOT_FOUND' })
          return
        }
        await compareAll(subject.stream, subject.model)
        await subject.append([{ type: 'message' }, { type: 'state', head: 'side' }], {})
        await subject.verify()
        await subject.reopen()
        await compareAll(subject.stream, subject.model)
      }),
    ),
    settings(runs),
  ))

test('CORE-21: a second import of a file adds nothing, and the export gives the same bytes elsewhere', () =>
  fc.assert(
    fc.asyncProperty(fileDraft(20), (file) =>
      withSubject(async (subject) => {
        const bytes = fileOf(file)
        const first = await importBoth(subject, bytes)
        if (first === null) return
        const again = await importBoth(subject, bytes, first.stream)
        assert.is(again?.appended, 0)
        await compareAll(subject.stream, first.stream)
        await subject.compareExport()
      }),
    ),
    settings(runs),
  ))

test('CORE-21: a longer file extends the stream, a shorter one brings nothing, another one diverges', () =>
  fc.assert(
    fc.asyncProperty(fileDraft(20), extension, (file, { headerDress, kept, dropped, shorterFirst }) =>
      withSubject(async (subject) => {
        const lines = linesOf(file)
        const part = linesOf({ ...file, headerDress }).slice(0, kept)
        const files = shorterFirst ? [part, lines] : [lines, part]
        let stream: ModelStream | undefined
        for (const some of files) {
          const result = await importBoth(subject, fileOf({ ...file, tail: '' }, some), stream)
          stream = result?.stream ?? stream
        }
        const holed = lines.filter((_, i) => i !== dropped)
        await importBoth(subject, fileOf({ ...file, tail: '' }, holed), stream)
        if (stream === undefined) return
        await compareAll(subject.stream, subject.model)
        await subject.verify()
        await subject.compareExport()
      }),
    ),
    settings(runs),
  ))

test('CORE-21: a file that leaves out `seq`, `head` or `id` is known again, and its new records join the stream', () =>
  fc.assert(
    fc.asyncProperty(fileDraft(15), fc.nat(2 ** 24), fc.array(draft, { maxLength: 6 }), (file, dice, added) =>
      withSubject(async (subject) => {
        const first = await importBoth(subject, fileOf(file))
        if (first === null || first.stream.header.sessionId !== SESSION) return
        const bytes = rewritten(first.stream, dice, added)
        const expected = importFile(bytes, first.stream)
        if (isFault(expected)) assert.unreachable(expected.code)
        else {
          const { records, appended, duplicates } = await subject.store.importJsonl([bytes])
          assert.equal(
            { records, appended, duplicates },
            {
              records: expected.stream.rows.length,
              appended: expected.appended,
              duplicates: expected.duplicates,
            },
          )
          await subject.attend(SESSION, expected.stream)
          await compareAll(subject.stream, subject.model)
          await subject.compareExport()
        }
      }),
    ),
    settings(runs),
  ))

test('strict imports refuse a file at any diagnostic, and write nothing', () =>
  fc.assert(
    fc.asyncProperty(fileDraft(8), (file) =>
      withSubject(async ({ store }) => {
        const bytes = fileOf(file)
        const expected = importFile(bytes)
        if (isFault(expected)) return
        try {
          await store.importJsonl([bytes], { strict: true })
          assert.equal(expected.diagnostics, [], 'a strict import took a file with findings')
        } catch (error) {
          if (!isAsrError(error)) throw error
          const codes = expected.diagnostics.map(({ code }) => code)
          assert.ok(codes.includes(error.code), `${error.code} is none of ${codes}`)
          assert.equal(await outcomeOf(() => store.stream(SESSION)), { code: 'ASR_STREAM_NOT_FOUND' })
        }
      }),
    ),
    settings(runs),
  ))

test.run()
