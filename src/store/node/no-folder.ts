/**
 * Stands for `folder.ts` where a bundler builds for browsers (`browser` in package.json): there are no folders there.
 */
export async function openFolder(folder: string): Promise<never> {
  throw new TypeError(`openStore: ${folder} cannot be opened: folders are for Node; give { log, index } instead`)
}
