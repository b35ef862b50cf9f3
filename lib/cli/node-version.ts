/**
 * The commands ask here before they import what an older Node.js fails to load, with an error that helps nobody. So this file imports
 * next to nothing.
 */

import { exitCodes } from './exit-codes.ts'

/** The same as `engines` of package.json, which npm only warns about. */
export const NEEDED = '22.19'

/** Ends the process of `command` where its Node.js is too old. */
export function requireNode(command: string): void {
  const reason = tooOld(process.versions.node)
  if (reason === undefined) return
  process.stderr.write(`${command}: ${reason}\n`)
  process.exit(exitCodes.configuration)
}

/** What to tell the user of a Node.js that is too old; undefined where it will do. `version`: such as `22.19.0`. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = NEEDED.split('.').map(Number)
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined
  return `Node.js ${NEEDED} or newer is needed; this is ${version} (${process.execPath})`
}
