/**
 * Lines of a byte stream that passes: each is told once it is whole, and the bytes are left alone.
 */
const LF = 0x0a

export class LineSplitter {
  private parts: Uint8Array[] = []
  private readonly decoder = new TextDecoder()

  private number = 0

  /** Lines that are empty are passed over, but they have their number. */
  constructor(private readonly onLine: (text: string, number: number) => void) {}

  push(chunk: Uint8Array): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.parts.push(chunk.subarray(start, end))
      this.tell()
      start = end + 1
    }
    if (start < chunk.length) this.parts.push(chunk.subarray(start))
  }

  /** The last line, when it was not ended. */
  end(): void {
    if (this.parts.length > 0) this.tell()
  }

  private tell(): void {
    const bytes = this.parts.length === 1 ? this.parts[0] : Buffer.concat(this.parts)
    this.parts = []
    this.number++
    const text = this.decoder.decode(bytes).replace(/\r$/, '')
    if (text.trim() !== '') this.onLine(text, this.number)
  }
}
