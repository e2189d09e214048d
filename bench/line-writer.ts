/**
 * Writes lines of JSON, a megabyte at a time.
 */
import { closeSync, openSync, writeSync } from 'node:fs'

const BLOCK_CHARACTERS = 1024 * 1024

export class LineWriter {
  private readonly descriptor: number
  private lines = ''

  constructor(file: string) {
    this.descriptor = openSync(file, 'w')
  }

  write(value: object): void {
    this.lines += `${JSON.stringify(value)}\n`
    if (this.lines.length >= BLOCK_CHARACTERS) this.flush()
  }

  close(): void {
    this.flush()
    closeSync(this.descriptor)
  }

  private flush(): void {
    const bytes = Buffer.from(this.lines)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.descriptor, bytes, at)
    this.lines = ''
  }
}
