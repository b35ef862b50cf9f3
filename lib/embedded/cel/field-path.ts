/** The `fieldPath` of a rule (`.spec.a['b.c']`), checked against the schema and written as causes name fields. */
import type { Schema } from '../types.ts'
import { valueSchema } from './schema-type.ts'

const ESCAPES: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', "'": "'", '\\': '\\' }

/** `spec.a[b.c]`; undefined where the path is not valid for the schema. */
export function normalizeFieldPath(path: string, schema: Schema): string | undefined {
  let result = ''
  let current: Schema | undefined = schema
  let rest = path
  while (rest !== '') {
    const step = nextStep(rest)
    if (step === undefined || current === undefined) return undefined
    const { name, length } = step
    if (current.properties !== undefined) {
      if (!Object.hasOwn(current.properties, name)) return undefined
      result = result === '' ? name : `${result}.${name}`
      current = current.properties[name]
    } else {
      const values = valueSchema(current)
      if (values === undefined) return undefined
      result += `[${name}]`
      current = values
    }
    rest = rest.slice(length)
  }
  return result
}

function nextStep(rest: string): { name: string; length: number } | undefined {
  const dotted = /^\.([^.[\]]+)/.exec(rest)
  if (dotted !== null) return { name: dotted[1] as string, length: dotted[0].length }
  const quoted = /^\['((?:[^'\\]|\\.)*)'\]/s.exec(rest)
  if (quoted === null) return undefined
  const name = unquoteName(quoted[1] as string)
  return name === undefined ? undefined : { name, length: quoted[0].length }
}

function unquoteName(text: string): string | undefined {
  let valid = true
  const plain = text.replace(/\\(.)/gs, (_all, letter: string) => {
    if (!Object.hasOwn(ESCAPES, letter)) valid = false
    return ESCAPES[letter] ?? ''
  })
  return valid ? plain : undefined
}
