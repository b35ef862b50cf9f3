/** tsop's own version. A bundle, which has no package.json beside it, is built with `TSOP_VERSION` defined. */

import { readFileSync } from 'node:fs'

declare const TSOP_VERSION: string | undefined

export function version(): string {
  if (typeof TSOP_VERSION === 'string') return TSOP_VERSION
  return (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version
}
