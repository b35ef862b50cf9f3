/** Why a file could not be written, for whoever named the place: what is in the way, where, and what to do. */

import { statSync } from 'node:fs'
import { dirname, relative } from 'node:path'

/** One line, of an error of `node:fs`. Of another error it is its message. */
export function writeProblem(error: unknown): string {
  const { code, path, dest, message } = error as NodeJS.ErrnoException & { readonly dest?: string }
  if (path === undefined) return message
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `${displayed(existing(path))} is a file, not a directory; move it, or name another directory`
    case 'EISDIR':
      return `${displayed(dest ?? path)} is a directory, not a file; move it, or name another place`
    case 'EACCES':
    case 'EPERM':
      return `you have no permission to write ${within(existing(path))}; change its permissions, or name another place`
    case 'EROFS':
      return `${displayed(existing(path))} is on a file system that is read-only; name another place`
    default:
      return message
  }
}

/** As the user sees it from where he is. */
export function displayed(path: string): string {
  const shown = relative(process.cwd(), path)
  if (shown === '') return 'this directory'
  return shown.startsWith('..') ? path : shown
}

function within(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? `in ${displayed(path)}` : displayed(path)
}

/** The path, or the nearest above it that is there. */
function existing(path: string): string {
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return path
  } catch {
    // Not to be looked at: what is above it is.
  }
  const above = dirname(path)
  return above === path ? path : existing(above)
}
