/**
 * TypeScript for kinds that somebody else defines: a typed reference for each version of a CustomResourceDefinition, and interfaces for
 * what its schema says of the objects, with its descriptions.
 */

import type { CustomResourceDefinition, CustomResourceVersion } from '../resource/kind.ts'
import { resourceFrom } from '../resource/resource-from.ts'
import type { Schema } from '../resource/schema.ts'
import type { GeneratedFile } from './plan.ts'

/** `certificates.cert-manager.io.ts` and so on. @throws TypeError for what is no complete definition, or serves no version */
export function typeFiles(definitions: readonly object[]): GeneratedFile[] {
  return definitions.map((definition) => {
    const { crd } = resourceFrom(definition)
    return { path: `${crd.spec.names.plural}.${crd.spec.group}.ts`, content: typesOf(crd) }
  })
}

/**
 * The version that `resourceFrom()` takes has the name of the kind, the other ones that are served have their version behind it:
 * `Issuer`, `IssuerV1alpha2`.
 */
function typesOf(crd: CustomResourceDefinition): string {
  const main = versionOf(resourceFrom(crd).apiVersion)
  const served = crd.spec.versions.filter((version) => version.served)
  const ordered = [...served.filter(({ name }) => name === main), ...served.filter(({ name }) => name !== main)]
  const names = new Names()
  const parts = ordered.map((version) => versionTypes(crd, version, version.name === main, names))
  return ["import type * as tsop from 'tsop'", ...parts.flat()].map((part) => `${part}\n`).join('\n')
}

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}

function versionTypes(crd: CustomResourceDefinition, version: CustomResourceVersion, isMain: boolean, names: Names): string[] {
  const { kind, plural, scope, apiVersion, status } = resourceFrom(crd, { version: version.name })
  const name = names.take(isMain ? pascal(kind) : `${pascal(kind)}${pascal(version.name)}`)
  const schema = (version.schema?.openAPIV3Schema ?? {}) as Schema
  const interfaces = new Interfaces(names)
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...properties } = schema.properties ?? {}
  const description = [schema.description, version['deprecated'] === true ? deprecation(version) : undefined]
  interfaces.object(
    name,
    { ...schema, properties, ...keeping(schema) },
    ' extends tsop.KubeObject',
    description.filter(isText).join('\n\n'),
  )
  const reference = [
    `apiVersion: ${literal(apiVersion)}`,
    `kind: ${literal(kind)}`,
    `plural: ${literal(plural)}`,
    `scope: ${literal(scope)}`,
    ...(status === undefined
      ? []
      : [
          `status: { ${Object.entries(status)
            .map(([field, keeps]) => `${field}: ${keeps}`)
            .join(', ')} }`,
        ]),
    'foreign: true',
  ]
  return [`export const ${name}: tsop.KindRef<${name}> = {\n${reference.map((line) => `  ${line},\n`).join('')}}`, ...interfaces.texts]
}

/** A version without a schema keeps whatever it is given. */
function keeping({ properties }: Schema): Schema {
  return properties === undefined ? { 'x-kubernetes-preserve-unknown-fields': true } : {}
}

