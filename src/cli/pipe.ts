/**
 * Pipes of a Node process block while their reader is slow: the other direction would stand still, and no signal be heard.
 */
export function asynchronous(stream: NodeJS.WriteStream): void {
  const { _handle: handle } = stream as unknown as { _handle?: { setBlocking?: (blocking: boolean) => void } }
  handle?.setBlocking?.(false)
}
