/** Paths, discovery, documents, media types. */
import type { Case } from '../case.ts'
import { configMap, S } from '../objects.ts'
import { type Body, DEFINITIONS, version } from '../world.ts'

/** A real server lists the kinds of a custom group in any order. */
const inOrder = (value: Body): Body =>
  JSON.parse(JSON.stringify(value), (key, each) =>
    key === 'resources' ? each.sort((a: Body, b: Body) => (nameOf(a) < nameOf(b) ? -1 : 1)) : each,
  )
const nameOf = ({ name, resource }: Body): string => name ?? resource

export const cases: readonly Case[] = [
  {
    id: 'custom-group-discovered',
    title: 'A custom group with several kinds and versions, in all forms of discovery',
    async run(t) {
      const subresources = { status: {}, scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' } }
      const v = (name: string, storage: boolean, more: object = {}) => version(name, { spec: S.any, status: S.any }, { storage, ...more })
      await t.define({
        plural: 'alphas',
        kind: 'Alpha',
        names: { shortNames: ['al', 'a1'], categories: ['all', 'letters'], singular: 'one-alpha' },
        versions: [v('v1', true, { subresources }), v('v2beta1', false), v('v1alpha1', false), v('v10', false, { served: false })],
      })
      await t.define({ plural: 'betas', kind: 'Beta', scope: 'Cluster', versions: [v('v2beta1', true)] })
      await t.until(`/apis/${t.group}/v2beta1`, ({ body }) => body.resources?.length === 2, { pick: inOrder })
      await t.get(`/apis/${t.group}`)
      await t.get(`/apis/${t.group}/v1`)
      await t.get(`/apis/${t.group}/v10`)
      await t.until(
        '/apis',
        ({ body }) => body.items?.some((each: Body) => each.metadata.name === t.group && each.versions[0]?.resources.length > 0),
        {
          headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
          pick: ({ kind, apiVersion, items }) => ({
            kind,
            apiVersion,
            group: inOrder(items?.find((each: Body) => each.metadata.name === t.group)),
          }),
        },
      )
      await t.get('/apis', { pick: ({ groups }) => groups?.find((each: Body) => each.name === t.group) })
    },
  },
  {
    id: 'custom-kind-documented',
    title: "A custom kind's OpenAPI: descriptions, defaults, extensions, and the operations kubectl looks for",
    async run(t) {
      const spec = S.object(
        {
          a: { type: 'string', description: 'What it is.', default: 'x', enum: ['x', 'y'] },
          n: { type: 'integer', format: 'int32', minimum: 1 },
          either: { 'x-kubernetes-int-or-string': true },
          list: S.list(S.object({ k: S.string }, { required: ['k'] }), {
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
          }),
          free: S.any,
          maybe: { type: 'string', nullable: true },
        },
        { description: 'Wanted.', required: ['a'] },
      )
      await t.define({
        plural: 'things',
        kind: 'Thing',
        versions: [version('v1', { spec, status: S.any }, { subresources: { status: {} } })],
      })
      const document = `/openapi/v3/apis/${t.group}/v1`
      await t.until(document, ({ status }) => status === 200, {
        pick: ({ openapi, paths, components }) => ({
          openapi,
          paths: Object.keys(paths ?? {}).sort(),
          schemas: Object.keys(components?.schemas ?? {})
            .filter((name) => name.includes('Thing'))
            .sort(),
        }),
      })
      await t.get(document, {
        pick: ({ components }) => Object.entries(components?.schemas ?? {}).find(([name]) => name.endsWith('.v1.Thing'))?.[1],
      })
      await t.get(document, {
        pick: ({ paths }) => Object.entries((paths ?? {}) as Body).find(([path]) => path.endsWith('/things/{name}'))?.[1],
      })
    },
  },
  {
    id: 'paths-that-are-none',
    title: 'Paths that lead nowhere, methods that are not allowed, and slashes too many',
    async run(t) {
      await t.get('/apis/none.example.com')
      await t.get('/apis/none.example.com/v1/things')
      await t.get('/api/v2')
      await t.get('/api/v1/nothings')
      await t.get('nothings/a')
      await t.get('configmaps/a/nothing')
      await t.get('/apis/apps/v1/deployments/web')
      await t.get('/apis/apps/v9/deployments')
      await t.get('configmaps/', { pick: ({ kind }) => kind })
      await t.get('/api/v1/namespaces//configmaps', { pick: ({ kind }) => kind })
      await t.post('configmaps/a', configMap('a'))
      await t.put('configmaps', configMap('a'))
      await t.ask('PATCH', 'configmaps', {}, { headers: { 'content-type': 'application/merge-patch+json' } })
      await t.delete('/api/v1/namespaces')
      await t.ask('TRACE', 'configmaps')
      await t.get('/healthz')
      await t.get('/livez/ping')
      await t.get('/readyz/nonsense')
      await t.get('/api', { pick: ({ versions }) => versions })
    },
  },
  {
    id: 'media-types',
    title: 'What a client accepts and sends: lists with preferences, unknown types, and none at all',
    async run(t) {
      await t.quiet.post('configmaps', configMap('a', { k: 'v' }))
      const accept = (accept: string) => t.get('configmaps/a', { headers: { accept }, pick: (body) => body.kind ?? typeof body })
      await accept('application/json, */*')
      await accept('*/*')
      await accept('application/*')
      await accept('text/plain, application/yaml;q=0.5')
      await accept('text/html')
      await accept('application/json;as=Nothing;v=v1;g=meta.k8s.io')
      await accept('application/json;as=Table;v=v9;g=meta.k8s.io')
      await accept('application/json;as=Table;v=v1;g=meta.k8s.io;charset=utf-8')
      await accept('application/json;pretty=1')
      const send = (type: string, body: string) =>
        t.post('configmaps?dryRun=All', body, {
          headers: { 'content-type': type },
          pick: (body) => (body.kind === 'Status' ? body : body.kind),
        })
      await send('application/json; charset=utf-8', '{"metadata":{"name":"x"}}')
      await send('application/xml', '<x/>')
      await send('', '{"metadata":{"name":"x"}}')
      await send('text/yaml', 'metadata: {name: x}')
      await send('application/json', '')
      await send('application/json', '   ')
      await send('application/json', 'null')
      await send('application/json', '{"metadata":{"name":"x"}}{"more":1}')
      await send('application/json', '{"metadata":{"name":"x"},}')
      await send('application/json', '{"apiVersion":"v1","kind":"ConfigMapList","items":[]}')
      await send('application/json', '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}')
    },
  },
  {
    id: 'query-parameters-bad',
    title: 'Parameters with values that they cannot have',
    async run(t) {
      await t.post('configmaps?dryRun=Some', configMap('a'))
      await t.post('configmaps?fieldValidation=Lenient', configMap('a'))
      await t.post(`configmaps?fieldManager=${encodeURIComponent('tab\there')}`, configMap('a'))
      await t.post('configmaps?dryRun=All&dryRun=All', configMap('a'), { pick: (body) => body.kind })
      await t.post('configmaps?pretty=maybe&unknown=1', configMap('b'), { pick: (body) => body.kind })
      await (await t.watch('configmaps?watch=yes&fieldSelector=metadata.name%3Dnone')).events(0)
      await t.get('configmaps?limit=1.5')
      await t.get('configmaps?timeoutSeconds=soon')
      await t.get('configmaps?resourceVersion=&limit=&continue=', { pick: (body) => body.kind })
      await t.delete('configmaps/b?gracePeriodSeconds=x')
      await t.delete('configmaps/b?orphanDependents=perhaps')
      await t.get(`${DEFINITIONS}?labelSelector=none%3Dhere`)
    },
  },
]
