/** OpenAPI documents of custom groups, from the recorded ones of a group that stands for all. */
import { customTemplate } from '../data/recorded.ts'
import { encodeJson } from '../json.ts'
import type { ResourceType, Schema } from '../types.ts'
import { publishV2, publishV3 } from './publish.ts'

/** The v3 document of one group and version; `types` are all its kinds. */
export function customDocument(types: readonly ResourceType[]): string {
  const { info, namespaced, cluster, list, properties, schemas } = customTemplate().v3
  const paths: Record<string, string> = {}
  const components: Record<string, string> = {}
  for (const type of types) {
    const fill = filler(type)
    addPaths(paths, type.namespaced ? namespaced : cluster, type, fill)
    components[definitionName(type)] = encodeJson(withKind(publishV3(type.schema.root, properties), type))
    components[`${definitionName(type)}List`] = fill(list)
  }
  const scales = types.some((type) => type.subresources.includes('scale'))
  for (const [name, schema] of Object.entries(schemas)) {
    if (scales || !name.startsWith('io.k8s.api.autoscaling.')) components[name] = JSON.stringify(schema)
  }
  return `{"openapi":"3.0.0","info":${JSON.stringify(info)},"paths":${joined(paths)},"components":{"schemas":${joined(components)}}}`
}

/** What a custom group adds to the v2 document: the members of `paths` and of `definitions`. */
export function customV2(types: Iterable<ResourceType>): { paths: string; definitions: string } {
  const { namespaced, cluster, list } = customTemplate().v2
  const { properties } = customTemplate().v3
  const metadata = { description: properties.metadata.description ?? '', $ref: `#/definitions/${OBJECT_META}` }
  const paths: Record<string, string> = {}
  const definitions: Record<string, string> = {}
  for (const type of types) {
    const fill = filler(type)
    addPaths(paths, type.namespaced ? namespaced : cluster, type, fill)
    definitions[definitionName(type)] = encodeJson(withKind(publishV2(type.schema.root, { ...properties, metadata }), type))
    definitions[`${definitionName(type)}List`] = fill(list)
  }
  return { paths: joined(paths).slice(1, -1), definitions: joined(definitions).slice(1, -1) }
}

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

function addPaths(
  to: Record<string, string>,
  template: Readonly<Record<string, string>>,
  type: ResourceType,
  fill: (text: string) => string,
) {
  for (const [path, operations] of Object.entries(template)) {
    const subresource = /\{name\}\/(.+)$/.exec(path)?.[1]
    if (subresource === undefined || type.subresources.includes(subresource)) to[fill(path)] = fill(operations)
  }
}

function withKind(schema: Schema, { group, kind, version }: ResourceType): Schema {
  return { ...schema, 'x-kubernetes-group-version-kind': [{ group, kind, version }] }
}

/** `com.example.acme.v1.Widget` */
function definitionName(type: ResourceType): string {
  return `${definitionPrefix(type)}.${type.kind}`
}

function definitionPrefix({ group, version }: ResourceType): string {
  return `${group.split('.').toReversed().join('.')}.${version}`
}

/** Puts the names of a kind into a recorded text. */
function filler(type: ResourceType): (text: string) => string {
  const { group, version, resource, kind } = type
  const words = group.split(/[^a-zA-Z0-9]+/)
  const camel = words.map(capitalised).join('')
  const values: Record<string, string> = {
    'a> <kind': withArticle(kind),
    kind,
    plural: resource,
    group,
    version,
    schema: definitionPrefix(type),
    tag: `${camel.charAt(0).toLowerCase()}${camel.slice(1)}_${version}`,
    operation: `${camel}${capitalised(version)}`,
  }
  return (text) => text.replaceAll(/<(a> <kind|kind|plural|group|version|schema|tag|operation)>/g, (_, name: string) => values[name] ?? '')
}

const capitalised = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`

function withArticle(noun: string): string {
  if (noun.endsWith('s') && !noun.endsWith('ss')) return noun
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

/** An object of values that are JSON text already, its members in the order of their names. */
function joined(members: Record<string, string>): string {
  const sorted = Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}
