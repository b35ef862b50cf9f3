/**
 * The objects that a real API server makes when it starts (scripts/record-bootstrap.ts): constant, so all servers of a process
 * share them.
 */
import type { ApiObject } from '../types.ts'

/** By bucket. */
export type RecordedObjects = Readonly<Record<string, readonly Omit<ApiObject, 'apiVersion' | 'kind'>[]>>

let read: RecordedObjects | undefined

export function recordedObjects(): RecordedObjects {
  if (read === undefined) {
    const { readFileSync } = process.getBuiltinModule('node:fs')
    const { brotliDecompressSync } = process.getBuiltinModule('node:zlib')
    read = JSON.parse(brotliDecompressSync(readFileSync(new URL('./recorded.json.br', import.meta.url))).toString()) as RecordedObjects
  }
  return read
}
