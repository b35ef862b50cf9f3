/** Lists, pages, selectors and watches, while others write. */
import type { Case } from '../case.ts'
import { configMap, deployment, S } from '../objects.ts'
import { type Body, version } from '../world.ts'

const names = ({ items, metadata }: Body) => ({ metadata, names: items?.map((each: Body) => each.metadata.name) })
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const PARTIAL = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
const BOOKMARKS = 'allowWatchBookmarks=true'

export const cases: readonly Case[] = [
  {
    id: 'pages-while-writing',
    title: 'Pages show one moment, whatever is made, changed and deleted between them',
    async run(t) {
      for (const name of ['b', 'd', 'f', 'h', 'j']) await t.quiet.post('secrets', { metadata: { name, labels: { p: 'x' } } })
      const first = await t.get('secrets?limit=2', { pick: names })
      await t.quiet.post('secrets', { metadata: { name: 'a' } })
      await t.quiet.post('secrets', { metadata: { name: 'e' } })
      await t.quiet.delete('secrets/f')
      await t.quiet.merge('secrets/h', { stringData: { new: 'x' } })
      const second = await t.get(`secrets?limit=2&continue=${encodeURIComponent(first.body.metadata.continue)}`)
      await t.get(`secrets?limit=1&continue=${encodeURIComponent(second.body.metadata.continue)}`, { pick: names })
      await t.get(`secrets?continue=${encodeURIComponent(first.body.metadata.continue)}`, { pick: names })
      await t.get(`secrets?limit=2&continue=${encodeURIComponent(first.body.metadata.continue)}&labelSelector=p`, { pick: names })
      await t.get('secrets?limit=2', { pick: names })
    },
  },
  {
    id: 'pages-with-selectors',
    title: 'Pages of a selection have no count of what remains, and come to their end',
    async run(t) {
      for (const [i, name] of ['a', 'b', 'c', 'd', 'e'].entries())
        await t.quiet.post('secrets', { metadata: { name, labels: { odd: String(i % 2) } } })
      const one = await t.get('secrets?limit=1&labelSelector=odd%3D0', { pick: names })
      const two = await t.get(`secrets?limit=1&labelSelector=odd%3D0&continue=${encodeURIComponent(one.body.metadata.continue)}`, {
        pick: names,
      })
      await t.get(`secrets?limit=1&labelSelector=odd%3D0&continue=${encodeURIComponent(two.body.metadata.continue)}`, { pick: names })
      await t.get('secrets?limit=3&fieldSelector=metadata.name!%3Db', { pick: names })
      await t.get('secrets?limit=0', { pick: names })
      await t.get('secrets?limit=-1', { pick: names })
      await t.get('secrets?limit=x', { pick: (body) => body })
      await t.get('secrets?continue=%20', { pick: (body) => body })
    },
  },
  {
    id: 'selectors-of-all-sorts',
    title: 'Label selectors: sets, absence, numbers, empty values, and those that are none',
    async run(t) {
      const with_ = (name: string, labels: object) => t.quiet.post('secrets', { metadata: { name, labels } })
      await with_('a', { env: 'prod', n: '5' })
      await with_('b', { env: 'dev', n: '10', 'example.com/x': '' })
      await with_('c', { n: 'x' })
      await with_('d', {})
      const select = (selector: string) =>
        t.get(`secrets?labelSelector=${encodeURIComponent(selector)}`, { pick: (body) => (body.items ? names(body).names : body) })
      for (const selector of [
        'env in (prod, dev)',
        'env notin (prod)',
        '!env',
        'n>5',
        'n<6',
        'n > x',
        'example.com/x=',
        'example.com/x',
        'env=',
        'env==prod,n',
        'env!=prod',
        'env in ()',
        'env in (,)',
        ',',
        'env in (prod',
        '=x',
        'env = prod dev',
        '!env=x',
        'ENV',
        'a/b/c',
        'env in (prod),env',
      ])
        await select(selector)
    },
  },
  {
    id: 'field-selectors-of-all-sorts',
    title: 'Field selectors: several terms, inequality, escapes, unknown fields of built-in and custom kinds',
    async run(t) {
      for (const name of ['a', 'b']) await t.quiet.post('secrets', { metadata: { name } })
      const select = (path: string, selector: string) =>
        t.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`, { pick: (body) => (body.items ? names(body).names : body) })
      await select('secrets', 'metadata.name=a,metadata.namespace!=x')
      await select('secrets', 'metadata.name!=a,metadata.name!=b')
      await select('secrets', 'type==Opaque')
      await select('secrets', 'metadata.name')
      await select('secrets', 'metadata.name=a\\,b')
      await select('secrets', 'data.x=1')
      await select('secrets', 'metadata.labels.x=1')
      await select('apps/v1/deployments', 'spec.replicas=1')
      await select('services', 'spec.type=ClusterIP')
      await select('pods', 'spec.nodeName=,status.phase!=Running')
      await select('events', 'involvedObject.kind=Pod,type=Warning')
      await select('secrets/a', 'metadata.name=b')
    },
  },
  {
    id: 'watch-selection-moves',
    title: 'A watch of a selection: an object enters, changes inside, leaves, comes back, and is deleted',
    async run(t) {
      const start = await t.get('configmaps?labelSelector=w', { pick: () => '' })
      const rv = start.body.metadata.resourceVersion
      const watch = await t.watch(`configmaps?watch=true&labelSelector=w%3D1&resourceVersion=${rv}`)
      const others = await t.watch(`configmaps?watch=true&labelSelector=w,w!%3D1&resourceVersion=${rv}`)
      await t.post('configmaps', configMap('a', {}, { labels: { w: '1' } }))
      await t.merge('configmaps/a', { data: { k: '1' } })
      await t.merge('configmaps/a', { metadata: { labels: { w: '2' } } })
      await t.merge('configmaps/a', { data: { k: '2' } })
      await t.merge('configmaps/a', { metadata: { labels: { w: '1' } } })
      await t.merge('configmaps/a', { metadata: { finalizers: ['example.com/f'] } })
      await t.delete('configmaps/a')
      await t.merge('configmaps/a', { metadata: { finalizers: null, labels: { w: '2' } } })
      await t.quiet.post('configmaps', configMap('end', {}, { labels: { w: '1' } }))
      await watch.events(8)
      await others.events(3)
    },
  },
  {
    id: 'watch-one-by-name',
    title: 'A watch of one name, as kubectl wait has it: state, end of state, changes, recreation',
    async run(t) {
      await t.post('configmaps', configMap('a'))
      await t.quiet.post('configmaps', configMap('b'))
      const watch = await t.watch(
        `configmaps?watch=true&fieldSelector=metadata.name%3Da&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&${BOOKMARKS}&timeoutSeconds=300`,
      )
      await watch.events(2)
      await t.merge('configmaps/b', { data: { x: '1' } })
      await t.merge('configmaps/a', { data: { x: '1' } })
      await t.delete('configmaps/a')
      await t.post('configmaps', configMap('a', { again: '1' }))
      await watch.events(5)
    },
  },
  {
    id: 'watch-list-empty-and-old',
    title: 'Watches that begin with the state, with every resourceVersion they may have',
    async run(t) {
      const made = await t.post('secrets', { metadata: { name: 'a' } })
      const rv = made.body.metadata.resourceVersion
      const open = async (path: string, count: number) => (await t.watch(path)).events(count)
      await open('secrets?watch=1', 1)
      await open('secrets?watch=1&resourceVersion=0', 1)
      await open(`secrets?watch=1&resourceVersion=${rv}`, 0)
      await open(`secrets?watch=1&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&${BOOKMARKS}`, 2)
      await open(`secrets?watch=1&resourceVersion=${rv}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`, 1)
      await open('secrets?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', 0)
      await open('secrets?watch=1&sendInitialEvents=true', 0)
      await open('secrets?watch=1&resourceVersionMatch=Exact&resourceVersion=1', 0)
      await open('secrets?watch=1&resourceVersionMatch=NotOlderThan', 0)
      await open(`secrets?watch=1&labelSelector=none&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&${BOOKMARKS}`, 1)
      await open('secrets/a?watch=1', 0)
      await open('secrets?watch=perhaps', 0)
    },
  },
  {
    id: 'watch-ends',
    title: 'A watch ends after its timeout, with a bookmark before where it asked for one',
    async run(t) {
      const watch = await t.watch('secrets?watch=1&timeoutSeconds=1')
      await watch.end()
      await t.get('secrets?timeoutSeconds=1', { pick: names })
    },
  },
  {
    id: 'watch-custom-through-definition',
    title: 'A watch of custom objects through the deletion of their definition',
    async run(t) {
      await t.define({ plural: 'things', kind: 'Thing', versions: [version('v1', { spec: S.any })] })
      const things = `${t.group}/v1/things`
      const made = await t.post(things, { apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name: 'a' } })
      const watch = await t.watch(`${things}?watch=1&resourceVersion=${made.body.metadata.resourceVersion}`)
      await t.post(things, { apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name: 'b', finalizers: ['example.com/f'] } })
      await t.quiet.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${t.group}`)
      await t.until(`${things}/b`, ({ body }) => body.metadata?.deletionTimestamp !== undefined)
      await t.gone(`${things}/a`)
      await t.merge(`${things}/b`, { metadata: { finalizers: null } })
      await t.gone(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${t.group}`)
      await watch.end()
    },
  },
  {
    id: 'table-watch-of-deployments',
    title: 'A watch of Deployments as tables, as kubectl get -w has it',
    async run(t) {
      await t.post('apps/v1/deployments', deployment('web', { replicas: 2 }))
      const list = await t.get('apps/v1/deployments?limit=500', { headers: { accept: TABLE } })
      const watch = await t.watch(`apps/v1/deployments?watch=true&resourceVersion=${list.body.metadata.resourceVersion}`, { accept: TABLE })
      await t.quiet.merge('apps/v1/deployments/web', { spec: { replicas: 3 } })
      await t.quiet.merge('apps/v1/deployments/web/status', {
        status: { replicas: 3, readyReplicas: 1, updatedReplicas: 3, availableReplicas: 1 },
      })
      await t.quiet.delete('apps/v1/deployments/web', { propagationPolicy: 'Background' })
      await watch.events(3)
    },
  },
  {
    id: 'partial-objects',
    title: 'Metadata only: lists, single objects, watches, and what asks for it in vain',
    async run(t) {
      await t.post('apps/v1/deployments', deployment('web', {}, { labels: { a: 'b' } }))
      await t.get('apps/v1/deployments', { headers: { accept: PARTIAL } })
      await t.get('apps/v1/deployments/web', { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } })
      await t.get('apps/v1/deployments/web', { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' } })
      await t.get('apps/v1/deployments', { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } })
      await t.get('apps/v1/deployments/web', { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1' } })
      const watch = await t.watch('apps/v1/deployments?watch=1&resourceVersion=0', {
        accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      })
      await watch.events(1)
      await t.merge(
        'apps/v1/deployments/web',
        { metadata: { labels: { a: 'c' } } },
        { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } },
      )
      await t.get('apps/v1/deployments/none', { headers: { accept: PARTIAL } })
    },
  },
  {
    id: 'tables-of-many-kinds',
    title: 'Tables of kinds that kubectl prints, with and without objects in their rows',
    async run(t) {
      const table = { headers: { accept: TABLE } }
      const ports = [
        { name: 'http', port: 80 },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ]
      await t.quiet.post('services', { metadata: { name: 'web' }, spec: { type: 'LoadBalancer', ports } })
      await t.quiet.post('batch/v1/jobs', {
        metadata: { name: 'job' },
        spec: { suspend: true, completions: 3, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] } } },
      })
      await t.quiet.post('batch/v1/cronjobs', {
        metadata: { name: 'cron' },
        spec: {
          suspend: true,
          timeZone: 'Etc/UTC',
          schedule: '*/5 * * * *',
          jobTemplate: { spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'c', image: 'i:1' }] } } } },
        },
      })
      await t.quiet.post('persistentvolumeclaims', {
        metadata: { name: 'pvc' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      })
      await t.quiet.post('networking.k8s.io/v1/ingresses', {
        metadata: { name: 'ing' },
        spec: { ingressClassName: 'x', tls: [{ hosts: ['a.example.com'] }], rules: [{ host: 'a.example.com' }, { host: 'b.example.com' }] },
      })
      await t.quiet.post('secrets', { metadata: { name: 's' }, stringData: { a: '1', b: '2' } })
      for (const path of [
        'services',
        'batch/v1/jobs',
        'batch/v1/cronjobs',
        'persistentvolumeclaims',
        'networking.k8s.io/v1/ingresses',
        'secrets',
        'serviceaccounts',
      ])
        await t.get(`${path}?includeObject=None`, {
          ...table,
          pick: ({ rows, columnDefinitions }: Body) => ({ rows, columns: columnDefinitions?.map((each: Body) => each.name) }),
        })
      await t.get('services/web?includeObject=Object', table)
      await t.get('services/web?includeObject=Some', table)
      await t.get('services/none', table)
    },
  },
  {
    id: 'lists-at-versions',
    title: 'Lists at the versions a client has seen: exactly, not older, of the past before a deletion',
    async run(t) {
      const a = await t.post('secrets', { metadata: { name: 'a' } })
      const b = await t.post('secrets', { metadata: { name: 'b' } })
      await t.delete('secrets/a')
      const [ra, rb] = [a, b].map(({ body }) => body.metadata.resourceVersion)
      await t.get(`secrets?resourceVersion=${ra}&resourceVersionMatch=Exact`)
      await t.get(`secrets?resourceVersion=${rb}&resourceVersionMatch=Exact&limit=1`, { pick: names })
      await t.get(`secrets?resourceVersion=${ra}&resourceVersionMatch=NotOlderThan`, { pick: names })
      await t.get(`secrets?resourceVersion=${ra}&limit=5`, { pick: names })
      await t.get(`secrets/b?resourceVersion=${ra}`)
      await t.get('secrets?resourceVersionMatch=Exact')
      await t.get('secrets?resourceVersion=0&resourceVersionMatch=Exact')
      await t.get('secrets?resourceVersion=-1')
      await t.get('secrets?resourceVersionMatch=Sometimes&resourceVersion=1')
      await t.delete(`secrets?resourceVersion=${ra}&resourceVersionMatch=Exact`)
      await t.get('secrets', { pick: names })
    },
  },
  {
    id: 'list-across-namespaces',
    title: 'A list across namespaces by label, and writes at its path',
    async run(t) {
      const label = { mark: t.id }
      await t.post('configmaps', configMap('a', {}, { labels: label }))
      await t.quiet.post('/api/v1/namespaces/default/configmaps', configMap(`b-${t.id}`, {}, { labels: label }))
      await t.get(`/api/v1/configmaps?labelSelector=mark%3D${t.id}`)
      await t.get(`/api/v1/configmaps?labelSelector=mark%3D${t.id}&fieldSelector=metadata.namespace%3Ddefault`, { pick: names })
      await t.post('/api/v1/configmaps', configMap('c', {}, { namespace: t.namespace }))
      await t.delete(`/api/v1/configmaps?labelSelector=mark%3D${t.id}`)
      await t.quiet.delete(`/api/v1/namespaces/default/configmaps/b-${t.id}`)
    },
  },
]
