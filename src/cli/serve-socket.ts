/**
 * An agent behind a WebSocket (ACP's experimental transport): GET /acp with an upgrade, a message a text frame.
 */
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node'
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server'
import { WebSocketServer } from 'ws'
import type { ReplayAgent } from '../acp/agent/api.js'

const PATH = '/acp'

/** What the SDK takes as one message over stdio. */
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024

/** So much may wait for a client that reads slowly; then the replay waits. */
const UNSENT_BYTES_MAX = 1024 * 1024

/** How long a client has to say goodbye. */
const CLOSING_MS = 500

/** A client whose machine is gone says nothing; TCP finds out. */
const KEEP_ALIVE_MS = 30_000

export interface Address {
  host: string
  port: number
}

export interface SocketOptions extends Address {
  /** origins of web pages that may connect; others, and all by default, are refused */
  origins: readonly string[]
  onListening: (url: string) => void
}

/** Serves until the signal comes: then no connection is taken any more, and those that are there are closed. */
export async function serveSocket(agent: ReplayAgent, options: SocketOptions, signal: AbortSignal): Promise<void> {
  const acp = new AcpServer({ agent, maxBufferedBytes: UNSENT_BYTES_MAX })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX })
  const http = createServer((_, response) => {
    response.writeHead(426, { Upgrade: 'websocket', Connection: 'Upgrade' }).end(`ACP over WebSocket: ${PATH}\n`)
  })
  const upgrade = createNodeWebSocketUpgradeHandler(acp, {
    on: (event, listener) => sockets.on(event, listener),
    off: (event, listener) => sockets.off(event, listener),
    handleUpgrade: (request, socket, head, accept) =>
      sockets.handleUpgrade(request, socket, head, (accepted) => {
        accepted.on('error', () => {}) // it closes, and that is all there is to know
        accept(accepted)
      }),
  })
  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const refused = refusal(request, options.origins)
    if (refused !== undefined) refuse(socket, refused)
    else upgrade(request, socket, head)
  })
  http.on('connection', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS))
  await listening(http, options)
  options.onListening(urlOf(http.address() as AddressInfo))
  await aborted(signal)
  const closed = new Promise((resolve) => http.close(resolve))
  const gone = [...sockets.clients].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
  await acp.close()
  http.closeAllConnections()
  await Promise.race([Promise.all(gone), setTimeout(CLOSING_MS)])
  for (const socket of sockets.clients) socket.terminate()
  await closed
}

/** The status a request for a connection is refused with. A web page's browser always says where the page is from. */
export function refusal({ url, headers }: IncomingMessage, origins: readonly string[]): number | undefined {
  if (url?.split('?')[0] !== PATH) return 404
  return headers.origin === undefined || origins.includes(headers.origin) ? undefined : 403
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

async function listening(http: Server, { host, port }: Address): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, () => {
      http.off('error', reject)
      resolve()
    })
  })
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `ws://${family === 'IPv6' ? `[${address}]` : address}:${port}${PATH}`
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
