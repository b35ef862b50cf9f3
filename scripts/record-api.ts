/**
 * Records what a real API server says of its API, for the embedded one: discovery, OpenAPI v2 and v3, the printer columns of
 * each kind, the documents of a custom group as a template. Writes lib/embedded/data.
 *
 * Run it against a fresh server (no CustomResourceDefinitions) of the version that the embedded server is to answer like:
 *
 *     node scripts/record-api.ts --server https://127.0.0.1:6443 --token TOKEN --ca certs/apiserver.crt
 *
 * The user needs to read everything and to create CustomResourceDefinitions; the script deletes the two it makes.
 * What comes out depends on the server alone, so that recording twice leaves no difference.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants } from 'node:zlib'

// biome-ignore lint/suspicious/noExplicitAny: documents of another program
type Json = Record<string, any>

const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    ca: { type: 'string' },
    out: { type: 'string', default: new URL('../lib/embedded/data/', import.meta.url).pathname },
  },
})
const { server, token, ca, out } = values
if (!server || !token || !ca) throw new Error('usage: node scripts/record-api.ts --server URL --token TOKEN --ca FILE [--out DIRECTORY]')
const CA = readFileSync(ca)

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

await record()

async function record(): Promise<void> {
  if ((await get(DEFINITIONS)).items.length > 0) throw new Error('this server has CustomResourceDefinitions: record from a fresh one')
  const core = (await get('/api', AGGREGATED)).items as Json[]
  const named = (await get('/apis', AGGREGATED)).items as Json[]
  const groups = [...core, ...named]
  await addStorageVersions(groups)
  const openapi = await documents()
  const schemas = schemasOf(openapi)

  write('core.json', {
    version: await get('/version'),
    groups: groups.map(withoutFreshness),
    kinds: definitionOfKinds(schemas),
    documents: Object.fromEntries([...openapi].map(([path, { hash }]) => [path, hash])),
    checks: { healthz: await checks('/healthz'), livez: await checks('/livez'), readyz: await checks('/readyz') },
    paths: ((await get('/')) as { paths: string[] }).paths,
  })
  write('definitions.txt', [...schemas].map(([name, schema]) => `${name}\t${JSON.stringify(lean(schema))}`).join('\n'))
  write('columns.json', await columns(groups))
  write('openapi-v2.json', await text('/openapi/v2'))
  const index = [...openapi].map(([path, each]) => [path, Buffer.byteLength(each.text)])
  write('openapi-v3.txt', [JSON.stringify(index), ...[...openapi.values()].map((each) => each.text)].join('\n'))
  write('custom.json', await customTemplate())
}

/** Which version objects are stored in is only told by a hash of it: looks which of the kind's versions it belongs to. */
async function addStorageVersions(groups: Json[]): Promise<void> {
  const versions = new Map<string, string[]>()
  for (const group of groups) {
    for (const { version, resources } of group['versions']) {
      for (const { responseKind } of resources) {
        const of = versions.get(responseKind.kind) ?? []
        versions.set(responseKind.kind, [...of, `${group['metadata'].name ?? ''}/${version}`])
      }
    }
  }
  for (const group of groups) {
    const name: string = group['metadata'].name ?? ''
    for (const { version, resources } of group['versions']) {
      const list = await get(name === '' ? `/api/${version}` : `/apis/${name}/${version}`)
      for (const resource of resources) {
        const hash = list.resources.find((each: Json) => each['name'] === resource.resource).storageVersionHash
        if (hash === undefined) continue
        resource.storageVersionHash = hash
        const kind = resource.responseKind.kind
        const candidates = [...versions.get(kind)!, ...['v1beta1', 'v1beta2', 'v1alpha1'].map((each) => `${name}/${each}`)]
        const storage = candidates.find((each) => storageHash(each, kind) === hash)
        if (storage === undefined) throw new Error(`which version of ${kind} is stored? ${hash}`)
        // A version that is no longer served (a few kinds are stored in their last beta) is nothing that an object can be shown in.
        if (storage !== `${name}/${version}` && versions.get(kind)!.includes(storage)) resource.storageVersion = storage
      }
    }
  }
}

function storageHash(groupVersion: string, kind: string): string {
  return createHash('sha256').update(`${groupVersion}/${kind}`).digest().subarray(0, 8).toString('base64')
}

function withoutFreshness(group: Json): Json {
  return { ...group, versions: group['versions'].map(({ version, resources }: Json) => ({ version, resources })) }
}

async function checks(path: string): Promise<string[]> {
  const lines = (await text(`${path}?verbose`)).split('\n')
  return lines.flatMap((line) => /^\[\+\](\S+) ok$/.exec(line)?.[1] ?? [])
}

async function documents(): Promise<Map<string, { text: string; hash: string }>> {
  const all = new Map<string, { text: string; hash: string }>()
  const { paths } = await get('/openapi/v3')
  for (const path of Object.keys(paths).sort()) {
    const url: string = paths[path].serverRelativeURL
    all.set(path, { text: await text(url), hash: new URL(url, server).searchParams.get('hash')! })
  }
  return all
}

