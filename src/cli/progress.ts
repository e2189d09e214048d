/**
 * A progress bar on stderr, where stderr is a terminal; elsewhere nothing.
 */
import type { Progress } from '../main.js'
import { clip, printable } from './text.js'

export interface Bar {
  update(progress: Progress): void
  stop(): void
}

const SILENT: Bar = { update: () => {}, stop: () => {} }
const LABEL_UNITS = 40

export async function progressBar(label: string): Promise<Bar> {
  if (!process.stderr.isTTY) return SILENT
  const { SingleBar } = await import('cli-progress')
  const bar = new SingleBar({
    format: '{label} [{bar}] {percentage}% {value}/{total} {unit}, {eta_formatted} left',
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    gracefulExit: false,
    etaBuffer: 100,
  })
  let total = 0
  bar.start(total, 0, { label: printable(clip(label, LABEL_UNITS)), unit: '' })
  return {
    update(progress) {
      // Without a known total the bar stays full and the count grows.
      const next = progress.total ?? progress.done
      if (next !== total) {
        total = next
        bar.setTotal(total)
      }
      bar.update(progress.done, { unit: progress.unit })
    },
    stop: () => bar.stop(),
  }
}

/** Runs with a bar that is gone afterwards, whatever comes of it. */
export async function withProgress<T>(label: string, run: (update: Bar['update']) => Promise<T>): Promise<T> {
  const bar = await progressBar(label)
  try {
    return await run(bar.update)
  } finally {
    bar.stop()
  }
}
