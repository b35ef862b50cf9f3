/** Where a thread stood, in words. */

import { findSourceMap } from 'node:module'
import { basename } from 'node:path'

export interface Frame {
  /** `DatabaseHandler.reconcile`. */
  readonly name: string
  readonly url: string
  /** From 0. */
  readonly line: number
  readonly column: number
}

const LIBRARY = new URL('..', import.meta.url).href

/** The user's own code: `slow (price.ts:12) in DatabaseHandler.reconcile (database.ts:40)`; without such, whatever was on top. */
export function describeStack(frames: readonly Frame[], library = LIBRARY): string | undefined {
  const known = frames.filter(({ url }) => url !== '' && !url.startsWith('node:'))
  const own = known.filter(({ url }) => !url.includes('/node_modules/') && !fileOf(url).startsWith(fileOf(library)))
  const [top] = own.length > 0 ? own : known
  if (top === undefined) return undefined
  // The outermost frame is the handler's method, or the part of it after an await.
  const outer = own.at(-1)
  return outer === undefined || outer === top ? place(top) : `${place(top)} in ${place(outer)}`
}

function place(frame: Frame): string {
  const { name, url } = frame
  return `${name === '' ? 'a function' : name} (${basename(fileOf(url))}:${lineOf(frame)})`
}

/** As in the source, where there is a map to it. */
function lineOf({ url, line, column }: Frame): number {
  const entry = findSourceMap(url)?.findEntry(line, column)
  return (entry !== undefined && 'originalLine' in entry ? entry.originalLine : line) + 1
}

/** Loaders add queries to a URL. */
function fileOf(url: string): string {
  return url.replace(/^file:\/\//, '').split('?', 1)[0] as string
}
