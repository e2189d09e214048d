/**
 * Writes a level without pause in a process of its own, until a message stops it, in batches that name one another: row `last` is n just when the
 * rows 1 to n are there. Small buffers make it rotate logs and retire tables all the time.
 */
import { Level } from 'level'

const level = new Level(process.argv[2], { writeBufferSize: 16 * 1024, maxFileSize: 1024 * 1024 })
const filling = 'x'.repeat(200)

let stopped = false
process.on('message', () => {
  stopped = true
})

for (let n = 1; !stopped; n++) {
  await level.batch([
    { type: 'put', key: String(n).padStart(8, '0'), value: `${n} ${Math.random()} ${filling}` },
    { type: 'put', key: 'last', value: String(n) },
  ])
  if (n === 500) process.send?.('under way')
  if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
}

await level.close()
process.disconnect()
