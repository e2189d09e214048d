/**
 * The fixtures of spec/fixtures, as its README describes them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(process.cwd(), 'spec', 'fixtures')

interface ManifestItem {
  name: string
  shows: string
  rules: string[]
  stream: string
  expected: string
}

export interface ExpectedEntity {
  first: string
  inForce: string | null
  revisions: string[]
}

export interface ExpectedAt {
  id: string
  path: string[]
  cut: { recordId: string; missingParentId: string } | null
  gaps: string[]
  resolved: string[]
  view: {
    compaction: string | null
    entries: string[]
    openCalls: string[]
    danglingResults: string[]
    diagnostics: string[]
  }
}

export interface Expected {
  session: string
  header: { [field: string]: unknown }
  records: { line: number; id: string; seq: number; hash: string }[]
  duplicates: number
  diagnostics: { line: number; code: string }[]
  heads: { [name: string]: string }
  leaves: { id: string; heads: string[] }[]
  at: ExpectedAt[]
  entities: { type: string; id: string; primary: ExpectedEntity[]; anywhere: ExpectedEntity[] }[]
  digest: string
  exportSha256: string
}

export interface Fixture extends ManifestItem {
  bytes: Uint8Array
  answers: Expected
}

export function readFixtures(): Fixture[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as ManifestItem[]
  return manifest.map((item) => ({
    ...item,
    bytes: readFileSync(join(folder, item.stream)),
    answers: JSON.parse(readFileSync(join(folder, item.expected), 'utf8')) as Expected,
  }))
}
