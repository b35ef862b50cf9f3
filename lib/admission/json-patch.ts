/** JSON Patch (RFC 6902): the operations that turn one object into another. Lists are replaced whole. */

import { equalJson } from '../api/patch.ts'
import type { JsonPatchOperation } from '../resource/context-client.ts'

/** Empty where both are equal. */
export function jsonPatch(from: object, to: object): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  compare(from as Fields, to as Fields, '', operations)
  return operations
}

type Fields = Readonly<Record<string, unknown>>

function compare(from: Fields, to: Fields, path: string, operations: JsonPatchOperation[]): void {
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key)) operations.push({ op: 'remove', path: `${path}/${escaped(key)}` })
  }
  for (const [key, value] of Object.entries(to)) {
    const at = `${path}/${escaped(key)}`
    if (!Object.hasOwn(from, key)) operations.push({ op: 'add', path: at, value })
    else if (isFields(from[key]) && isFields(value)) compare(from[key], value, at, operations)
    else if (!equalJson(from[key], value)) operations.push({ op: 'replace', path: at, value })
  }
}

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
