/** Where a bundle begins: `tsop-run` with handlers that are in it already. */

import { type Bundle, isBundle } from './bundled.ts'
import { tsopRun } from './command.ts'
import { requireNode } from './node-version.ts'

export async function runBundle(bundle: Bundle): Promise<never> {
  requireNode('tsop-run')
  isBundle(bundle)
  // Ends here whatever handlers left open: what had to be drained has been.
  process.exit(await tsopRun(process.argv.slice(2)))
}
