/** The part of cli-progress that is used here; the package brings no types. */
declare module 'cli-progress' {
  interface BarOptions {
    format: string
    stream: NodeJS.WritableStream
    clearOnComplete: boolean
    hideCursor: boolean
    gracefulExit: boolean
    etaBuffer: number
  }
  export class SingleBar {
    constructor(options: Partial<BarOptions>)
    start(total: number, value: number, payload?: object): void
    setTotal(total: number): void
    update(value: number, payload?: object): void
    stop(): void
  }
}
