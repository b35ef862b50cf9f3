/** What writing generated files would do to those that are there. Nothing is written before all of it is known. */

import { unifiedDiff } from './diff.ts'
import { stamped, stampOf } from './stamp.ts'

/** A file as a generator makes it: without the lines that say who made it. */
export interface GeneratedFile {
  /** Below the output folder, with `/`. JSON must be written with two spaces and end with a newline. */
  readonly path: string
  readonly content: string
}

/** The files of the output folder, by paths with `/`. */
export interface Folder {
  /** Undefined where there is no such file. */
  read(path: string): string | undefined
  /** All files, below subfolders too. */
  list(): readonly string[]
}

export interface Step {
  readonly path: string
  /** `edited`: made by tsop, then changed by hand. `foreign`: not made by tsop. Both are only overwritten by force. */
  readonly found: 'nothing' | 'same' | 'outdated' | 'edited' | 'foreign'
  /** What is to be there. Undefined: the same command made the file earlier and does not any more. */
  readonly text: string | undefined
  /** As `diff -u` shows it; empty for `same`. */
  readonly diff: string
}

/** `command` is what the files say made them; `shown` a path as the diff names it. Files in the order of their paths. */
export function plan(files: readonly GeneratedFile[], folder: Folder, command: string, shown = (path: string) => path): Step[] {
  const made = new Set(files.map(({ path }) => path))
  if (made.size < files.length) throw new Error(`two files of one path: ${files.map(({ path }) => path).join(', ')}`)
  const steps = files.map(({ path, content }) => step({ path, shown: shown(path) }, stamped(path, content, command), folder.read(path)))
  const left = folder.list().filter((path) => !made.has(path))
  for (const path of left) {
    const before = folder.read(path)
    if (before !== undefined && stampOf(path, before)?.command === command)
      steps.push(step({ path, shown: shown(path) }, undefined, before))
  }
  return steps.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function step({ path, shown }: { path: string; shown: string }, text: string | undefined, before: string | undefined): Step {
  const names = { before: before === undefined ? '/dev/null' : shown, after: text === undefined ? '/dev/null' : shown }
  const old = before?.replaceAll('\r\n', '\n')
  const diff = unifiedDiff(old ?? '', text ?? '', names)
  return { path, found: foundOf(path, text, old), text, diff }
}

function foundOf(path: string, text: string | undefined, before: string | undefined): Step['found'] {
  if (before === undefined) return 'nothing'
  if (before === text) return 'same'
  const stamp = stampOf(path, before)
  if (stamp === undefined) return 'foreign'
  return stamp.intact ? 'outdated' : 'edited'
}
