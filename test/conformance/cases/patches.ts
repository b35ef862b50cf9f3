/** The four kinds of patch where they do not go smoothly. */
import type { Case } from '../case.ts'
import { configMap, container, deployment, S, service } from '../objects.ts'
import { version } from '../world.ts'

const pod = (spec: object) => ({ spec: { template: { spec } } })

export const cases: readonly Case[] = [
  {
    id: 'json-patch-paths',
    title: 'JSON patch: moves, copies, tests, escapes and ends of lists, in one request and in several',
    async run(t) {
      await t.post(
        'configmaps',
        configMap('a', { k: '1', 'x.y': '2' }, { annotations: { 'example.com/a-b': 'v' }, finalizers: ['example.com/a', 'example.com/b'] }),
      )
      const ops = (...all: object[]) => t.json('configmaps/a', all)
      await ops({ op: 'move', from: '/data/k', path: '/data/l' }, { op: 'copy', from: '/data/l', path: '/data/m' })
      await ops(
        { op: 'add', path: '/metadata/annotations/example.com~1a-c', value: 'w' },
        { op: 'remove', path: '/metadata/annotations/example.com~1a-b' },
      )
      await ops(
        { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/c' },
        { op: 'add', path: '/metadata/finalizers/0', value: 'example.com/z' },
      )
      await ops({ op: 'add', path: '/metadata/finalizers/9', value: 'example.com/c' })
      await ops({ op: 'replace', path: '/data/none', value: 'x' })
      await ops({ op: 'remove', path: '/data/none' })
      await ops({ op: 'remove', path: '/metadata/labels/none' })
      await ops({ op: 'test', path: '/data/l', value: '2' })
      await ops({ op: 'test', path: '/data/l', value: '1' }, { op: 'add', path: '/data/l', value: 2 })
      await ops({ op: 'add', path: 'data/l', value: 'x' })
      await ops({ op: 'add', path: '', value: configMap('a', { whole: 'x' }) })
      await ops({ op: 'jump', path: '/data/l' })
      await ops({ path: '/data/l', value: 'x' })
      await ops({ op: 'copy', from: '/data/none', path: '/data/x' })
      await t.json('configmaps/a', {})
      await t.json('configmaps/a', 'null')
      await t.json('configmaps/a', '[{"op":"add"')
      await t.json('configmaps/a', '[1]')
      await t.get('configmaps/a')
      await t.quiet.merge('configmaps/a', { metadata: { finalizers: null } })
    },
  },
  {
    id: 'merge-patch-odd',
    title: 'Merge patches that are no objects, that put objects over lists and texts, and that meet nothing',
    async run(t) {
      await t.define({ plural: 'things', kind: 'Thing', versions: [version('v1', { spec: S.any })] })
      const path = `${t.group}/v1/things/a`
      await t.post(`${t.group}/v1/things`, {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: { list: [1, { x: 1 }], text: 't', map: { a: { b: 1 } } },
      })
      await t.merge(path, { spec: { list: { 0: 'x' }, text: { y: null, z: 1 }, map: [null, { q: null }] } })
      await t.merge(path, { spec: { list: [{ n: null }], new: { deep: { er: null } }, map: { a: null } } })
      await t.merge(path, 'null')
      await t.merge(path, '[]')
      await t.merge(path, '"x"')
      await t.merge(path, '')
      await t.merge(path, '{')
      await t.merge(`${t.group}/v1/things/none`, { spec: {} })
      await t.strategic(path, { spec: {} })
      await t.merge(path, { spec: { a: 1 } }, { headers: { 'content-type': 'application/merge-patch+json; charset=utf-8' } })
      await t.merge(path, { spec: { a: 2 } }, { headers: { 'content-type': 'text/json' } })
    },
  },
  {
    id: 'strategic-containers',
    title: 'Strategic merge: containers by name, order, deletion, replacement, retained keys',
    async run(t) {
      await t.post(
        'apps/v1/deployments',
        deployment(
          'web',
          pod({ containers: [container(), container({ name: 'two' })], volumes: [{ name: 'v', emptyDir: {} }] }).spec && {
            template: {
              metadata: { labels: { app: 'web' } },
              spec: {
                containers: [
                  container(),
                  container({
                    name: 'two',
                    env: [
                      { name: 'A', value: '1' },
                      { name: 'B', value: '2' },
                    ],
                  }),
                ],
                volumes: [{ name: 'v', emptyDir: {} }],
              },
            },
          },
        ),
      )
      const patch = (spec: object) =>
        t.strategic('apps/v1/deployments/web', pod(spec), { pick: (body) => body.spec?.template.spec ?? body })
      await patch({
        containers: [
          { name: 'three', image: 'three:1' },
          { name: 'web', image: 'web:9' },
        ],
      })
      await patch({ $setElementOrder: 1 })
      await patch({
        '$setElementOrder/containers': [{ name: 'three' }, { name: 'two' }, { name: 'web' }],
        containers: [{ name: 'two', image: 'two:2' }],
      })
      await patch({
        containers: [
          {
            name: 'two',
            env: [
              { name: 'A', $patch: 'delete' },
              { name: 'C', value: '3' },
            ],
          },
        ],
      })
      await patch({
        containers: [
          { name: 'three', $patch: 'delete' },
          { name: 'none', $patch: 'delete' },
        ],
      })
      await patch({ volumes: [{ name: 'v', emptyDir: null, configMap: { name: 'cm' } }] })
      await patch({ volumes: [{ name: 'v', $retainKeys: ['name', 'secret'], secret: { secretName: 's' } }] })
      await patch({ containers: [{ image: 'nameless:1' }] })
      await patch({ containers: [{ $patch: 'replace' }, { name: 'only', image: 'only:1' }] })
      await patch({ nodeSelector: { a: 'b' }, tolerations: [{ key: 'k' }] })
      await patch({ nodeSelector: { $patch: 'replace', c: 'd' }, tolerations: [{ key: 'l' }] })
      await patch({ nodeSelector: { $patch: 'shred' } })
      await patch({ volumes: null, nodeSelector: null })
    },
  },
  {
    id: 'strategic-lists-of-values',
    title: 'Strategic merge of finalizers, service ports and owner references',
    async run(t) {
      const owner = await t.post('configmaps', configMap('owner'))
      const { uid } = owner.body.metadata
      await t.post('services', service('web', { ports: [{ name: 'a', port: 80 }] }, { finalizers: ['example.com/a'] }))
      await t.strategic('services/web', { metadata: { finalizers: ['example.com/b', 'example.com/a'] } })
      await t.strategic('services/web', { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a', 'example.com/none'] } })
      await t.strategic('services/web', {
        metadata: { '$setElementOrder/finalizers': ['example.com/c', 'example.com/b'], finalizers: ['example.com/c'] },
      })
      await t.strategic('services/web', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] } })
      await t.strategic('services/web', { metadata: { ownerReferences: [{ uid, controller: true }] } })
      await t.strategic('services/web', { metadata: { ownerReferences: [{ uid, $patch: 'delete' }] } })
      await t.strategic('services/web', {
        spec: {
          ports: [
            { name: 'b', port: 443 },
            { port: 80, targetPort: 'http' },
          ],
        },
      })
      await t.strategic('services/web', {
        spec: { '$setElementOrder/ports': [{ port: 443 }, { port: 80 }], ports: [{ port: 80, $patch: 'delete' }] },
      })
      await t.strategic('services/web', { metadata: { finalizers: null } })
    },
  },
  {
    id: 'patch-to-invalid',
    title: 'Patches whose result is not valid, not decodable, or names another object',
    async run(t) {
      await t.post('apps/v1/deployments', deployment('web', { replicas: 0 }))
      const path = 'apps/v1/deployments/web'
      await t.merge(path, { spec: { replicas: -1, minReadySeconds: -2 } })
      await t.merge(path, { spec: { replicas: 'two' } })
      await t.merge(path, { spec: { selector: { matchLabels: { app: 'other' } } } })
      await t.strategic(path, pod({ containers: [{ name: 'web', image: '', ports: [{ containerPort: 0 }, { containerPort: 70_000 }] }] }))
      await t.json(path, [{ op: 'replace', path: '/spec/strategy/type', value: 'Sometimes' }])
      await t.merge(path, { spec: { strategy: { type: 'Recreate' } } })
      await t.strategic(path, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } })
      await t.merge(path, { metadata: { labels: { a: 1 } } })
      await t.merge(path, { status: { replicas: 7 }, spec: { replicas: 1 } })
    },
  },
]
