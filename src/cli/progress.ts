/**
 * A progress bar on stderr, where stderr is a terminal; elsewhere nothing.
 */
import type { Progress } from '../main.js'
import { stderr } from './say.js'
import { clip, printable } from './text.js'

export interface Bar {
  update(progress: Progress): void
  stop(): void
}

const SILENT: Bar = { update: () => {}, stop: () => {} }
const LABEL_UNITS = 40
const BAR = '{label} [{bar}] {percentage}% {value}/{total} {unit}, {eta_formatted} left'
const COUNT = '{label}: {value} {unit}'
const STYLE = { clearOnComplete: true, hideCursor: true, gracefulExit: false, etaBuffer: 100 }

export async function progressBar(label: string): Promise<Bar> {
  if (!stderr().isTTY) return SILENT
  const { SingleBar } = await import('cli-progress')
  const shownLabel = printable(clip(label, LABEL_UNITS))
  let bar: InstanceType<typeof SingleBar> | undefined
  return {
    update({ done, total, unit }) {
      if (bar === undefined) {
        const format = total === undefined ? COUNT : BAR
        bar = new SingleBar({ format, ...STYLE, stream: stderr() })
        bar.start(total ?? 0, done, { label: shownLabel, unit })
      }
      bar.update(done, { unit })
    },
    stop: () => bar?.stop(),
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