function schemasOf(openapi: Map<string, { text: string }>): Map<string, Json> {
  const all = new Map<string, Json>()
  for (const { text } of openapi.values()) {
    for (const [name, schema] of Object.entries<Json>(JSON.parse(text).components?.schemas ?? {})) all.set(name, schema)
  }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** `group/version/Kind` → name of its definition. */
function definitionOfKinds(schemas: Map<string, Json>): Json {
  const kinds: Json = {}
  for (const [name, schema] of schemas) {
    const of: Json[] = schema['x-kubernetes-group-version-kind'] ?? []
    // DeleteOptions and WatchEvent are kinds of each group.
    for (const { group, version, kind } of of.length > 1 ? [] : of) kinds[`${group}/${version}/${kind}`] = name
  }
  return kinds
}

/** What patches, server-side apply and pruning need of a schema. A reference is `$ref` with the bare name of a definition. */
function lean(schema: Json): Json {
  const result: Json = {}
  for (const [key, value] of Object.entries(schema)) {
    if (['description', 'x-kubernetes-group-version-kind', 'x-kubernetes-unions'].includes(key)) continue
    if (key === 'default' && typeof value === 'object') continue
    if (key === '$ref') result['$ref'] = value.replace('#/components/schemas/', '')
    else if (key === 'allOf' && value.length === 1 && value[0].$ref) Object.assign(result, lean(value[0]))
    else if (key === 'properties') result[key] = Object.fromEntries(Object.entries<Json>(value).map(([name, each]) => [name, lean(each)]))
    else if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) result[key] = lean(value)
    else if (key === 'oneOf' || key === 'anyOf' || key === 'allOf') result[key] = value.map(lean)
    else result[key] = value
  }
  return result
}

async function columns(groups: Json[]): Promise<Json> {
  const all: Json = {}
  for (const group of groups) {
    const name: string = group['metadata'].name ?? ''
    for (const { version, resources } of group['versions']) {
      for (const { resource, verbs } of resources) {
        if (!verbs.includes('list')) continue
        const path = name === '' ? `/api/${version}/${resource}` : `/apis/${name}/${version}/${resource}`
        all[`${name}/${version}/${resource}`] = (await get(path, TABLE)).columnDefinitions
      }
    }
  }
  return all
}

/**
 * The OpenAPI documents of a custom group, with words in place of what differs from kind to kind. The kinds have names that
 * occur nowhere else.
 */
async function customTemplate(): Promise<Json> {
  const GROUP = 'zgroup.zdomain'
  const VERSION = 'v7alpha7'
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'string' } } } }
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const definition = (plural: string, kind: string, scope: string) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope,
      names: { plural, kind },
      versions: [{ name: VERSION, served: true, storage: true, schema, subresources: { status: {}, scale } }],
    },
  })
  const generalise = (value: unknown, plural: string, kind: string) =>
    JSON.stringify(value)
      .replaceAll(new RegExp(`\\ban? ${kind}\\b`, 'g'), '<a> <kind>')
      .replaceAll('zdomain.zgroup.v7alpha7', '<schema>')
      .replaceAll('zgroupZdomain_v7alpha7', '<tag>')
      .replaceAll('ZgroupZdomainV7alpha7', '<operation>')
      .replaceAll(GROUP, '<group>')
      .replaceAll(VERSION, '<version>')
      .replaceAll(plural, '<plural>')
      .replaceAll(kind, '<kind>')
  const path = `/openapi/v3/apis/${GROUP}/${VERSION}`
  try {
    await send('POST', DEFINITIONS, definition('yplurals', 'Ykind', 'Namespaced'))
    await send('POST', DEFINITIONS, definition('zplurals', 'Zkind', 'Cluster'))
    let v3 = ''
    for (let i = 0; i < 300 && !(v3.includes('/yplurals') && v3.includes('/zplurals')); i++) {
      await sleep(100)
      v3 = await text(path).catch(() => '')
    }
    const document = JSON.parse(v3)
    await sleep(3000)
    const v2 = await get('/openapi/v2')
    const pathsOf = (paths: Json, plural: string, kind: string) =>
      Object.fromEntries(
        Object.keys(paths)
          .filter((each) => each.includes(`/${plural}`))
          .map((each) => [JSON.parse(generalise(each, plural, kind)), generalise(paths[each], plural, kind)]),
      )
    const { schemas } = document.components
    const { properties } = schemas['zdomain.zgroup.v7alpha7.Ykind']
    const shared = Object.entries(schemas).filter(([name]) => !name.startsWith('zdomain.'))
    return {
      v3: {
        info: document.info,
        namespaced: pathsOf(document.paths, 'yplurals', 'Ykind'),
        cluster: pathsOf(document.paths, 'zplurals', 'Zkind'),
        list: generalise(schemas['zdomain.zgroup.v7alpha7.YkindList'], 'yplurals', 'Ykind'),
        properties: { apiVersion: properties.apiVersion, kind: properties.kind, metadata: properties.metadata },
        schemas: Object.fromEntries(shared),
      },
      v2: {
        namespaced: pathsOf(v2.paths, 'yplurals', 'Ykind'),
        cluster: pathsOf(v2.paths, 'zplurals', 'Zkind'),
        list: generalise(v2.definitions['zdomain.zgroup.v7alpha7.YkindList'], 'yplurals', 'Ykind'),
      },
    }
  } finally {
    await send('DELETE', `${DEFINITIONS}/yplurals.${GROUP}`)
    await send('DELETE', `${DEFINITIONS}/zplurals.${GROUP}`)
  }
}

function write(name: string, content: object | string): void {
  const data = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
  const compressed = brotliCompressSync(data, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: data.length,
    },
  })
  writeFileSync(`${out}/${name}.br`, compressed)
  process.stdout.write(`${name}: ${data.length} bytes, ${compressed.length} compressed\n`)
}

async function get(path: string, accept = 'application/json'): Promise<Json> {
  return JSON.parse(await text(path, accept))
}

function text(path: string, accept = 'application/json'): Promise<string> {
  return send('GET', path, undefined, accept)
}

function send(method: string, path: string, body?: object, accept = 'application/json'): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, server), { method, headers, ca: CA }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString()
        if (response.statusCode! < 300) resolve(answer)
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer.slice(0, 300)}`))
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
