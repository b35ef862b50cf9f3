/**
 * What the server serves: `/api`, `/apis` and the resource lists, in the old form and as aggregated discovery. Made from the
 * registry whenever it has moved; what is known of built-in kinds besides comes from the recorded discovery.
 */
import type { Core } from './core.ts'
import { type RecordedResource, type RecordedSubresource, recorded } from './data/recorded.ts'
import { negotiate } from './negotiate.ts'
import { compareVersions } from './registry.ts'
import { encode } from './respond.ts'
import { unknownResource } from './status.ts'
import type { ApiResponse, ResourceType } from './types.ts'

export interface DiscoveryRequest {
  /** Without the query; a slash at its end does not matter. */
  readonly path: string
  readonly accept: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly userAgent?: string | undefined
  readonly query?: URLSearchParams
  /** `host:port` as clients reach the server. */
  readonly host?: string | undefined
}

/**
 * The answer to a GET; undefined: the path is none of discovery's. @throws ApiError 404 for an unknown version of a built-in
 * group, 406
 */
export function discovery(core: Core, request: DiscoveryRequest): ApiResponse | undefined {
  const parts = request.path.split('/').filter((part) => part !== '')
  if ((parts[0] !== 'api' && parts[0] !== 'apis') || parts.length > (parts[0] === 'api' ? 2 : 3)) return undefined
  const served = servedBy(core)
  if (parts.length === 1) {
    const media = aggregatedMedia(request.accept)
    if (media !== undefined) return aggregated(parts[0] === 'api' ? served.aggregatedCore() : served.aggregatedNamed(), media, request)
  }
  const document = oldForm(served, parts, request.host)
  if (document === undefined) return undefined
  const { accept, userAgent, query = new URLSearchParams() } = request
  const representation = negotiate({ accept, userAgent, query, watch: false, custom: true })
  return {
    status: 200,
    headers: { 'Content-Type': `application/${representation.media}`, 'Cache-Control': 'no-cache, private' },
    body: encode(document, representation),
  }
}

