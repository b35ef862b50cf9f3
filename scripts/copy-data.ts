/** Copies the recorded data, which tsc leaves behind, from lib to where tsc has built: `node scripts/copy-data.ts dist`. */
import { copyFileSync, globSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LIB = fileURLToPath(new URL('../lib/', import.meta.url))
const [, , to] = process.argv
if (to === undefined) throw new Error('usage: node scripts/copy-data.ts DIRECTORY')

for (const file of globSync('**/*.br', { cwd: LIB })) {
  mkdirSync(dirname(join(to, file)), { recursive: true })
  copyFileSync(join(LIB, file), join(to, file))
}