function deprecation({ deprecationWarning }: CustomResourceVersion): string {
  return `@deprecated ${isText(deprecationWarning) ? deprecationWarning : 'The API server warns of this version.'}`
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** The interfaces of one version, each after the one that names it. */
class Interfaces {
  readonly texts: string[] = []
  readonly #names: Names
  /** Fields of one name and schema, as pods have many, share an interface. */
  readonly #known = new Map<string, string>()

  constructor(names: Names) {
    this.#names = names
  }

  object(name: string, schema: Schema, heritage: string, description: string | undefined): void {
    const place = this.texts.push('') - 1
    const required = new Set(schema.required)
    const fields = Object.entries(schema.properties ?? {}).map(([field, inner]) => {
      const type = this.#type(inner, `${name}${pascal(field)}`, field)
      return `${comment(describe(inner), '  ')}  ${key(field)}${required.has(field) ? '' : '?'}: ${type}\n`
    })
    if (schema['x-kubernetes-preserve-unknown-fields'] === true) fields.push('  [field: string]: unknown\n')
    this.texts[place] = `${comment(description, '')}export interface ${name}${heritage} {\n${fields.join('')}}`
  }

  /** `name` is for an interface, should there be one; `field` is where it is. */
  #type(schema: Schema, name: string, field: string): string {
    const type = this.#typeOf(schema, name, field)
    return schema.nullable === true && type !== 'unknown' ? `${type} | null` : type
  }

  #typeOf(schema: Schema, name: string, field: string): string {
    if (schema.enum !== undefined && schema.enum.length > 0) return [...new Set(schema.enum.map(literal))].join(' | ')
    if (schema['x-kubernetes-int-or-string'] === true) return 'number | string'
    switch (schema.type) {
      case 'string':
        return 'string'
      case 'integer':
      case 'number':
        return 'number'
      case 'boolean':
        return 'boolean'
      case 'array':
        return listOf(this.#type(schema.items ?? {}, `${name}Item`, field))
      case 'object':
        return this.#objectType(schema, name, field)
      default:
        return 'unknown'
    }
  }

  #objectType(schema: Schema, name: string, field: string): string {
    const properties = Object.keys(schema.properties ?? {})
    if (schema['x-kubernetes-embedded-resource'] === true && properties.every((field) => OF_EVERY_OBJECT.has(field))) {
      return 'tsop.KubeObject & { [field: string]: unknown }'
    }
    if (properties.length > 0) return this.#interface(schema, name, field)
    const values = schema.additionalProperties
    return `{ [name: string]: ${typeof values === 'object' ? this.#type(values, `${name}Value`, field) : 'unknown'} }`
  }

  #interface(schema: Schema, wanted: string, field: string): string {
    const { description, ...rest } = schema
    const text = `${field} ${JSON.stringify(rest)}`
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const name = this.#names.take(wanted)
    this.#known.set(text, name)
    this.object(name, schema, '', description)
    return name
  }
}

const OF_EVERY_OBJECT = new Set(['apiVersion', 'kind', 'metadata'])

/** Each name once. */
class Names {
  readonly #taken = new Set<string>()

  take(wanted: string): string {
    let name = wanted
    for (let i = 2; this.#taken.has(name); i++) name = `${wanted}${i}`
    this.#taken.add(name)
    return name
  }
}

function listOf(type: string): string {
  return /^[\w.]+$/.test(type) || /^\{|\[\]$/.test(type) ? `${type}[]` : `(${type})[]`
}

/** `secret-name` and `secretName` become `SecretName`. */
function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('')
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

/** As TypeScript writes it, in single quotes. */
function literal(value: unknown): string {
  if (typeof value !== 'string') return typeof value === 'object' && value !== null ? 'unknown' : JSON.stringify(value)
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function describe({ description, default: value }: Schema): string | undefined {
  if (value === undefined) return description
  const text = JSON.stringify(value)
  // A long default tells less than the schema itself.
  const shown = text.length > 60 ? undefined : `Default: \`${text.replaceAll('`', "'")}\`.`
  return [description, shown].filter(isText).join('\n\n')
}

const WIDTH = 120

function comment(text: string | undefined, margin: string): string {
  if (!isText(text)) return ''
  const lines = text
    .trim()
    .replaceAll('*/', '*\\/')
    .split('\n')
    .flatMap((line) => wrapped(line.trimEnd(), WIDTH - margin.length - 3))
  if (lines.length === 1) return `${margin}/** ${lines[0]} */\n`
  return [`${margin}/**`, ...lines.map((line) => `${margin} *${line === '' ? '' : ` ${line}`}`), `${margin} */\n`].join('\n')
}

function wrapped(line: string, width: number): string[] {
  if (line.length <= width) return [line]
  const lines: string[] = []
  let current = ''
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current)
      current = word
    } else current = current === '' ? word : `${current} ${word}`
  }
  return [...lines, current]
}
