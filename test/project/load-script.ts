/** The project's scripts are JavaScript outside of the compiled tree; tests load them by their place in the project. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const projectRoot = process.cwd()

export async function loadScript<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(join(projectRoot, 'scripts', name)).href)) as T
}

export interface ProjectScript {
  filesBelow(root: string, folder: string, pattern: RegExp): string[]
}
