/** What a real server answered: one file an area, one line an exchange. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const fileOf = (area: string) => fileURLToPath(new URL(`goldens/${area}.jsonl`, import.meta.url))

export function readGoldens(area: string): Map<string, unknown[]> {
  const all = new Map<string, unknown[]>()
  if (!existsSync(fileOf(area))) return all
  for (const line of readFileSync(fileOf(area), 'utf8').split('\n')) {
    if (line === '') continue
    const { case: id, ...exchange } = JSON.parse(line)
    if (!all.has(id)) all.set(id, [])
    all.get(id)?.push(exchange)
  }
  return all
}

export function writeGoldens(area: string, all: ReadonlyMap<string, readonly unknown[]>): void {
  const lines = [...all].flatMap(([id, exchanges]) => exchanges.map((each) => JSON.stringify({ case: id, ...(each as object) })))
  writeFileSync(fileOf(area), lines.map((line) => `${line}\n`).join(''))
}
