/** The version of the package this file belongs to. */

import { readFileSync } from 'node:fs'

export function version(): string {
  // The same from lib/cli and from dist/cli.
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
