/** `down DIR`: stops what `up DIR` started. The data stays. */
import { resolve } from 'node:path'
import { stopAll } from './pids.ts'

const [where] = process.argv.slice(2)
if (where === undefined) {
  process.stderr.write('usage: down DIR\n')
  process.exit(2)
}
await stopAll(resolve(where))
