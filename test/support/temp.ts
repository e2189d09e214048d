/**
 * Folders for tests that need real files. They are gone when the process ends.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []

process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'asr-test-'))
  folders.push(folder)
  return folder
}
