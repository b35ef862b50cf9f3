/** Creates, updates, metadata: what clients send that is not quite what they should. */
import type { Case } from '../case.ts'
import { configMap, deployment, S } from '../objects.ts'
import { version } from '../world.ts'

const yaml = { headers: { 'content-type': 'application/yaml' } }

export const cases: readonly Case[] = [
  {
    id: 'nulls-and-empties-builtin',
    title: 'Nulls and empty maps of a built-in kind are as if they were not there',
    async run(t) {
      await t.post('configmaps', {
        metadata: { name: 'a', labels: {}, annotations: null, finalizers: [], ownerReferences: null },
        data: { empty: '', gone: null },
        binaryData: {},
      })
      await t.put('configmaps/a', { metadata: { name: 'a', labels: { x: '' } }, data: null })
      await t.put('configmaps/a', { metadata: { name: 'a', labels: { x: null } }, data: {}, immutable: null })
      await t.get('configmaps/a')
    },
  },
  {
    id: 'nulls-and-empties-custom',
    title: 'Nulls and empty values of a custom kind stay where the schema lets them',
    async run(t) {
      const spec = S.object({
        text: S.string,
        maybe: { type: 'string', nullable: true },
        defaulted: { type: 'string', default: 'd' },
        both: { type: 'string', nullable: true, default: 'd' },
        list: S.list({ type: 'string', nullable: true }),
        map: S.map({ type: 'integer', nullable: true }),
        deep: S.object({ x: { type: 'integer', default: 7 } }, { default: {} }),
        free: S.any,
      })
      await t.define({ plural: 'things', kind: 'Thing', versions: [version('v1', { spec })] })
      const things = `${t.group}/v1/things`
      const thing = (spec: unknown) => ({ apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec })
      const made = await t.post(
        things,
        thing({ text: null, maybe: null, defaulted: null, both: null, list: [], map: { a: null }, deep: {}, free: { a: null, b: [null] } }),
      )
      await t.put(`${things}/a`, { ...thing({ text: '', list: [null, ''], map: {}, deep: null }), metadata: made.body.metadata })
      await t.merge(`${things}/a`, { spec: { maybe: '', both: null, free: { a: null, c: {} } } })
      await t.merge(`${things}/a`, { spec: null })
      await t.merge(`${things}/a`, { spec: {} })
    },
  },
  {
    id: 'unicode-and-numbers',
    title: 'Text in any script and numbers of any size come back as they were sent',
    async run(t) {
      const spec = S.object({ free: S.any, big: S.int, ratio: { type: 'number' } })
      await t.define({ plural: 'things', kind: 'Thing', versions: [version('v1', { spec })] })
      const things = `${t.group}/v1/things`
      const head = `{"apiVersion":"${t.group}/v1","kind":"Thing","metadata":{"name":"a","annotations":{"note":"héllo \\ud83d\\ude80 \\u2028 </script>"}}`
      await t.post(
        things,
        `${head},"spec":{"free":{"ключ":"знач","日本":"語","":"empty","a\\tb":"c","__proto__":{"x":1},"constructor":1,"n":[1.0,1.5e3,-0,1e21,123456789012345678,0.1,1e-7]},"big":9007199254740993,"ratio":2.50}}`,
      )
      await t.merge(`${things}/a`, '{"spec":{"big":-9223372036854775808,"ratio":1e3,"free":{"__proto__":{"x":null,"y":2},"n":null}}}')
      await t.merge(`${things}/a`, '{"spec":{"big":9223372036854775808}}')
      await t.merge(`${things}/a`, '{"spec":{"big":1.5}}')
      await t.merge(`${things}/a`, '{"spec":{"big":3.0}}')
      await t.get(`${things}/a`)
      await t.post('configmaps', configMap('a', { lone: '\ud83d\ude80 ok', zero: 'a\u0000b' }))
    },
  },
  {
    id: 'server-fields-sent',
    title: 'What only the server may set is set by the server, whatever a create says',
    async run(t) {
      await t.post('apps/v1/deployments', {
        ...deployment('web', { replicas: 2 }),
        metadata: {
          name: 'web',
          namespace: t.namespace,
          uid: '33333333-3333-4333-8333-333333333333',
          creationTimestamp: '2001-01-01T00:00:00Z',
          deletionTimestamp: '2001-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 30,
          generation: 9,
          selfLink: '/api/x',
          managedFields: [{ manager: 'me', operation: 'Update', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1: {} }],
        },
        status: { replicas: 5, observedGeneration: 9 },
      })
      await t.post('configmaps', configMap('a', {}, { resourceVersion: '1' }))
      await t.post('configmaps', configMap('b', {}, { resourceVersion: '0' }))
      await t.post('configmaps', configMap('c', {}, { resourceVersion: '' }))
    },
  },
  {
    id: 'managed-fields-by-hand',
    title: 'managedFields that a client sends: emptied by an update, kept by a create, refused where broken',
    async run(t) {
      await t.post('configmaps?fieldManager=one', configMap('a', { k: '1' }))
      await t.merge('configmaps/a?fieldManager=two', { data: { l: '2' } })
      await t.merge('configmaps/a?fieldManager=three', { metadata: { managedFields: [] } })
      await t.merge('configmaps/a?fieldManager=three', { data: { m: '3' } })
      await t.merge('configmaps/a?fieldManager=four', { metadata: { managedFields: [{}] } })
      await t.apply('configmaps/a?fieldManager=five', configMap('a', { k: '1' }))
      await t.merge('configmaps/a', {
        metadata: { managedFields: [{ manager: 'x', operation: 'Sometimes', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }] },
      })
      await t.merge('configmaps/a', {
        metadata: { managedFields: [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV2' }] },
      })
      await t.put('configmaps/a?fieldManager=six', configMap('a', { k: '9' }))
    },
  },
  {
    id: 'optimistic-patches',
    title: 'Each kind of patch with a resourceVersion of the past is a conflict, with that of now it is not',
    async run(t) {
      const made = await t.post('configmaps', configMap('a', { n: '1' }))
      const old = made.body.metadata.resourceVersion
      await t.merge('configmaps/a', { data: { n: '2' } })
      const stale = { metadata: { resourceVersion: old }, data: { n: '3' } }
      await t.merge('configmaps/a', stale)
      await t.strategic('configmaps/a', stale)
      await t.json('configmaps/a', [{ op: 'replace', path: '/metadata/resourceVersion', value: old }])
      await t.json('configmaps/a', [
        { op: 'test', path: '/data/n', value: '1' },
        { op: 'replace', path: '/data/n', value: '3' },
      ])
      const now = (await t.get('configmaps/a')).body.metadata.resourceVersion
      await t.merge('configmaps/a', { metadata: { resourceVersion: now }, data: { n: '4' } })
      await t.merge('configmaps/a', { metadata: { resourceVersion: '0' }, data: { n: '5' } })
      await t.merge('configmaps/a', { metadata: { resourceVersion: 'x' } })
      await t.merge('configmaps/a', { metadata: { resourceVersion: '' }, data: { n: '6' } })
    },
  },
  {
    id: 'identity-is-fixed',
    title: 'Patches and updates that would change who an object is are refused or without effect',
    async run(t) {
      await t.post('configmaps', configMap('a'))
      await t.merge('configmaps/a', { metadata: { name: 'b' } })
      await t.merge('configmaps/a', { metadata: { namespace: 'default' } })
      await t.merge('configmaps/a', { metadata: { uid: '44444444-4444-4444-8444-444444444444' } })
      await t.merge('configmaps/a', {
        metadata: { creationTimestamp: '2001-01-01T00:00:00Z', generation: 5, deletionTimestamp: '2001-01-01T00:00:00Z' },
      })
      await t.merge('configmaps/a', { metadata: { creationTimestamp: null } })
      await t.merge('configmaps/a', { kind: 'Secret' })
      await t.merge('configmaps/a', { apiVersion: 'v2' })
      await t.json('configmaps/a', [{ op: 'remove', path: '/metadata' }])
      await t.put('configmaps/a', { metadata: {} })
      await t.put('configmaps/a', { data: { a: '1' } })
      await t.put('configmaps/a', configMap('b'))
    },
  },
  {
    id: 'yaml-bodies',
    title: 'Bodies in YAML: anchors, several documents, tabs, numbers where text must be',
    async run(t) {
      await t.post(
        'configmaps',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: &m\n  name: a\n  labels: {x: "1"}\ndata:\n  multi: |\n    one\n    two\n  "quoted": \'it\'\'s\'\n',
        yaml,
      )
      await t.post('configmaps', 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\ndata: {n: 1}\n', yaml)
      await t.post('configmaps', 'metadata:\n\tname: c\n', yaml)
      await t.post('configmaps', 'metadata: {name: d}\ndata: {y: yes}\n', yaml)
      await t.post('configmaps', 'metadata: {name: e}\ndata: {a: "1", a: "2"}\n', { headers: { 'content-type': 'application/yaml' } })
      await t.post('configmaps?fieldValidation=Strict', 'metadata: {name: f}\ndata: {a: "1", a: "2"}\n', yaml)
      await t.put('configmaps/a', 'metadata: {name: a}\ndata: {k: ~}\n', yaml)
      await t.get('configmaps/a', { headers: { accept: 'application/yaml' } })
    },
  },
  {
    id: 'strict-everywhere',
    title: 'Strict validation names every unknown and doubled field, of built-in and custom kinds, in creates, patches and applies',
    async run(t) {
      await t.define({
        plural: 'things',
        kind: 'Thing',
        versions: [version('v1', { spec: S.object({ a: S.string, list: S.list(S.object({ b: S.int })) }) })],
      })
      const things = `${t.group}/v1/things`
      const bad = {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a', oops: 1 },
        spec: { a: 'x', b: 1, list: [{ b: 1, c: 2 }, { d: null }] },
        extra: {},
      }
      await t.post(`${things}?fieldValidation=Strict`, bad)
      await t.post(`${things}?fieldValidation=Warn`, bad)
      await t.merge(`${things}/a?fieldValidation=Strict`, { spec: { z: 1 } })
      await t.json(`${things}/a?fieldValidation=Strict`, [{ op: 'add', path: '/spec/z', value: 1 }])
      await t.apply(`${things}/a?fieldValidation=Strict&fieldManager=m`, {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: { z: 1 },
      })
      await t.post('apps/v1/deployments?fieldValidation=Strict', {
        ...deployment('web', { replicaz: 1, strategy: { rolling: {} } }),
        more: 1,
      })
      await t.post('configmaps?fieldValidation=Strict', '{"metadata":{"name":"a","name":"b"},"data":{"k":"1","k":"2"}}')
      await t.post('configmaps?fieldValidation=Warn', '{"metadata":{"name":"a","labels":{"x":"1","x":"2"}},"dat":{"k":"1"}}')
    },
  },
  {
    id: 'helm-release',
    title: "Helm's release records: labelled secrets of its own type, listed by labels, superseded by an update",
    async run(t) {
      const release = (n: number, status: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'helm.sh/release.v1',
        metadata: {
          name: `sh.helm.release.v1.app.v${n}`,
          labels: { name: 'app', owner: 'helm', status, version: String(n), modifiedAt: '1764500000' },
        },
        data: { release: Buffer.from(`release ${n}`).toString('base64') },
      })
      await t.post('secrets', release(1, 'pending-install'))
      await t.put('secrets/sh.helm.release.v1.app.v1', release(1, 'deployed'))
      await t.post('secrets', release(1, 'deployed'))
      await t.post('secrets', release(2, 'pending-upgrade'))
      await t.put('secrets/sh.helm.release.v1.app.v1', { ...release(1, 'superseded'), type: 'Opaque' })
      await t.put('secrets/sh.helm.release.v1.app.v1', release(1, 'superseded'))
      await t.get('secrets?labelSelector=name%3Dapp%2Cowner%3Dhelm%2Cstatus+in+%28superseded%2Cpending-upgrade%29')
      await t.get('secrets?fieldSelector=type%3Dhelm.sh%2Frelease.v1&labelSelector=status!%3Dsuperseded')
      await t.delete('secrets/sh.helm.release.v1.app.v1')
    },
  },
  {
    id: 'secret-conversions',
    title: 'A secret: text and data together, bad base64, kinds with needed keys, immutable ones',
    async run(t) {
      await t.post('secrets', { metadata: { name: 'a' }, data: { x: 'b25l', y: 'dHdv' }, stringData: { y: 'TWO', z: '' } })
      await t.merge('secrets/a', { stringData: { x: 'changed' } })
      await t.merge('secrets/a', { data: { x: '!!' } })
      await t.merge('secrets/a', { data: { x: null, w: '' } })
      await t.apply('secrets/a?fieldManager=m', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { s: 'v' } })
      await t.apply('secrets/a?fieldManager=m', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { r: 'v' } })
      await t.post('secrets', { metadata: { name: 'tls' }, type: 'kubernetes.io/tls', data: { 'tls.crt': '' } })
      await t.post('secrets', { metadata: { name: 'pull' }, type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'bm8=' } })
      await t.post('secrets', { metadata: { name: 'fixed' }, immutable: true, stringData: { a: '1' } })
      await t.merge('secrets/fixed', { data: { a: 'Mg==' } })
      await t.merge('secrets/fixed', { immutable: false })
      await t.merge('secrets/fixed', { metadata: { labels: { still: 'moves' } } })
    },
  },
  {
    id: 'generated-names',
    title: 'Generated names: with a name given too, dry, empty, applied',
    async run(t) {
      await t.post('configmaps', { metadata: { generateName: 'pre-', name: 'given' } })
      await t.post('configmaps', { metadata: { generateName: 'pre-' } })
      await t.post('configmaps', { metadata: { generateName: '', name: '' } })
      await t.post('configmaps?dryRun=All', { metadata: { name: 'dry', generateName: 'dry-' } })
      await t.apply('configmaps/x?fieldManager=m', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'x-' } })
    },
  },
  {
    id: 'labels-and-annotations-bad',
    title: 'Keys and values of labels and annotations that are not allowed, each with its reason',
    async run(t) {
      const try_ = (metadata: object) => t.post('configmaps', configMap('a', {}, metadata))
      await try_({ labels: { '-bad': 'x', 'a/b/c': 'y', 'ok.example/': 'z' } })
      await try_({ labels: { good: 'bad value!', other: 'x'.repeat(64) } })
      await try_({ labels: { [`${'p'.repeat(254)}/n`]: 'x', UPPER: 'ok' } })
      await try_({ annotations: { 'Bad/Upper/x': '1', 'Prefix.EXAMPLE/ok': '2' } })
      await try_({ finalizers: ['noslash', 'a/b/c', 'kubernetes', 'Example.com/x'] })
      await try_({
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u' },
          { apiVersion: 'a/b/c', kind: 'X', name: '', uid: '' },
        ],
      })
      await try_({ name: 'A_b' })
      await try_({ name: 'a'.repeat(254) })
    },
  },
  {
    id: 'unchanged-writes',
    title: 'Writes that change nothing leave the version, whichever verb, and another manager is still noted by an apply only',
    async run(t) {
      const made = await t.post('configmaps', configMap('a', { k: '1' }, { labels: { l: 'x' } }))
      const watch = await t.watch(`configmaps?watch=1&fieldSelector=metadata.name=a&resourceVersion=${made.body.metadata.resourceVersion}`)
      await t.put('configmaps/a', configMap('a', { k: '1' }, { labels: { l: 'x' } }))
      await t.merge('configmaps/a?fieldManager=other', { data: { k: '1' } })
      await t.json('configmaps/a', [])
      await t.strategic('configmaps/a', {})
      await t.apply('configmaps/a?fieldManager=applier', configMap('a', { k: '1' }))
      await t.apply('configmaps/a?fieldManager=applier', configMap('a', { k: '1' }))
      await t.merge('configmaps/a', { data: { k: '2' } })
      await watch.events(2)
    },
  },
]
