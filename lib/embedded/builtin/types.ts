/** The built-in kinds as the recorded discovery has them, with schemas from the recorded OpenAPI. */
import { definition, type RecordedResource, recorded } from '../data/recorded.ts'
import type { ResourceType, Schema, SchemaSource, Strategy, TableColumns } from '../types.ts'
import { builtinColumns } from './columns/all.ts'

/** Kinds that the API server calls deprecated, with the text of its Warning. */
const DEPRECATED: Readonly<Record<string, string>> = {
  '/v1/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  '/v1/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
}
/** Kinds of several groups whose objects are one. */
const SHARED_BUCKETS: Readonly<Record<string, string>> = { 'events.k8s.io/events': '/events' }

/**
 * A `ResourceType` for each kind and version that the recorded server serves, in the order of its discovery. `strategies` by
 * bucket (`apps/deployments`, `/configmaps`); without one only the general rules hold.
 */
export function builtinTypes(strategies: ReadonlyMap<string, Strategy>): ResourceType[] {
  return recorded().groups.flatMap(({ metadata: { name: group = '' }, versions }) =>
    versions.flatMap(({ version, resources }) => resources.map((resource) => builtinType(group, version, resource, strategies))),
  )
}

function builtinType(
  group: string,
  version: string,
  recordedAs: RecordedResource,
  strategies: ReadonlyMap<string, Strategy>,
): ResourceType {
  const { resource, responseKind, singularResource, verbs, shortNames = [], categories = [], subresources = [] } = recordedAs
  const { kind } = responseKind
  const groupVersion = group === '' ? version : `${group}/${version}`
  const bucket = SHARED_BUCKETS[`${group}/${resource}`] ?? `${group}/${resource}`
  const key = `${group}/${version}/${resource}`
  const deprecation = DEPRECATED[key]
  const columns = columnsOf(key)
  return {
    group,
    version,
    resource,
    singular: singularResource,
    kind,
    listKind: `${kind}List`,
    shortNames,
    categories,
    namespaced: recordedAs.scope === 'Namespaced',
    custom: false,
    verbs,
    subresources: subresources.map((each) => each.subresource),
    bucket,
    storageVersion: recordedAs.storageVersion?.replace(/^\//, '') ?? groupVersion,
    schema: schemaOf(`${group}/${version}/${kind}`),
    strategy: strategies.get(bucket) ?? {},
    ...(subresources.some((each) => each.subresource === 'scale') ? { scale: SCALE } : {}),
    ...(deprecation === undefined ? {} : { deprecation }),
    ...(columns === undefined ? {} : { columns }),
  }
}

const SCALE = { spec: '.spec.replicas', status: '.status.replicas', selector: '.spec.selector' }

const columnSets = new Map<string, TableColumns | undefined>()

function columnsOf(key: string): TableColumns | undefined {
  if (!columnSets.has(key)) columnSets.set(key, builtinColumns(key))
  return columnSets.get(key)
}

const sources = new Map<string, SchemaSource>()

/** Shared by all servers: the schemas never change, and who keeps something by schema keeps it once. */
function schemaOf(kind: string): SchemaSource {
  let source = sources.get(kind)
  if (source === undefined) {
    source = new RecordedSchema(kind)
    sources.set(kind, source)
  }
  return source
}

/** A kind without a definition (none has been seen) takes anything. */
const ANYTHING: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

class RecordedSchema implements SchemaSource {
  readonly #kind: string

  constructor(kind: string) {
    this.#kind = kind
  }

  get root(): Schema {
    return definition(recorded().kinds[this.#kind] ?? '') ?? ANYTHING
  }

  resolve(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (definition(schema.$ref) ?? ANYTHING)
  }
}
