/**
 * Absolute paths of ACP and root-relative paths of ASR (ASR-711), both ways, so that a path comes back as it was.
 */
import { isObject, type JsonObject, textOf } from './json.js'

export interface PathRef {
  root: string | null
  path: string
}

export interface Root {
  id: string
  /** null: redacted */
  path: string | null
}

export class Roots {
  readonly list: readonly Root[]

  constructor(list: readonly Root[]) {
    this.list = list
  }

  /** `cwd` is root0, the additional directories are root1, root2, … (ASR-711). */
  static of(directories: readonly string[]): Roots {
    return new Roots(directories.map((path, index) => ({ id: `root${index}`, path })))
  }

  /** The roots of a header. */
  static from(workspace: unknown): Roots {
    const roots = isObject(workspace) && Array.isArray(workspace.roots) ? workspace.roots : []
    return new Roots(roots.filter(isObject).map(({ id, path }) => ({ id: String(id), path: textOf(path) ?? null })))
  }

  /** The same roots, and behind them the directories that are not among them yet: an id that was given stays. */
  with(directories: readonly string[]): Roots {
    const list = [...this.list]
    const ids = new Set(list.map(({ id }) => id))
    const paths = new Set(list.map(({ path }) => path))
    let number = list.length
    for (const path of directories) {
      if (paths.has(path)) continue
      while (ids.has(`root${number}`)) number++
      list.push({ id: `root${number++}`, path })
      paths.add(path)
    }
    return list.length === this.list.length ? this : new Roots(list)
  }

  /** A path relative to the first root that holds it, segment by segment, else the path as it is (ASR-711). */
  ref(path: string): PathRef {
    for (const { id, path: root } of this.list) {
      const rest = root === null ? undefined : below(root, path)
      if (rest !== undefined) return { root: id, path: rest }
    }
    return { root: null, path }
  }

  /** The absolute path again; undefined when its root is redacted or not there (ASR-729). */
  absolute({ root, path }: PathRef): string | undefined {
    if (root === null) return path
    const base = this.list.find(({ id }) => id === root)?.path ?? null
    if (base === null) return undefined
    if (path === '') return base
    return /[\\/]$/.test(base) ? base + path : base + separatorOf(base) + path
  }
}

/** The directories that a request for a session names (ASR-711). */
export function directoriesOf(params: JsonObject): string[] {
  const more = Array.isArray(params.additionalDirectories) ? params.additionalDirectories : []
  return [params.cwd, ...more].filter((path): path is string => typeof path === 'string')
}

function separatorOf(root: string): '/' | '\\' {
  return root.includes('\\') || /^[A-Za-z]:$/.test(root) ? '\\' : '/'
}

/** What of a path lies behind a root. A rest that would not come back as it was, or that leads out again, is none. */
function below(root: string, path: string): string | undefined {
  if (path === root) return ''
  const base = /[\\/]$/.test(root) ? root : root + separatorOf(root)
  if (!path.startsWith(base)) return undefined
  const rest = path.slice(base.length)
  const segments = rest.split(separatorOf(root))
  return segments.some((segment) => segment === '' || segment === '.' || segment === '..') ? undefined : rest
}
