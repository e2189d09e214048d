/**
 * Names of stored files: relative, with `/`, and never out of the place they lie in.
 */

/** @throws TypeError when a name could mean another place, or another file on some system */
export function assertFileName(name: string): void {
  for (const part of name.split('/')) {
    if (part === '' || part === '.' || part === '..' || /[\\:\0]/.test(part)) {
      throw new TypeError(`not a name of a stored file: ${JSON.stringify(name)}`)
    }
  }
}
