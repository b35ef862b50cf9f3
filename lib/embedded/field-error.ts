/**
 * What is wrong with one field of an object, as `k8s.io/apimachinery/pkg/util/validation/field` says it: the same types, the
 * same cause reasons, the same texts.
 */
import { encodeJson } from './json.ts'

export type FieldErrorType =
  | 'Required'
  | 'Invalid'
  | 'NotSupported'
  | 'Duplicate'
  | 'TooLong'
  | 'TooMany'
  | 'Forbidden'
  | 'TypeInvalid'
  | 'NotFound'
  | 'Internal'

export interface FieldError {
  readonly type: FieldErrorType
  /** As a cause names it: `spec.ports[0].name`, `metadata.labels`, `spec.template.metadata.labels[app]`. */
  readonly field: string
  /** The whole message without the field: `Invalid value: 11: should be less than or equal to 10`. */
  readonly message: string
}

/** `metav1.CauseType` of each type. */
export const CAUSE_REASON: Readonly<Record<FieldErrorType, string>> = {
  Required: 'FieldValueRequired',
  Invalid: 'FieldValueInvalid',
  NotSupported: 'FieldValueNotSupported',
  Duplicate: 'FieldValueDuplicate',
  TooLong: 'FieldValueTooLong',
  TooMany: 'FieldValueTooMany',
  Forbidden: 'FieldValueForbidden',
  TypeInvalid: 'FieldValueTypeInvalid',
  NotFound: 'FieldValueNotFound',
  Internal: 'InternalError',
}

const with_ = (text: string, detail: string) => (detail === '' ? text : `${text}: ${detail}`)

export const required = (field: string, detail = ''): FieldError => ({ type: 'Required', field, message: with_('Required value', detail) })
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  message: with_(`Invalid value: ${show(value)}`, detail),
})
export const typeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'TypeInvalid',
  field,
  message: with_(`Invalid value: ${show(value)}`, detail),
})
/** `supported` in the order they are to be shown. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  message: with_(`Unsupported value: ${show(value)}`, supported.length === 0 ? '' : `supported values: ${supported.map(quote).join(', ')}`),
})
export const duplicate = (field: string, value: unknown): FieldError => ({
  type: 'Duplicate',
  field,
  message: `Duplicate value: ${show(value)}`,
})
export const notFound = (field: string, value: unknown): FieldError => ({ type: 'NotFound', field, message: `Not found: ${show(value)}` })
export const forbidden = (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, message: with_('Forbidden', detail) })
export const tooLong = (field: string, max: number): FieldError => ({
  type: 'TooLong',
  field,
  message: `Too long: may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`,
})
export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  type: 'TooMany',
  field,
  message: `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
})

/** A value as Go shows it in an error: strings quoted, numbers bare, the rest as Go's JSON. */
export function show(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'string') return quote(value)
  const text = encodeJson(value as object)
  return typeof value === 'object' ? text.replaceAll(/[<>&\u2028\u2029]/g, escapeUnit) : text
}

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

// What Go's strconv.IsPrint refuses, as far as JSON has not escaped it already.
const UNPRINTABLE = /\\u00([0-9a-f]{2})|[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu
const SHORT: Readonly<Record<string, string>> = { '07': '\\a', '0b': '\\v' }

/** A text as Go's `%q` shows it. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll(UNPRINTABLE, (found: string, code: string | undefined) => {
    if (code !== undefined) return SHORT[code] ?? `\\x${code}`
    const point = found.codePointAt(0) ?? 0
    const hex = point.toString(16)
    return point < 0x80 ? `\\x${hex}` : point > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`
  })
}
