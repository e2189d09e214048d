/**
 * Preloaded into programs that are measured: leaves the processor time of the process, in milliseconds, in a file.
 */
import fs = require('node:fs')

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  fs.writeFileSync(process.env.BENCH_CPU_FILE as string, String((user + system) / 1_000))
})
