#!/usr/bin/env node
import { tsopRun } from './command.ts'

// Ends here whatever handlers left open: what had to be drained has been.
process.exit(await tsopRun(process.argv.slice(2)))
