/** Tells when a file that an operator is made of, or a manifest that it applies, has changed. */

import { type Dirent, type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { basename, dirname, extname, join, resolve, sep } from 'node:path'

/** Editors write a file in several steps, and a checkout writes many files. */
const SETTLE_MS = 100
const EXTENSIONS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json', '.yaml', '.yml']

export class FileChanges {
  readonly #roots: readonly string[]
  readonly #watchers = new Map<string, FSWatcher>()
  /** By directory, the files in it that count. */
  readonly #files = new Map<string, Set<string>>()
  #timer: NodeJS.Timeout | undefined
  #changed = false
  #wake: (() => void) | undefined

  /** Directories count with all below them, files alone. Paths that are not there count from when they appear in their directory. */
  constructor(paths: readonly string[]) {
    this.#roots = paths.map((path) => resolve(path))
    for (const root of this.#roots) {
      this.#watchTree(root)
      // A build removes its directory and makes it anew, with which the watch on it is dead.
      this.follow(root)
    }
  }

  /** One more file that counts, wherever it lies. */
  follow(file: string): void {
    if (this.#roots.some((root) => file.startsWith(root + sep))) return
    const directory = dirname(file)
    const files = this.#files.get(directory)
    if (files !== undefined) return void files.add(basename(file))
    this.#files.set(directory, new Set([basename(file)]))
    this.#open(`${directory} `, directory, (name) => {
      if (name !== null && this.#files.get(directory)?.has(name) !== true) return
      for (const root of this.#roots) if (dirname(root) === directory) this.#watchTree(root)
      this.#touch()
    })
  }

  /** Resolves when something has changed since the last call, and it is quiet again. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#changed = false
        this.#wake = undefined
        resolve()
      }
      if (this.#changed) this.#wake()
    })
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /**
   * Each directory by itself: the recursive watch that Node builds on Linux follows files, and never hears again of a name whose file was
   * replaced by another one, as many editors save.
   */
  #watchTree(directory: string): void {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return
    this.#open(directory, directory, (name) => {
      if (name === null) return this.#touch()
      if (isHidden(name)) return
      if (EXTENSIONS.includes(extname(name))) this.#touch()
      // A directory that is new, or made anew: what came into it before it was watched has changed, too.
      if (statSync(join(directory, name), { throwIfNoEntry: false })?.isDirectory() !== true) return
      this.#watchTree(join(directory, name))
      this.#touch()
    })
    for (const entry of entriesOf(directory)) {
      if (entry.isDirectory() && !isHidden(entry.name)) this.#watchTree(join(directory, entry.name))
    }
  }

  #open(id: string, directory: string, changed: (name: string | null) => void): void {
    this.#watchers.get(id)?.close()
    try {
      const watcher = watch(directory, (_type, name) => changed(name))
      // The directory has gone; if it comes back, the watch on its parent sees it.
      watcher.on('error', () => watcher.close())
      this.#watchers.set(id, watcher)
    } catch {
      this.#watchers.delete(id)
    }
  }

  #touch(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#changed = true
      this.#wake?.()
    }, SETTLE_MS)
  }
}

function isHidden(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.')
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}
