/** Server-side apply: several managers, changes of mind, and writes in between. */
import type { Case } from '../case.ts'
import { configMap, container, deployment, S, service } from '../objects.ts'
import { version, type World } from '../world.ts'

/** A kind with every sort of list and map. */
const RICH = {
  spec: S.object({
    replicas: { type: 'integer', default: 1 },
    ports: S.list(
      S.object({ name: S.string, port: S.int, protocol: { type: 'string', default: 'TCP' }, tags: S.strings }, { required: ['port'] }),
      {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['port', 'protocol'],
      },
    ),
    features: S.list({ type: 'string' }, { 'x-kubernetes-list-type': 'set' }),
    args: S.strings,
    settings: { ...S.map({ type: 'string' }), 'x-kubernetes-map-type': 'granular' },
    selector: S.object({ app: S.string, tier: S.string }, { 'x-kubernetes-map-type': 'atomic' }),
    free: S.any,
  }),
  status: S.object({
    phase: S.string,
    conditions: S.list(S.object({ type: S.string, status: S.string, reason: S.string }, { required: ['type'] }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    }),
  }),
}

async function rich(t: World): Promise<{ path: string; thing: (spec?: object, more?: object) => object }> {
  await t.define({
    plural: 'things',
    kind: 'Thing',
    versions: [
      version('v1', RICH, {
        subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
      }),
    ],
  })
  const thing = (spec?: object, more: object = {}) => ({
    apiVersion: `${t.group}/v1`,
    kind: 'Thing',
    metadata: { name: 'a', ...more },
    ...(spec && { spec }),
  })
  return { path: `${t.group}/v1/things/a`, thing }
}

