/** What the paths of a scale subresource point to, in each object that is written. */
import { type FieldError, invalid } from '../field-error.ts'
import { encodeJson, isObject } from '../json.ts'
import { isInt64 } from '../schema/go.ts'
import type { ScalePaths } from './definition.ts'

export const scaleSpecErrors = (object: object, { specReplicasPath }: ScalePaths): FieldError[] => replicaErrors(object, specReplicasPath)

export function scaleStatusErrors(object: object, { statusReplicasPath, labelSelectorPath }: ScalePaths): FieldError[] {
  const errors = replicaErrors(object, statusReplicasPath)
  if (!labelSelectorPath) return errors
  const found = nested(object, labelSelectorPath)
  const wrong = found.error ?? (found.value === undefined ? undefined : wrongType(labelSelectorPath, found.value, 'string'))
  return wrong === undefined ? errors : [...errors, invalid(labelSelectorPath, '', wrong)]
}

const MAX_INT32 = 2_147_483_647

function replicaErrors(object: object, path: string): FieldError[] {
  const { value, error } = nested(object, path)
  const wrong = error ?? (value === undefined ? undefined : wrongType(path, value, 'int64'))
  if (wrong !== undefined) return [invalid(path, 0, wrong)]
  if (!isInt64(value)) return []
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')]
  return value > MAX_INT32 ? [invalid(path, value, `should be less than or equal to ${MAX_INT32}`)] : []
}

/** `unstructured.NestedFieldNoCopy` */
function nested(object: object, path: string): { value?: unknown; error?: string } {
  let value: unknown = object
  let at = ''
  for (const name of path.replace(/^\./, '').split('.')) {
    if (value === null || value === undefined) return {}
    if (!isObject(value))
      return { error: `${at} accessor error: ${shown(value)} is of the type ${goType(value)}, expected map[string]interface{}` }
    at = `${at}.${name}`
    if (!Object.hasOwn(value, name)) return {}
    value = value[name]
  }
  return { value }
}

function wrongType(path: string, value: unknown, expected: 'int64' | 'string'): string | undefined {
  const fits = expected === 'int64' ? isInt64(value) : typeof value === 'string'
  if (fits) return undefined
  return `.${path.replace(/^\./, '')} accessor error: ${shown(value)} is of the type ${goType(value)}, expected ${expected}`
}

function shown(value: unknown): string {
  if (value === null) return '<nil>'
  return typeof value === 'object' ? encodeJson(value) : String(value)
}

function goType(value: unknown): string {
  if (value === null) return '<nil>'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  return isInt64(value) ? 'int64' : 'float64'
}
