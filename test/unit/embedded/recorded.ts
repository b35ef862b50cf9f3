/** Cases that the real server's own code has answered, one a line. */
import { readFileSync } from 'node:fs'

export function recordedCases<T>(file: URL): T[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
