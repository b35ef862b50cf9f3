/** Paths of fields as rules and selectable fields name them: `.spec.name`, `['a.b']`; checked against the schema. */
import type { Schema } from '../types.ts'

export interface FoundField {
  /** `spec.name`, `spec[key]` */
  readonly path: string
  readonly root: string
  readonly schema: Schema
}

/** @throws Error with the server's text */
export function findField(text: string, schema: Schema, options: { readonly brackets: boolean }): FoundField {
  const tokens = tokenize(text)
  let path = ''
  let root = ''
  let current = schema
  let at = 0
  const step = (name: string) => {
    const { properties, additionalProperties } = current
    if (properties !== undefined && Object.keys(properties).length > 0) {
      const next = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (next === undefined) throw new Error('does not refer to a valid field')
      path = path === '' ? name : `${path}.${name}`
      current = next
    } else if (typeof additionalProperties === 'object') {
      path = `${path}[${name}]`
      current = additionalProperties
    } else throw new Error('does not refer to a valid field')
    if (root === '') root = name
  }
  const next = () => {
    const token = tokens[at++]
    if (token === undefined) throw new Error('unexpected end of JSON path')
    return token
  }
  while (at < tokens.length) {
    const token = next()
    if (token === '.') step(next())
    else if (token === '[') {
      if (!options.brackets) throw new Error('array notation is not allowed')
      const quoted = next()
      if (!/^'.*'$/s.test(quoted) || quoted.length < 2) throw new Error(`expected single quoted string but got ${quoted}`)
      step(quoted.slice(1, -1).replaceAll(/\\(.)/gs, '$1'))
      const end = next()
      if (end !== ']') throw new Error(`expected ] but got ${end}`)
    } else throw new Error(`expected [ or . but got: ${token}`)
  }
  return { path, root, schema: current }
}

/** Delimiters by themselves, quoted strings whole, the rest between delimiters. */
function tokenize(text: string): string[] {
  return [...text.matchAll(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs)].map(([token]) => token)
}