export const cases: readonly Case[] = [
  {
    id: 'three-managers-one-list',
    title: 'Three managers own items of one list by key; each takes its own back',
    async run(t) {
      const { path, thing } = await rich(t)
      await t.apply(`${path}?fieldManager=one`, thing({ ports: [{ port: 80, name: 'http' }] }))
      await t.apply(
        `${path}?fieldManager=two`,
        thing({
          ports: [
            { port: 80, protocol: 'UDP' },
            { port: 80, tags: ['x'] },
          ],
        }),
      )
      await t.apply(
        `${path}?fieldManager=three`,
        thing({
          ports: [
            { port: 443, name: 'tls' },
            { port: 80, protocol: 'TCP', name: 'http' },
          ],
        }),
      )
      await t.apply(`${path}?fieldManager=one`, thing({ ports: [] }))
      await t.apply(`${path}?fieldManager=three`, thing({}))
      await t.apply(`${path}?fieldManager=two`, thing())
      await t.apply(`${path}?fieldManager=two`, thing({ ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] }))
    },
  },
  {
    id: 'sets-and-atomics',
    title: 'Sets merge value by value, atomic lists and maps go over whole, with conflicts',
    async run(t) {
      const { path, thing } = await rich(t)
      await t.apply(
        `${path}?fieldManager=one`,
        thing({ features: ['b', 'a'], args: ['1', '2'], selector: { app: 'x' }, settings: { k: '1' } }),
      )
      await t.apply(`${path}?fieldManager=two`, thing({ features: ['c', 'b'], settings: { l: '2' } }))
      await t.apply(`${path}?fieldManager=two`, thing({ features: ['c'], args: ['1'], selector: { tier: 'y' }, settings: { k: '2' } }))
      await t.apply(
        `${path}?fieldManager=two&force=true`,
        thing({ features: ['c'], args: ['1'], selector: { tier: 'y' }, settings: { k: '2' } }),
      )
      await t.apply(`${path}?fieldManager=one`, thing({ features: ['a'] }))
      await t.merge(path, { spec: { features: ['c', 'd', 'a'] } })
      await t.apply(`${path}?fieldManager=one`, thing({ features: ['x', 'x'] }))
    },
  },
  {
    id: 'update-then-apply-same-name',
    title: 'One manager by update and by apply is two owners; an apply takes away only what was applied',
    async run(t) {
      const { path, thing } = await rich(t)
      await t.post(`${t.group}/v1/things?fieldManager=op`, thing({ settings: { a: '1', b: '2' } }))
      await t.apply(`${path}?fieldManager=op`, thing({ settings: { a: '1' } }))
      await t.apply(`${path}?fieldManager=op`, thing({ settings: { c: '3' } }))
      await t.apply(`${path}?fieldManager=op`, thing({ settings: { a: '9' } }))
      await t.apply(`${path}?fieldManager=op&force=true`, thing({ settings: { a: '9' } }))
    },
  },
  {
    id: 'scale-and-apply',
    title: 'A scale takes the replicas over from the applier; an apply without them leaves them, one with others is a conflict',
    async run(t) {
      const { path, thing } = await rich(t)
      await t.apply(`${path}?fieldManager=op`, thing({ replicas: 2, settings: { a: '1' } }))
      const scale = await t.get(`${path}/scale`)
      await t.put(`${path}/scale?fieldManager=hpa`, { ...scale.body, spec: { replicas: 5 } })
      await t.get(path)
      await t.apply(`${path}?fieldManager=op`, thing({ replicas: 2, settings: { a: '1' } }))
      await t.apply(`${path}?fieldManager=op`, thing({ settings: { a: '1' } }))
      await t.merge(`${path}/scale?fieldManager=kubectl`, { spec: { replicas: 3 } })
      await t.apply(`${path}/scale?fieldManager=ssa`, {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'a' },
        spec: { replicas: 4 },
      })
      await t.apply(`${path}/scale?fieldManager=ssa&force=true`, {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'a' },
        spec: { replicas: 4 },
      })
      await t.get(path)
    },
  },
  {
    id: 'status-by-many-hands',
    title: 'Conditions of several managers through the status subresource, with metadata that does not get through',
    async run(t) {
      const { path, thing } = await rich(t)
      await t.apply(`${path}?fieldManager=user`, thing({ replicas: 1 }))
      const status = (conditions: object[], phase?: string) => ({
        ...thing({ replicas: 9 }, { labels: { no: 'way' } }),
        status: { conditions, ...(phase && { phase }) },
      })
      await t.apply(`${path}/status?fieldManager=a`, status([{ type: 'Ready', status: 'False' }], 'Starting'))
      await t.apply(`${path}/status?fieldManager=b`, status([{ type: 'Healthy', status: 'True' }]))
      await t.apply(`${path}/status?fieldManager=b`, status([{ type: 'Ready', status: 'True' }]))
      await t.merge(`${path}/status?fieldManager=c`, { status: { phase: 'Ready' }, metadata: { annotations: { x: 'y' } } })
      await t.apply(`${path}/status?fieldManager=a`, status([]))
      await t.get(path)
    },
  },
  {
    id: 'apply-deployment-children',
    title: 'Containers, ports, volumes and environment of a Deployment by several managers',
    async run(t) {
      const base = deployment('web', {
        replicas: 1,
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            containers: [
              container({
                env: [{ name: 'A', value: '1' }],
                ports: [{ containerPort: 80 }],
                volumeMounts: [{ name: 'v', mountPath: '/v' }],
              }),
            ],
            volumes: [{ name: 'v', emptyDir: {} }],
          },
        },
      })
      const sidecar = (more: object = {}) => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1', ...more }] } } },
      })
      await t.apply('apps/v1/deployments/web?fieldManager=app', base)
      await t.apply('apps/v1/deployments/web?fieldManager=mesh', sidecar({ env: [{ name: 'A', value: '2' }] }))
      await t.strategic('apps/v1/deployments/web?fieldManager=kubectl-set', {
        spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2', env: [{ name: 'B', value: '3' }] }] } } },
      })
      await t.apply('apps/v1/deployments/web?fieldManager=app', base)
      await t.apply('apps/v1/deployments/web?fieldManager=mesh', { ...sidecar(), spec: {} })
      await t.json('apps/v1/deployments/web', [{ op: 'remove', path: '/spec/template/spec/containers/0/ports' }])
    },
  },
  {
    id: 'apply-service-ports',
    title: "A Service's ports are one by port and protocol, with node ports and cluster IPs that the server chose",
    async run(t) {
      await t.apply('services/web?fieldManager=a', service('web', { ports: [{ port: 80, name: 'http' }] }))
      await t.apply('services/web?fieldManager=b', service('web', { selector: {}, ports: [{ port: 443, name: 'https' }] }))
      await t.apply('services/web?fieldManager=a', service('web', { type: 'NodePort', ports: [{ port: 80, name: 'http' }] }))
      await t.apply('services/web?fieldManager=a', service('web', { ports: [{ port: 80, name: 'https' }] }))
      await t.apply('services/web?fieldManager=a', service('web', { clusterIP: 'None', ports: [{ port: 80, name: 'http' }] }))
      await t.apply(
        'services/web?fieldManager=a',
        service('web', { type: 'ExternalName', externalName: 'x.example.com', ports: [{ port: 80, name: 'http' }] }),
      )
    },
  },
  {
    id: 'apply-nulls',
    title: 'An apply with nulls and empty values',
    async run(t) {
      const { path, thing } = await rich(t)
      await t.apply(
        `${path}?fieldManager=one`,
        thing({ settings: {}, features: [], ports: null, free: { a: null } } as object, { labels: {} }),
      )
      await t.apply(`${path}?fieldManager=one`, thing({ settings: null, free: null } as object))
      await t.apply('configmaps/c?fieldManager=one', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c', labels: null },
        data: { a: null, b: '' },
      })
      await t.apply('configmaps/c?fieldManager=one', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: null })
    },
  },
  {
    id: 'apply-versions',
    title: 'Managers that apply in different versions of a kind share its fields',
    async run(t) {
      await t.define({
        plural: 'things',
        kind: 'Thing',
        versions: [version('v1', { spec: S.any }), version('v2', { spec: S.any }, { storage: false })],
      })
      const thing = (v: string, spec: object) => ({ apiVersion: `${t.group}/${v}`, kind: 'Thing', metadata: { name: 'a' }, spec })
      await t.apply(`${t.group}/v1/things/a?fieldManager=one`, thing('v1', { x: 1, y: 2 }))
      await t.apply(`${t.group}/v2/things/a?fieldManager=two`, thing('v2', { x: 1, z: 3 }))
      await t.apply(`${t.group}/v2/things/a?fieldManager=one`, thing('v2', { y: 3 }))
      await t.apply(`${t.group}/v1/things/a?fieldManager=two`, thing('v1', { y: 4 }))
      await t.apply(`${t.group}/v1/things/a?fieldManager=two`, thing('v2', { y: 4 }))
    },
  },
  {
    id: 'apply-refused',
    title: 'Applies that cannot be: no manager, no name, a list, managedFields, wrong versions, bad YAML',
    async run(t) {
      await t.apply('configmaps/a', configMap('a'))
      await t.apply('configmaps/a?fieldManager=', configMap('a'))
      await t.apply(`configmaps/a?fieldManager=${'m'.repeat(129)}`, configMap('a'))
      await t.apply('configmaps/a?fieldManager=m', { apiVersion: 'v1', kind: 'ConfigMap' })
      await t.apply('configmaps/a?fieldManager=m', { metadata: { name: 'a' } })
      await t.apply('configmaps/a?fieldManager=m', [])
      await t.apply('configmaps/a?fieldManager=m', 'a: [')
      await t.apply('configmaps/a?fieldManager=m', configMap('b'))
      await t.apply('configmaps/a?fieldManager=m', configMap('a', {}, { managedFields: [{ manager: 'x' }] }))
      await t.apply('configmaps/a?fieldManager=m', { ...configMap('a'), data: 'text' })
      await t.apply('configmaps/a?fieldManager=m&force=perhaps', configMap('a'))
      await t.merge('configmaps/a?force=true', { data: {} })
      await t.apply('configmaps/a?fieldManager=m&dryRun=All', configMap('a', { dry: 'yes' }))
      await t.get('configmaps/a')
    },
  },
  {
    id: 'owners-and-labels-applied',
    title: 'Owner references, labels, annotations and finalizers by several appliers',
    async run(t) {
      const owner = await t.post('configmaps', configMap('owner'))
      const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.body.metadata.uid }
      await t.apply(
        'configmaps/a?fieldManager=one',
        configMap('a', {}, { labels: { a: '1' }, ownerReferences: [ref], finalizers: ['example.com/f'] }),
      )
      await t.apply(
        'configmaps/a?fieldManager=two',
        configMap('a', {}, { labels: { b: '2', a: '1' }, ownerReferences: [{ ...ref, controller: true }], finalizers: ['example.com/g'] }),
      )
      await t.apply('configmaps/a?fieldManager=one', configMap('a', {}, { labels: { a: '3' } }))
      await t.apply('configmaps/a?fieldManager=one', configMap('a'))
      await t.apply('configmaps/a?fieldManager=two', configMap('a'))
    },
  },
  {
    id: 'kubectl-client-side-then-server-side',
    title: "kubectl's move from client-side to server-side apply: the last applied configuration and its owner",
    async run(t) {
      const last = JSON.stringify(configMap('a', { k: '1', old: 'x' }))
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': last }
      await t.post('configmaps?fieldManager=kubectl-client-side-apply', configMap('a', { k: '1', old: 'x' }, { annotations }))
      await t.apply('configmaps/a?fieldManager=kubectl&force=false', configMap('a', { k: '2' }))
      await t.apply('configmaps/a?fieldManager=kubectl&force=true', configMap('a', { k: '2' }))
      await t.merge('configmaps/a?fieldManager=kubectl-client-side-apply', { data: { k: '3', old: null } })
      await t.apply('configmaps/a?fieldManager=kubectl&force=true', configMap('a', { k: '4' }))
    },
  },
]
