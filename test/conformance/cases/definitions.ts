/** CustomResourceDefinitions: what they may say, what becomes of them, and their objects meanwhile. */
import type { Case } from '../case.ts'
import { S } from '../objects.ts'
import { type Body, DEFINITIONS, version, type World } from '../world.ts'

const PRINTED = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const withoutTimes = ({ status, ...rest }: Body): Body => ({
  ...rest,
  status: { ...status, conditions: status?.conditions?.map(({ lastTransitionTime: _, ...each }: Body) => each) },
})
const crd = (t: World, spec: object = {}, plural = 'things') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${t.group}` },
  spec: { group: t.group, scope: 'Namespaced', names: { plural, kind: 'Thing' }, versions: [version('v1', { spec: S.any })], ...spec },
})
const refused = { pick: ({ message, reason, details, status }: Body) => ({ status, message, reason, details }) }

export const cases: readonly Case[] = [
  {
    id: 'definition-applied',
    title: "A definition applied as an operator's installer does, then by another with one version more",
    async run(t) {
      const path = `${DEFINITIONS}/things.${t.group}`
      await t.apply(`${path}?fieldManager=install&force=true`, crd(t), {
        pick: ({ status: _, metadata: { managedFields, resourceVersion, generation, ...metadata }, ...rest }) => ({ ...rest, metadata }),
      })
      await t.served('things')
      await t.post(`${t.group}/v1/things`, { apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: { x: 1 } })
      const two = [
        version('v1', { spec: S.any }, { storage: false, deprecated: true }),
        version('v2', { spec: S.object({ x: S.int, y: { type: 'integer', default: 3 } }) }),
      ]
      await t.quiet.apply(`${path}?fieldManager=install`, crd(t, { versions: two }))
      await t.until(`${t.group}/v2/things/a`, ({ status }) => status === 200)
      await t.get(path, { pick: (body) => withoutTimes({ ...body, metadata: {} }) })
      await t.get(`${t.group}/v1/things/a`)
      await t.merge(`${t.group}/v1/things/a`, { metadata: { labels: { touched: 'yes' } } })
      await t.get(`${t.group}/v2/things`)
      await t.merge(path, { spec: { versions: [two[1]] } }, refused)
      await t.merge(`${path}/status`, { status: { storedVersions: ['v2'] } }, { pick: ({ status }) => status?.storedVersions })
      await t.merge(path, { spec: { versions: [two[1]] } }, { pick: ({ spec }) => spec?.versions?.map((each: Body) => each.name) })
    },
  },
  {
    id: 'definition-refused',
    title: 'Definitions that are wrong in one thing each',
    async run(t) {
      const v = (schema: unknown, more: object = {}) => [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more },
      ]
      const try_ = (spec: object, plural?: string) => t.post(`${DEFINITIONS}?dryRun=All`, crd(t, spec, plural), refused)
      await try_({ versions: [] })
      await try_({ versions: [{ name: 'v1', served: true, storage: true }] })
      await try_({
        versions: v({ type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string', default: 1 } } } } }),
      })
      await try_({
        versions: v({
          type: 'object',
          properties: { spec: { type: 'object', properties: { a: { type: 'array' }, b: { type: 'text' } }, required: ['zz'] } },
        }),
      })
      await try_({ versions: v({ type: 'object', properties: { spec: { anyOf: [{ type: 'object' }] } } }) })
      await try_({
        versions: v({
          type: 'object',
          properties: {
            status: {
              type: 'object',
              properties: {
                list: {
                  type: 'array',
                  items: { type: 'object', properties: { k: S.string } },
                  'x-kubernetes-list-type': 'map',
                  'x-kubernetes-list-map-keys': ['k'],
                },
              },
            },
          },
        }),
      })
      await try_({
        versions: v({
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: {
                p: { type: 'string', pattern: '(' },
                n: { type: 'integer', minimum: 5, maximum: 1 },
                f: { type: 'string', format: 'odd' },
              },
            },
          },
        }),
      })
      await try_({
        versions: v(
          { type: 'object' },
          {
            additionalPrinterColumns: [
              { name: 'X', type: 'words', jsonPath: 'spec.x' },
              { name: 'X', type: 'string', jsonPath: '.spec[' },
            ],
          },
        ),
      })
      await try_({
        versions: v(
          { type: 'object' },
          { subresources: { scale: { specReplicasPath: 'spec.replicas', statusReplicasPath: '.spec.replicas' } } },
        ),
      })
      await try_({ versions: v({ type: 'object' }, { selectableFields: [{ jsonPath: '.spec.none' }, { jsonPath: '.metadata.name' }] }) })
      await try_({ names: { plural: 'Things', kind: 'thing', shortNames: ['T'] } })
      await try_({ conversion: { strategy: 'Webhook' } })
      await try_({ group: 'nodots' })
      await try_({ scope: 'Galaxy', preserveUnknownFields: true })
    },
  },
  {
    id: 'printer-columns',
    title: 'Columns: filters, dates, counts, lists, what is not there, and priorities',
    async run(t) {
      const columns = [
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: 'First', type: 'string', jsonPath: '.spec.items[0]' },
        { name: 'All', type: 'string', jsonPath: '.spec.items[*]' },
        { name: 'Map', type: 'string', jsonPath: '.spec.map' },
        { name: 'Count', type: 'integer', jsonPath: '.spec.count' },
        { name: 'Rate', type: 'number', jsonPath: '.spec.rate' },
        { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
        { name: 'When', type: 'date', jsonPath: '.spec.when' },
        { name: 'Dotted', type: 'string', jsonPath: '.metadata.annotations.example\\.com/x', priority: 1, description: 'An annotation.' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ]
      await t.define({
        plural: 'things',
        kind: 'Thing',
        versions: [version('v1', { spec: S.any, status: S.any }, { additionalPrinterColumns: columns })],
      })
      const make = (name: string, spec: object, more: object = {}) =>
        t.quiet.post(`${t.group}/v1/things`, {
          apiVersion: `${t.group}/v1`,
          kind: 'Thing',
          metadata: { name, annotations: { 'example.com/x': 'note' } },
          spec,
          ...more,
        })
      await make(
        'a',
        { items: ['x', 'y'], map: { k: 1 }, count: 3, rate: 0.5, on: true, when: '2001-01-01T00:00:00Z' },
        {
          status: {
            conditions: [
              { type: 'Other', status: 'False' },
              { type: 'Ready', status: 'True' },
            ],
          },
        },
      )
      await make('b', { items: [], count: '7', rate: 2, on: 'yes', when: 'never' })
      await make('c', { items: null, count: 1.5, rate: 'x', on: null })
      await t.get(`${t.group}/v1/things`, {
        headers: { accept: PRINTED },
        pick: ({ rows, ...rest }) => ({
          ...rest,
          rows: rows?.map(({ cells }: Body) => ({ cells: cells.map((cell: unknown) => (/^\d+y/.test(String(cell)) ? 'years' : cell)) })),
        }),
      })
      await t.get(`${t.group}/v1/things/b`, { headers: { accept: PRINTED } })
    },
  },
  {
    id: 'cluster-scoped-custom',
    title: 'A custom kind of the whole cluster, its paths, and a namespace where none belongs',
    async run(t) {
      await t.define({ plural: 'globals', kind: 'Global', scope: 'Cluster', versions: [version('v1', { spec: S.any })] })
      const all = `/apis/${t.group}/v1/globals`
      const global = (name: string, more: object = {}) => ({ apiVersion: `${t.group}/v1`, kind: 'Global', metadata: { name, ...more } })
      await t.post(all, global('a'))
      await t.post(all, global('b', { namespace: 'default' }))
      await t.post(`${t.group}/v1/globals`, global('c'))
      await t.get(`${t.group}/v1/globals`)
      await t.apply(`${all}/d?fieldManager=m`, global('d', { namespace: 'default' }))
      await t.get(all)
      await t.delete(all, undefined, { pick: ({ items, ...rest }) => ({ ...rest, names: items?.map((each: Body) => each.metadata.name) }) })
    },
  },
  {
    id: 'schema-tightened',
    title: 'Objects from before a stricter schema: read, changed elsewhere, changed where they are wrong',
    async run(t) {
      const loose = S.object({ size: S.int, name: S.string, list: S.strings })
      await t.define({ plural: 'things', kind: 'Thing', versions: [version('v1', { spec: loose })] })
      const path = `${t.group}/v1/things/a`
      await t.post(`${t.group}/v1/things`, {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: { size: 50, name: 'Long Name', list: ['a', 'a'] },
      })
      const strict = S.object(
        {
          size: { type: 'integer', maximum: 10 },
          name: { type: 'string', pattern: '^[a-z]+$' },
          list: S.list({ type: 'string', maxLength: 5 }, { 'x-kubernetes-list-type': 'set', maxItems: 4 }),
          added: { type: 'string', default: 'now' },
        },
        { required: ['added'] },
      )
      await t.quiet.merge(`${DEFINITIONS}/things.${t.group}`, { spec: { versions: [version('v1', { spec: strict })] } })
      await t.until(path, ({ body }) => body.spec?.added === 'now')
      await t.merge(path, { metadata: { labels: { fine: 'yes' } } })
      await t.merge(path, { spec: { size: 60 } })
      await t.merge(path, { spec: { list: ['a', 'a', 'b'] } })
      await t.merge(path, { spec: { size: 5 } })
      await t.merge(path, { spec: { name: 'ok', list: ['b'] } })
      await t.merge(path, { spec: { name: 'Not OK' } })
      await t.merge(path, { spec: { added: null } })
    },
  },
  {
    id: 'definition-gone-and-back',
    title: 'A definition deleted with its objects and made again serves an empty list',
    async run(t) {
      await t.define({ plural: 'things', kind: 'Thing', versions: [version('v1', { spec: S.any })] })
      const things = `${t.group}/v1/things`
      const path = `${DEFINITIONS}/things.${t.group}`
      const thing = { apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name: 'a', finalizers: ['example.com/f'] } }
      await t.post(things, thing)
      await t.delete(path, undefined, { pick: () => '' })
      const ends = ({ body }: Body) =>
        body.status?.conditions?.some((each: Body) => each.type === 'Terminating' && each.reason === 'InstanceDeletionInProgress')
      await t.until(path, ends, {
        pick: (body) => withoutTimes({ status: body.status, metadata: { finalizers: body.metadata.finalizers } }),
      })
      await t.until(`${things}/a`, ({ body }) => body.metadata?.deletionTimestamp !== undefined, {
        pick: ({ metadata }) => metadata.finalizers,
      })
      await t.post(things, { ...thing, metadata: { name: 'b' } })
      await t.merge(`${things}/a`, { metadata: { finalizers: null } }, { pick: () => '' })
      await t.gone(path)
      await t.until(things, ({ status }) => status === 404)
      await t.quiet.post(DEFINITIONS, crd(t))
      await t.served('things')
      await t.get(things)
    },
  },
]