function oldForm(served: Served, parts: readonly string[], host: string | undefined): object | undefined {
  const [root, ...rest] = parts
  if (root === 'api') {
    if (rest.length === 0) return coreVersions(served, host)
    const list = served.find('', rest[0] ?? '')
    if (list === undefined) throw unknownResource()
    return { kind: 'APIResourceList', groupVersion: list.version, resources: list.resources.flatMap(oldEntries) }
  }
  if (rest.length === 0) {
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: served.oldOrder().map(oldGroup) }
  }
  const group = served.groups.find(({ name }) => name === rest[0])
  if (group === undefined || group.name === '') return undefined
  if (rest.length === 1) return { kind: 'APIGroup', apiVersion: 'v1', ...oldGroup(group) }
  const list = served.find(group.name, rest[1] ?? '')
  if (list === undefined) {
    if (group.custom) return undefined
    throw unknownResource()
  }
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${group.name}/${list.version}`,
    resources: list.resources.flatMap(oldEntries),
  }
}

function coreVersions(served: Served, host: string | undefined): object {
  return {
    kind: 'APIVersions',
    versions: served.groups.find(({ name }) => name === '')?.versions.map(({ version }) => version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host ?? '127.0.0.1' }],
  }
}

function oldGroup({ name, versions }: Group): object {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: listed, preferredVersion: listed[0] }
}

/** One resource and its subresources. */
function oldEntries(resource: Resource): object[] {
  const namespaced = resource.scope === 'Namespaced'
  const { group, version } = resource
  const entry = {
    name: resource.resource,
    singularName: resource.singularResource,
    namespaced,
    kind: resource.responseKind.kind,
    verbs: resource.verbs,
    ...(resource.shortNames === undefined ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories === undefined ? {} : { categories: resource.categories }),
    ...(resource.storageVersionHash === undefined ? {} : { storageVersionHash: resource.storageVersionHash }),
  }
  const subresources = (resource.subresources ?? []).map(({ subresource, responseKind, verbs }) => {
    const own = responseKind.version === '' || (responseKind.group === group && responseKind.version === version)
    return {
      name: `${resource.resource}/${subresource}`,
      singularName: '',
      namespaced,
      ...(own ? {} : { group: responseKind.group, version: responseKind.version }),
      kind: responseKind.kind,
      verbs,
    }
  })
  return [entry, ...subresources]
}

interface Group {
  readonly name: string
  /** Only of definitions. */
  readonly custom: boolean
  /** The preferred one first. */
  readonly versions: readonly { readonly version: string; readonly resources: readonly Resource[] }[]
}

interface Resource extends RecordedResource {
  readonly group: string
  readonly version: string
}

interface Aggregated {
  readonly document: object
  readonly etag: string
}

/** Of one state of the registry. */
class Served {
  readonly generation: number
  readonly groups: readonly Group[]
  #core: Aggregated | undefined
  #named: Aggregated | undefined

  constructor(core: Core) {
    this.generation = core.registry.generation
    this.groups = groupsOf(core.registry.types())
  }

  find(group: string, version: string): Group['versions'][number] | undefined {
    return this.groups.find(({ name }) => name === group)?.versions.find((each) => each.version === version)
  }

  /** Custom groups in the order of their APIServices (`v1.example.com`). */
  oldOrder(): readonly Group[] {
    const named = this.groups.filter(({ name }) => name !== '')
    const service = ({ name, versions }: Group) => versions.map(({ version }) => `${version}.${name}`).toSorted()[0] ?? ''
    const custom = named.filter((group) => group.custom).toSorted((a, b) => (service(a) < service(b) ? -1 : 1))
    return [...named.filter((group) => !group.custom), ...custom]
  }

  aggregatedCore(): Aggregated {
    this.#core ??= aggregate(this.groups.filter(({ name }) => name === ''))
    return this.#core
  }

  aggregatedNamed(): Aggregated {
    this.#named ??= aggregate(this.groups.filter(({ name }) => name !== ''))
    return this.#named
  }
}

const states = new WeakMap<Core, Served>()

function servedBy(core: Core): Served {
  let served = states.get(core)
  if (served?.generation !== core.registry.generation) {
    served = new Served(core)
    states.set(core, served)
  }
  return served
}

function groupsOf(types: Iterable<ResourceType>): Group[] {
  const groups = new Map<string, Map<string, ResourceType[]>>()
  for (const type of types) {
    const versions = groups.get(type.group) ?? new Map<string, ResourceType[]>()
    groups.set(type.group, versions)
    versions.set(type.version, [...(versions.get(type.version) ?? []), type])
  }
  return [...groups]
    .map(([name, versions]) => ({
      name,
      custom: [...versions.values()].flat().every((type) => type.custom),
      versions: [...versions].sort(byVersion).map(([version, of]) => ({ version, resources: of.toSorted(byResource).map(entryOf) })),
    }))
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

const byVersion = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => compareVersions(a, b)
const byResource = (a: ResourceType, b: ResourceType) => (a.resource < b.resource ? -1 : 1)

/** Built-in groups as recorded; all custom ones, which share a priority, after them. */
function rank({ name }: Group): number {
  const place = recorded().groups.findIndex(({ metadata }) => (metadata.name ?? '') === name)
  return place === -1 ? Number.MAX_SAFE_INTEGER : place
}

function entryOf(type: ResourceType): Resource {
  const { group, version } = type
  return { group, version, ...(type.custom ? customEntry(type) : recordedEntry(type)) }
}

function recordedEntry({ group, version, resource }: ResourceType): RecordedResource {
  const entry = recorded()
    .groups.find(({ metadata }) => (metadata.name ?? '') === group)
    ?.versions.find((each) => each.version === version)
    ?.resources.find((each) => each.resource === resource)
  if (entry === undefined) throw new Error(`${group}/${version} ${resource} is not a recorded kind`)
  return entry
}

const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch']
const SUBRESOURCE_VERBS = ['get', 'patch', 'update']

function customEntry(type: ResourceType): RecordedResource {
  const responseKind = { group: type.group, version: type.version, kind: type.kind }
  const subresources: RecordedSubresource[] = []
  if (type.subresources.includes('status')) subresources.push({ subresource: 'status', responseKind, verbs: SUBRESOURCE_VERBS })
  if (type.subresources.includes('scale')) {
    const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
    subresources.push({ subresource: 'scale', responseKind: scale, verbs: SUBRESOURCE_VERBS })
  }
  return {
    resource: type.resource,
    responseKind,
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: type.terminating === true ? TERMINATING_VERBS : CUSTOM_VERBS,
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
    storageVersionHash: storageVersionHash(type),
  }
}

/** Tells clients that a kind's objects are stored in another version than before. */
function storageVersionHash({ storageVersion, kind }: ResourceType): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(`${storageVersion}/${kind}`).digest().subarray(0, 8).toString('base64')
}

function aggregate(groups: readonly Group[]): Aggregated {
  const items = groups.map(({ name, versions }) => ({
    metadata: name === '' ? {} : { name },
    versions: versions.map(({ version, resources }) => ({
      version,
      resources: resources.map(aggregatedEntry),
      freshness: 'Current',
    })),
  }))
  const document = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items }
  const { createHash } = process.getBuiltinModule('node:crypto')
  return { document, etag: `"${createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase()}"` }
}

function aggregatedEntry(resource: Resource): object {
  const { resource: name, responseKind, scope, singularResource, verbs, shortNames, categories, subresources } = resource
  return {
    resource: name,
    responseKind,
    scope,
    singularResource,
    verbs,
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
    ...(subresources === undefined ? {} : { subresources }),
  }
}

function aggregated({ document, etag }: Aggregated, media: 'json' | 'yaml', request: DiscoveryRequest): ApiResponse {
  const type = `application/${media};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`
  // A client's cache takes the type from a 304 as well, and tells by it which form of discovery it holds.
  const headers = { 'Cache-Control': 'public', 'Content-Type': type, ETag: etag, Vary: 'Accept' }
  if (request.ifNoneMatch === etag) return { status: 304, headers, body: '' }
  return { status: 200, headers, body: encode(document, { media, pretty: false, as: undefined, version: 'v1' }) }
}

/** Aggregated discovery is answered where any of the accepted types asks for it, wherever it stands. */
function aggregatedMedia(accept = ''): 'json' | 'yaml' | undefined {
  for (const clause of accept.split(',')) {
    const [type, ...parameters] = clause.split(';').map((part) => part.trim())
    const asked = ['as=APIGroupDiscoveryList', 'g=apidiscovery.k8s.io', 'v=v2'].every((each) => parameters.includes(each))
    if (asked && type === 'application/json') return 'json'
    if (asked && type === 'application/yaml') return 'yaml'
  }
  return undefined
}
