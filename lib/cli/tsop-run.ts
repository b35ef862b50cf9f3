#!/usr/bin/env node
import { requireNode } from './node-version.ts'

requireNode('tsop-run')
const { tsopRun } = await import('./command.ts')
// Ends here whatever handlers left open: what had to be drained has been.
process.exit(await tsopRun(process.argv.slice(2)))
