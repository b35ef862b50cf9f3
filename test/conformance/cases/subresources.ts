/** Status, scale and the subresources that only some kinds have. */
import type { Case } from '../case.ts'
import { configMap, container, deployment, S, withoutDiff } from '../objects.ts'
import { version } from '../world.ts'

const scale = (replicas: unknown, more: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'a' },
  spec: { replicas },
  ...more,
})

export const cases: readonly Case[] = [
  {
    id: 'custom-status-and-spec-race',
    title: 'Status and spec written in turns from the same read: which versions conflict, what counts generations',
    async run(t) {
      const status = S.object({ seen: S.int, phase: { type: 'string', enum: ['A', 'B'] }, at: { type: 'string', format: 'date-time' } })
      await t.define({
        plural: 'things',
        kind: 'Thing',
        versions: [version('v1', { spec: S.object({ n: S.int }), status }, { subresources: { status: {} } })],
      })
      const path = `${t.group}/v1/things/a`
      const made = await t.post(`${t.group}/v1/things`, {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: { n: 1 },
        status: { seen: 5 },
      })
      const read = made.body
      await t.put(`${path}/status`, { ...read, status: { seen: 1, phase: 'A', at: '2020-01-01T00:00:00.5+02:00' } })
      await t.put(path, { ...read, spec: { n: 2 } })
      await t.put(`${path}/status`, { ...read, status: { seen: 2 } })
      const again = (await t.get(path)).body
      await t.put(path, { ...again, spec: { n: 2 }, status: { seen: 9 } })
      await t.put(`${path}/status`, { ...again, metadata: { ...again.metadata, resourceVersion: undefined }, status: { seen: 3 } })
      await t.merge(`${path}/status`, {
        spec: { n: 7 },
        metadata: { labels: { l: 'x' }, finalizers: ['a.b/c'] },
        status: { phase: 'C', seen: 4 },
      })
      await t.merge(`${path}/status`, { status: null })
      await t.json(`${path}/status`, [{ op: 'add', path: '/status', value: { phase: 'B' } }])
      await t.json(`${path}/status`, [{ op: 'add', path: '/status/conditions/-', value: {} }])
      await t.get(`${path}/status`)
      await t.delete(`${path}/status`)
      await t.post(`${path}/status`, {})
    },
  },
  {
    id: 'custom-without-status',
    title: 'Without a status subresource, status is a field like any other',
    async run(t) {
      await t.define({ plural: 'things', kind: 'Thing', versions: [version('v1', { spec: S.any, status: S.any })] })
      const path = `${t.group}/v1/things/a`
      await t.post(`${t.group}/v1/things`, { apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name: 'a' }, status: { a: 1 } })
      await t.merge(path, { status: { a: 2 } })
      await t.merge(`${path}/status`, { status: { a: 3 } })
      await t.get(`${path}/status`)
      await t.get(`${path}/scale`)
      await t.get(`${path}/nonsense`)
    },
  },
  {
    id: 'custom-scale',
    title: 'The scale of a custom object: absent replicas, a selector, limits of the schema, conflicts',
    async run(t) {
      const spec = S.object({ replicas: { type: 'integer', maximum: 5 }, other: S.string })
      const status = S.object({ replicas: S.int, selector: S.string })
      const subresources = {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
      }
      await t.define({ plural: 'things', kind: 'Thing', versions: [version('v1', { spec, status }, { subresources })] })
      const path = `${t.group}/v1/things/a`
      await t.post(`${t.group}/v1/things`, { apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name: 'a' } })
      const read = await t.get(`${path}/scale`)
      await t.merge(`${path}/scale`, { spec: { replicas: 2 } })
      await t.put(`${path}/scale`, { ...read.body, spec: { replicas: 3 } })
      await t.put(`${path}/scale`, scale(3))
      await t.put(`${path}/scale`, scale(9))
      await t.put(`${path}/scale`, scale(-1))
      await t.put(`${path}/scale`, scale('three'))
      await t.put(`${path}/scale`, { ...scale(1), kind: 'Thing', apiVersion: `${t.group}/v1` })
      await t.put(`${path}/scale`, scale(1, { metadata: { name: 'b' } }))
      await t.merge(`${path}/status`, { status: { replicas: 2, selector: 'app=a' } })
      await t.merge(`${path}/scale?dryRun=All`, { spec: { replicas: 0 } })
      await t.merge(`${path}/scale`, { spec: { replicas: null } })
      await t.get(path)
      await t.delete(`${path}/scale`)
      await t.get(`${t.group}/v1/things/none/scale`)
    },
  },
  {
    id: 'deployment-scale-and-status',
    title: "A Deployment's scale and status by patch, apply and update, mixed with its own",
    async run(t) {
      const path = 'apps/v1/deployments/a'
      await t.apply(`${path}?fieldManager=op`, deployment('a', { replicas: 1 }))
      await t.strategic(`${path}/scale?fieldManager=kubectl`, { spec: { replicas: 3 } })
      await t.json(`${path}/scale?fieldManager=kubectl`, [
        { op: 'test', path: '/spec/replicas', value: 3 },
        { op: 'replace', path: '/spec/replicas', value: 4 },
      ])
      await t.put(`${path}/scale?fieldManager=hpa`, scale(6))
      await t.strategic(`${path}/status`, {
        status: {
          conditions: [
            {
              type: 'Available',
              status: 'True',
              reason: 'r',
              message: 'm',
              lastUpdateTime: '2020-01-01T00:00:00Z',
              lastTransitionTime: '2020-01-01T00:00:00Z',
            },
          ],
        },
      })
      await t.merge(`${path}/status`, { status: { replicas: -1, availableReplicas: 5 }, spec: { replicas: 0 } })
      await t.apply(`${path}/status?fieldManager=st`, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'a' },
        status: { replicas: 6, readyReplicas: 2, updatedReplicas: 6, availableReplicas: 2, observedGeneration: 1 },
      })
      await t.apply(`${path}?fieldManager=op`, deployment('a'))
      await t.apply(`${path}?fieldManager=op`, deployment('a', { replicas: 2 }))
      await t.get(`${path}/scale`)
    },
  },
  {
    id: 'pod-subresources',
    title: 'A pod: binding, ephemeral containers, eviction, resize, status, and what may change of it',
    async run(t) {
      await t.post('pods', { metadata: { name: 'a', labels: { p: 'x' } }, spec: { containers: [container()] } })
      await t.merge('pods/a', { spec: { containers: [container({ image: 'web:2' })] } }, { pick: withoutDiff })
      await t.strategic('pods/a', { spec: { containers: [{ name: 'web', image: 'web:3', command: ['x'] }] } }, { pick: withoutDiff })
      await t.strategic('pods/a', { spec: { tolerations: [{ key: 'extra', operator: 'Exists' }], activeDeadlineSeconds: 60 } })
      await t.post('pods/a/binding', { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } })
      await t.post('pods/a/binding', { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n2' } })
      await t.strategic('pods/a/ephemeralcontainers', { spec: { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] } })
      await t.strategic('pods/a/status', { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } })
      await t.post('policy/v1/poddisruptionbudgets', {
        metadata: { name: 'pdb' },
        spec: { minAvailable: 1, selector: { matchLabels: { p: 'x' } } },
      })
      await t.post('pods/a/eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } })
      await t.delete('pods/a', { gracePeriodSeconds: 30 })
      await t.delete('pods/a', { gracePeriodSeconds: 5 })
      await t.delete('pods/a', { gracePeriodSeconds: 0 })
      await t.get('pods/a')
    },
  },
  {
    id: 'tokens',
    title: 'A token of a service account: its audience, its duration, what it is bound to',
    async run(t) {
      const request = (spec: object) =>
        t.post(
          'serviceaccounts/default/token',
          { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
          {
            pick: ({ status, metadata: { managedFields: _, ...metadata }, ...rest }) =>
              status === 'Failure'
                ? rest
                : { ...rest, metadata, status: { ...status, expirationTimestamp: typeof status?.expirationTimestamp } },
          },
        )
      await request({})
      await request({ audiences: ['a', 'b'], expirationSeconds: 600 })
      await request({ expirationSeconds: 5 })
      await request({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'none' } })
      await request({ boundObjectRef: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'none' } })
      await t.post('serviceaccounts/none/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })
    },
  },
  {
    id: 'token-owners',
    title: 'The answer to a token request says who owns the fields of the request',
    deviates: 'tokens-without-owners',
    async run(t) {
      const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
      await t.post('serviceaccounts/default/token', request, { pick: ({ metadata }) => metadata.managedFields })
    },
  },
  {
    id: 'namespace-parts',
    title: "A namespace's status and finalize, by hand",
    async run(t) {
      const path = `/api/v1/namespaces/part-${t.id}`
      const made = await t.post('/api/v1/namespaces', {
        metadata: { name: `part-${t.id}`, labels: { a: 'b' } },
        spec: { finalizers: ['example.com/mine'] },
      })
      await t.merge(path, { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } })
      await t.put(`${path}/finalize`, { ...made.body, spec: { finalizers: ['kubernetes'] } })
      await t.merge(`${path}/status`, { status: { phase: 'Terminating' } })
      await t.post('/api/v1/namespaces', configMap('x'))
      await t.post('/api/v1/namespaces', { metadata: { name: 'Not.Valid' } })
      await t.get(`${path}/status`, { pick: ({ spec, status }) => ({ spec, status }) })
    },
  },
]
