/** The scripted agent over stdio: `node sdk-agent-child.js`. With an argument, it ends as that says. */
import { Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { scriptedAgent } from './sdk-peers.js'

const [ending] = process.argv.slice(2)
const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>
scriptedAgent().connect(ndJsonStream(Writable.toWeb(process.stdout) as WritableStream<Uint8Array>, input))
process.stdin.on('close', () => {
  if (ending === 'SIGKILL') process.kill(process.pid, ending)
  process.exit(ending === undefined ? 0 : Number(ending))
})
