/** ConfigMap, Secret and ServiceAccount. */

import { type FieldError, forbidden, invalid, required, tooLong } from '../../field-error.ts'
import { goSyntaxError } from '../../go-syntax-error.ts'
import { define } from '../../json.ts'
import { configMapKey } from '../../names.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import { type Errors, immutable, type Part, sameSemantically, setDefault, syntax, unknownLabel } from './common.ts'

const MAX_SIZE = 1_048_576
const FROZEN = 'field is immutable when `immutable` is set'

const decodedLength = (text: string) => Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

export const configMap: Strategy = {
  validate: validateConfigMap,
  validateUpdate(object, old) {
    const errors: Errors = []
    frozen(errors, object, old, ['data', 'binaryData'])
    errors.push(...validateConfigMap(object))
    return errors
  },
}

function validateConfigMap({ data, binaryData }: ApiObject): FieldError[] {
  const errors: Errors = []
  let size = 0
  for (const key of Object.keys(data ?? {})) {
    syntax(errors, key, `data[${key}]`, configMapKey)
    if (binaryData != null && Object.hasOwn(binaryData, key)) {
      errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    }
    size += Buffer.byteLength(data[key])
  }
  for (const key of Object.keys(binaryData ?? {})) {
    syntax(errors, key, `binaryData[${key}]`, configMapKey)
    size += decodedLength(binaryData[key] ?? '')
  }
  if (size > MAX_SIZE) errors.push(tooLong('', MAX_SIZE))
  return errors
}

function frozen(errors: Errors, object: ApiObject, old: ApiObject, members: string[]): void {
  if (old.immutable !== true) return
  if (object.immutable !== true) errors.push(forbidden('immutable', FROZEN))
  for (const member of members) if (!sameSemantically(object[member], old[member])) errors.push(forbidden(member, FROZEN))
}

export const secret: Strategy = {
  defaults(object) {
    setDefault(object, 'type', 'Opaque')
    const { stringData } = object
    if (stringData == null) return
    object.data ??= {}
    for (const key of Object.keys(stringData)) define(object.data, key, Buffer.from(stringData[key] ?? '').toString('base64'))
    delete object.stringData
  },
  prepareForUpdate(object, old) {
    // A type that is not sent stays, also on an update.
    setDefault(object, 'type', old.type)
  },
  validate: validateSecret,
  validateUpdate(object, old) {
    const errors: Errors = []
    immutable(errors, object.type, old.type, 'type')
    frozen(errors, object, old, ['data'])
    errors.push(...validateSecret(object))
    return errors
  },
  unknownFieldSelector: unknownLabel,
  selectableFields: { type: ({ type }) => type ?? '' },
}

function validateSecret({ metadata, data, type }: ApiObject): FieldError[] {
  const errors: Errors = []
  let size = 0
  for (const key of Object.keys(data ?? {})) {
    syntax(errors, key, `data[${key}]`, configMapKey)
    size += decodedLength(data[key] ?? '')
  }
  if (size > MAX_SIZE) errors.push(tooLong('data', MAX_SIZE))
  const has = (key: string) => data != null && Object.hasOwn(data, key)
  const need = (key: string) => {
    if (!has(key)) errors.push(required(`data[${key}]`))
  }
  switch (type) {
    case 'kubernetes.io/service-account-token':
      if (!metadata.annotations?.['kubernetes.io/service-account.name']) {
        errors.push(required('metadata.annotations[kubernetes.io/service-account.name]'))
      }
      break
    case 'kubernetes.io/dockercfg':
      json(errors, data, '.dockercfg')
      break
    case 'kubernetes.io/dockerconfigjson':
      json(errors, data, '.dockerconfigjson')
      break
    case 'kubernetes.io/basic-auth':
      if (!has('username') && !has('password')) errors.push(required('data[username]'), required('data[password]'))
      break
    case 'kubernetes.io/ssh-auth':
      if (!data?.['ssh-privatekey']) errors.push(required('data[ssh-privatekey]'))
      break
    case 'kubernetes.io/tls':
      need('tls.crt')
      need('tls.key')
      break
  }
  return errors
}

function json(errors: Errors, data: Part, key: string): void {
  const value: string | undefined = data != null && Object.hasOwn(data, key) ? data[key] : undefined
  if (value == null) {
    errors.push(required(`data[${key}]`))
    return
  }
  try {
    JSON.parse(Buffer.from(value ?? '', 'base64').toString())
  } catch (error) {
    errors.push(
      invalid(`data[${key}]`, '<secret contents redacted>', goJsonError(Buffer.from(value ?? '', 'base64').toString(), error as Error)),
    )
  }
}

/** The commonest of Go's texts; the others have no like here. */
function goJsonError(text: string, error: Error): string {
  if (text.trim() === '') return 'unexpected end of JSON input'
  const first = text.trimStart()[0] ?? ''
  if (!/[[{"\d\-tfn]/.test(first)) return `invalid character '${first}' looking for beginning of value`
  return /end of JSON/.test(error.message) || /Unterminated|Expected/.test(error.message)
    ? 'unexpected end of JSON input'
    : goSyntaxError(text)
}

export const serviceAccount: Strategy = { returnsDeleted: true }
