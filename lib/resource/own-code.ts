/**
 * Which lines of a stack are tsop's own, so that errors are told by the place in the user's code. The compiled files lie in `dist`, and their source
 * maps name the sources in `lib` beside it, which a package does not have.
 */
import { fileURLToPath } from 'node:url'

const PLACES = ['../', '../../lib/'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** `file`: a path or a `file:` URL, with or without what loaders add to it. */
export function isOwnCode(file: string): boolean {
  const path = file.startsWith('file:') ? fileURLToPath(file.replace(/\?.*$/, '')) : file
  return PLACES.some((place) => path.startsWith(place))
}
