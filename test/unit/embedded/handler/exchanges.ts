/**
 * Requests whose answers were recorded from a real API server (`scripts/record-exchanges.ts`): odd ones above all, which say how
 * a server reads, refuses and words things. Each scenario begins with an empty namespace `probe` and the custom kind Widget.
 */

export interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export interface Scenario {
  readonly title: string
  readonly requests: readonly Request[]
}

export const GROUP = 'probe.example.com'
const NAMESPACE = '/api/v1/namespaces/probe'
const MAPS = `${NAMESPACE}/configmaps`
const PODS = `${NAMESPACE}/pods`
const WIDGETS = `/apis/${GROUP}/v1/namespaces/probe/widgets`

export const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  s: { type: 'string' },
                  n: { type: 'integer' },
                  l: { type: 'array', items: { type: 'string' } },
                  o: { type: 'object', properties: { k: { type: 'string' } } },
                },
              },
              status: { type: 'object', properties: { n: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
}

const map = (name?: string, metadata: object = {}, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...(name === undefined ? {} : { name }), ...metadata },
  data: { a: '1' },
  ...more,
})
const widget = (name?: string, spec: object = {}, metadata: object = {}, more: object = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { ...(name === undefined ? {} : { name }), ...metadata },
  spec,
  ...more,
})
const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], ...spec },
})
const scale = (more: object) => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, ...more })

const get = (path: string, accept?: string): Request => ({ method: 'GET', path, ...(accept === undefined ? {} : { headers: { accept } }) })
const post = (path: string, body: unknown): Request => ({ method: 'POST', path, body })
const put = (path: string, body: unknown): Request => ({ method: 'PUT', path, body })
const remove = (path: string, body?: unknown): Request => ({ method: 'DELETE', path, ...(body === undefined ? {} : { body }) })
const patch =
  (type: string) =>
  (path: string, body: unknown): Request => ({
    method: 'PATCH',
    path,
    body,
    headers: { 'content-type': type },
  })
const merge = patch('application/merge-patch+json')
const json = patch('application/json-patch+json')
const strategic = patch('application/strategic-merge-patch+json')
const apply = patch('application/apply-patch+yaml')
const yaml = (path: string, body: string): Request => ({ method: 'POST', path, body, headers: { 'content-type': 'application/yaml' } })

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PARTIALS = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const OTHER_UID = '11111111-1111-1111-1111-111111111111'

export const SCENARIOS: readonly Scenario[] = [
  {
    title: 'bodies that are not an object of the kind',
    requests: [
      ...['{}', '', '{"kind":"Widget"}', `{"apiVersion":"${GROUP}/v1"}`, '[]', '"x"', 'null', '{bad', '5'].map((body) =>
        post(WIDGETS, body),
      ),
      ...['{}', '', '[]', '"x"', 'null', '{bad', '{"apiVersion":1,"kind":"ConfigMap"}', '{"metadata":[]}', '{"metadata":{}} x'].map(
        (body) => post(MAPS, body),
      ),
      post(MAPS, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }),
      post(MAPS, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } }),
      post(WIDGETS, widget('a', {}, {}, { kind: 'Foo' })),
      post(WIDGETS, widget('a', {}, {}, { apiVersion: `${GROUP}/v2` })),
      post(WIDGETS, { ...widget('a'), metadata: [] }),
      post(MAPS, map('a', {}, { data: { a: 1 } })),
      post(WIDGETS, `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"n":1e400}}`),
    ],
  },
  {
    title: 'metadata of a wrong type, and unknown fields in it',
    requests: [
      post(WIDGETS, widget('a', {}, { labels: { a: 1 } })),
      post(WIDGETS, widget('a', {}, { name: 5 })),
      post(WIDGETS, widget('a', {}, { creationTimestamp: 'x' })),
      post(WIDGETS, widget('a', {}, { finalizers: 'x' })),
      post(WIDGETS, widget('a', {}, { ownerReferences: [{ controller: 'x' }] })),
      post(WIDGETS, widget('a', {}, { bogus: 1, ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'n', uid: 'u', bogus: 1 }] })),
      post(`${WIDGETS}?fieldValidation=Strict`, widget('b', { bogus: 2 }, { bogus: 1 })),
      post(`${WIDGETS}?fieldValidation=Ignore`, widget('c', { bogus: 2 }, { bogus: 1 })),
    ],
  },
  {
    title: 'YAML, and what is there twice',
    requests: [
      yaml(MAPS, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: "1"\n  a: "2"\n'),
      yaml(`${MAPS}?fieldValidation=Strict`, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  a: "1"\n  a: "2"\n'),
      yaml(`${WIDGETS}?fieldValidation=Strict`, `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata:\n  name: b\nspec:\n  s: "1"\n  s: "2"\n`),
      yaml(WIDGETS, `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata: {name: c}\nspec: {s: yes}\n`),
      yaml(WIDGETS, `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata: {name: d}\nspec: {n: 0x10, l: ["yes", on_call, '1']}\n`),
      yaml(MAPS, ''),
      post(`${MAPS}?fieldValidation=Strict`, '{"metadata":{"name":"e"},"data":{"a":"1","a":"2"}}'),
      post(WIDGETS, `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"f"},"spec":{"l":[],"o":{"k":"1","k":"2"}}}`),
      get(`${WIDGETS}/f`, 'application/yaml'),
      get(`${WIDGETS}/nope`, 'application/yaml'),
    ],
  },
  {
    title: 'creations that are refused',
    requests: [
      post(MAPS, map()),
      post(MAPS, map('Bad_Name')),
      post(MAPS, map('a/b')),
      post(WIDGETS, widget('Bad_Name')),
      post(MAPS, map('x', { namespace: 'other' })),
      post(WIDGETS, widget('x', {}, { namespace: 'other' })),
      post(MAPS, map('x', { resourceVersion: '5' })),
      post(WIDGETS, widget('x', {}, { resourceVersion: '5' })),
      post(MAPS, map('y', { resourceVersion: 'abc' })),
      post(MAPS, map('a')),
      post(MAPS, map('a')),
      post(`${MAPS}/a`, map('a')),
      post(`${WIDGETS}/a`, widget('a')),
      post(`${WIDGETS}/a`, widget('a')),
      post('/api/v1/namespaces/nope/configmaps', map('a')),
      post('/api/v1/namespaces', { metadata: { name: 'probe' } }),
      post('/api/v1/namespaces', { metadata: { name: 'Bad.Name' } }),
    ],
  },
  {
    title: 'metadata that is not valid',
    requests: [
      post(MAPS, map('a', { labels: { 'a/b/c': 'x' } })),
      post(MAPS, map('a', { labels: { a: 'bad value!' } })),
      post(MAPS, map('a', { annotations: { 'a b': 'x' } })),
      post(MAPS, map('a', { generation: -1 })),
      post(MAPS, map('a', { managedFields: [{ manager: 'x', operation: 'Foo' }] })),
      post(MAPS, map('a', { managedFields: [{ manager: 'x', operation: 'Update', fieldsType: 'X' }] })),
      post(MAPS, map('a', { finalizers: ['a', 'orphan', 'foregroundDeletion'] })),
      post(WIDGETS, widget('a', {}, { finalizers: ['a', 'b.c', 'd/e', 'orphan'] })),
      post(
        MAPS,
        map('twice', {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'X', name: 'n', uid: 'u' },
            { apiVersion: 'v1', kind: 'X', name: 'n', uid: 'u' },
          ],
        }),
      ),
      post(
        MAPS,
        map('two', {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'X', name: 'n', uid: 'u', controller: true },
            { apiVersion: 'v1', kind: 'X', name: 'm', uid: 'v', controller: true },
          ],
        }),
      ),
      post(MAPS, map('b')),
      merge(`${MAPS}/b`, { metadata: { labels: { 'a b': 'c' } } }),
      merge(`${MAPS}/b`, { metadata: { finalizers: ['a'] } }),
      merge(`${WIDGETS}/a`, { metadata: { labels: { 'a b': 'c' } } }),
      merge(`${WIDGETS}/a`, { metadata: { ownerReferences: [{}] } }),
    ],
  },
  {
    title: 'PUT: names, versions, uids',
    requests: [
      post(MAPS, map('a')),
      post(WIDGETS, widget('a', { s: 'x' })),
      put(`${MAPS}/a`, map('a', { resourceVersion: 'abc' })),
      put(`${WIDGETS}/a`, widget('a', {}, { resourceVersion: 'abc' })),
      put(`${MAPS}/a`, map('a', { resourceVersion: '1' })),
      put(`${MAPS}/a`, map()),
      put(`${WIDGETS}/a`, widget()),
      put(`${WIDGETS}/a`, widget('a')),
      put(`${MAPS}/a`, map('zzz')),
      put(`${MAPS}/a`, map('a', { namespace: 'zz' })),
      put(`${MAPS}/a`, map('a', { uid: OTHER_UID })),
      put(`${MAPS}/a`, map('a', { generation: 4, selfLink: 'x', deletionTimestamp: '2020-01-01T00:00:00Z' })),
      put(MAPS, map('a')),
      put(WIDGETS, widget('a')),
      put(`${WIDGETS}/nope`, widget('nope', {}, { resourceVersion: '5' })),
      put(`${MAPS}/nope`, map('nope', { uid: OTHER_UID })),
      put('/api/v1/namespaces/nope/configmaps/a', map('a')),
    ],
  },
  {
    title: 'patches',
    requests: [
      post(MAPS, map('a')),
      post(WIDGETS, widget('a', { s: 'x' })),
      merge(`${MAPS}/a`, { metadata: { uid: OTHER_UID } }),
      merge(`${WIDGETS}/a`, { metadata: { uid: OTHER_UID } }),
      merge(`${MAPS}/a`, { metadata: { resourceVersion: '1' } }),
      merge(`${WIDGETS}/a`, { metadata: { resourceVersion: null } }),
      merge(`${WIDGETS}/a`, { metadata: { resourceVersion: '0' } }),
      merge(`${MAPS}/a`, { metadata: null }),
      merge(`${WIDGETS}/a`, { metadata: null }),
      merge(`${WIDGETS}/a`, { kind: 'Foo' }),
      merge(`${WIDGETS}/a`, { apiVersion: `${GROUP}/v2` }),
      merge(`${MAPS}/a`, { kind: null }),
      merge(`${MAPS}/a`, '{"data":{"a":"1","a":"2"}}'),
      merge(`${WIDGETS}/a`, { spec: { bogus: 1 } }),
      merge(`${WIDGETS}/a`, { spec: { n: 'x' } }),
      strategic(`${MAPS}/a?fieldValidation=Strict`, { bogus: 1 }),
      strategic(`${WIDGETS}/a`, {}),
      json(`${WIDGETS}/a`, [{ op: 'add', path: '/spec/n', value: 3 }]),
      json(`${WIDGETS}/a`, [{ op: 'bad', path: '/spec/n', value: 3 }]),
      json(`${MAPS}/a`, []),
      json(`${MAPS}/a`, {}),
      json(`${MAPS}/a`, ''),
      merge(`${MAPS}/a`, ''),
      merge(`${MAPS}/a`, 'null'),
      merge(`${MAPS}/a`, '5'),
      merge(MAPS, {}),
      merge(`${MAPS}/nope`, {}),
      merge(`${MAPS}/a?force=true`, {}),
      { method: 'PATCH', path: `${WIDGETS}/a`, body: {}, headers: { 'content-type': 'application/json' } },
      { method: 'PATCH', path: `${MAPS}/a`, body: {}, headers: { 'content-type': 'application/json' } },
    ],
  },
  {
    title: 'applies that are odd',
    requests: [
      post(MAPS, map('a')),
      ...['', '[]', '{}'].map((body) => apply(`${MAPS}/a?fieldManager=m`, body)),
      apply(`${WIDGETS}/a?fieldManager=m`, '{}'),
      apply(`${MAPS}/a`, map('a')),
      apply(`${MAPS}/a?fieldManager=m`, map('b')),
      apply(`${MAPS}/a?fieldManager=m&force=true`, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "1", a: "2"}'),
      apply(`${MAPS}/a?fieldManager=m&force=true&fieldValidation=Strict`, 'apiVersion: v1\nkind: ConfigMap\ndata: {a: "1", a: "2"}'),
      apply(`${MAPS}/a?fieldManager=m&force=true`, map('a', { managedFields: [] })),
      apply(`${MAPS}/new?fieldManager=m`, { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } }),
      apply(`${MAPS}/new2?fieldManager=m`, map('new2', {}, { bogus: 1 })),
      apply(`${WIDGETS}/new3?fieldManager=m`, widget('new3', {}, {}, { bogus: 1 })),
      apply(`${MAPS}/known?fieldManager=m`, map('known', { uid: OTHER_UID })),
      apply('/api/v1/namespaces/nope/configmaps/a?fieldManager=m', map('a')),
    ],
  },
  {
    title: 'options of writes',
    requests: [
      post(MAPS, map('a')),
      post(WIDGETS, widget('a')),
      post(`${MAPS}?dryRun=All`, map('dry')),
      get(`${MAPS}/dry`),
      post(`${MAPS}?dryRun=Foo`, map('dry')),
      post(`${MAPS}?dryRun=All&dryRun=All`, map('dry')),
      put(`${MAPS}/a?dryRun=All`, map('a', {}, { data: { z: '1' } })),
      merge(`${WIDGETS}/a?dryRun=All`, { spec: { n: 5 } }),
      merge(`${MAPS}/a?dryRun=Foo`, {}),
      remove(`${MAPS}/a?dryRun=All`),
      remove(`${WIDGETS}/a?dryRun=All`),
      get(`${MAPS}/a`),
      post(`${MAPS}?fieldManager=${'x'.repeat(130)}`, map('b')),
      post(`${MAPS}?fieldManager=a%0Ab`, map('b')),
      post(`${MAPS}?fieldValidation=Foo`, map('b')),
    ],
  },
  {
    title: 'forms of answers',
    requests: [
      post(MAPS, map('a', {}, { data: { a: '<&>\u2028' } })),
      post(WIDGETS, widget('a', { n: 2, s: '<&>' })),
      get(`${MAPS}/a`, TABLE),
      get(`${WIDGETS}/a`, TABLE),
      get(WIDGETS, TABLE),
      get(`${WIDGETS}?includeObject=None`, TABLE),
      get(`${WIDGETS}?includeObject=Object`, TABLE),
      get(`${WIDGETS}?includeObject=Foo`, TABLE),
      get(`${MAPS}/a`, 'application/json;as=Table;v=v1beta1;g=meta.k8s.io'),
      get(`${MAPS}/a`, 'application/json;as=Table;v=v2;g=meta.k8s.io'),
      get(`${MAPS}/a`, PARTIAL),
      get(`${WIDGETS}/a`, PARTIAL),
      get(WIDGETS, PARTIALS),
      get(MAPS, PARTIAL),
      get(WIDGETS, PARTIAL),
      get(`${MAPS}/a`, PARTIALS),
      get(`${WIDGETS}/a`, PARTIALS),
      get(`${MAPS}/a`, 'application/json;q=0.1,application/yaml'),
      get(`${MAPS}/a`, 'text/html'),
      get(`${WIDGETS}/a`, 'text/html'),
      get(`${MAPS}/a`, 'application/*'),
      get(`${WIDGETS}/a`, 'application/*'),
      get(`${MAPS}/a`, 'text/html, application/json;q=0.9'),
      get(`${MAPS}/a`, 'application/json;stream=watch'),
      get(`${MAPS}/a`, 'application/json;stream=foo'),
      get(`${MAPS}?watch=1`, 'application/yaml'),
      { method: 'GET', path: `${WIDGETS}/a?pretty=true` },
      { method: 'GET', path: `${WIDGETS}/nope?pretty=1`, headers: { 'user-agent': 'curl/8' } },
      { ...merge(`${WIDGETS}/a`, { spec: { n: 3 } }), headers: { 'content-type': 'application/merge-patch+json', accept: TABLE } },
      { ...post(MAPS, 'x'), headers: { 'content-type': 'text/plain' } },
      { ...post(WIDGETS, 'x'), headers: { 'content-type': 'application/json-patch+json' } },
    ],
  },
  {
    title: 'paths and methods',
    requests: [
      post(MAPS, map('a')),
      post(WIDGETS, widget('a')),
      ...['HEAD', 'OPTIONS'].flatMap((method) => [`${MAPS}/a`, MAPS, `${WIDGETS}/a`, WIDGETS].map((path) => ({ method, path }))),
      get(`${MAPS}/a/`),
      get('/api/v1/namespaces/probe//configmaps'),
      get('/api/v1/configmaps/a'),
      post('/api/v1/configmaps', map('q')),
      remove('/api/v1/configmaps'),
      remove(`/apis/${GROUP}/v1/widgets`),
      get(`/apis/${GROUP}/v1/widgets/a`),
      post(`/apis/${GROUP}/v1/widgets`, widget('a')),
      ...[
        '/api/v1/nope',
        '/api/v1/namespaces/probe/nope',
        '/apis/apps/v1/nope',
        '/apis/apps/v9/deployments',
        '/apis/nope/v1/x',
        '/apis/nope',
        '/foo',
        '/api/v2',
        '/api/v1/namespaces/probe/nodes',
        `/apis/${GROUP}/v1/nope`,
        `/apis/${GROUP}/v9/widgets`,
        '/api/v1/namespaces/nope/configmaps',
      ].map((path) => get(path)),
    ],
  },
  {
    title: 'subresources',
    requests: [
      post(MAPS, map('a')),
      post(WIDGETS, widget('a', { n: 2 })),
      get(`${MAPS}/a/status`),
      get(`${WIDGETS}/a/foo`),
      put(`${WIDGETS}/a/foo`, {}),
      get(`${WIDGETS}/nope/foo`),
      get(`${WIDGETS}/a/status`),
      get(`${WIDGETS}/nope/status`),
      post(`${WIDGETS}/a/status`, widget('a')),
      remove(`${WIDGETS}/a/status`),
      put(`${WIDGETS}/a/status`, widget('a')),
      merge(`${WIDGETS}/a/status`, { status: { n: 4 }, spec: { n: 77 }, metadata: { labels: { a: 'b' } } }),
      merge(`${WIDGETS}/a`, { status: { n: 9 } }),
      merge(`${WIDGETS}/a/status`, { status: null }),
      get(`${WIDGETS}/a/scale`),
      get(`${WIDGETS}/a/scale`, TABLE),
      get(`${WIDGETS}/a/scale`, PARTIAL),
      post(`${WIDGETS}/a/scale`, {}),
      remove(`${WIDGETS}/a/scale`),
      put(`${WIDGETS}/a/scale`, {}),
      put(`${WIDGETS}/a/scale`, scale({ spec: { replicas: 3 } })),
      put(`${WIDGETS}/a/scale`, scale({ metadata: { name: 'b' }, spec: { replicas: 3 } })),
      put(`${WIDGETS}/a/scale`, scale({ spec: { replicas: -3 } })),
      merge(`${WIDGETS}/a/scale`, { spec: { replicas: 4, bogus: 1 } }),
      merge(`${WIDGETS}/a/scale`, { metadata: { resourceVersion: '1' }, spec: { replicas: 5 } }),
      get(`${WIDGETS}/a`),
    ],
  },
  {
    title: 'options of deletions',
    requests: [
      post(MAPS, map('a')),
      remove(`${MAPS}/nope`),
      remove(`${WIDGETS}/nope`),
      remove(`${MAPS}/a?propagationPolicy=Foo`),
      remove(`${MAPS}/a?propagationPolicy=Orphan&orphanDependents=true`),
      ...[
        '{"kind":"Foo","apiVersion":"v1"}',
        '{bad',
        '[]',
        '""',
        '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"x"}}',
        '{"gracePeriodSeconds":"x"}',
        '{"propagationPolicy":5}',
        '{"orphanDependents":"x"}',
        '{"dryRun":"All"}',
        '{"dryRun":["Foo"]}',
        '{"bogus":"x","dryRun":["All"]}',
        '{"kind":"DeleteOptions","apiVersion":"apps/v1","dryRun":["All"]}',
      ].map((body) => remove(`${MAPS}/a`, body)),
      { ...remove(`${MAPS}/a`, 'x'), headers: { 'content-type': 'text/plain' } },
      { ...remove(`${MAPS}/a`, 'dryRun: [All]'), headers: { 'content-type': 'application/yaml' } },
      remove(`${MAPS}/a`, 'null'),
      get(`${MAPS}/a`),
    ],
  },
  {
    title: 'deletions that wait for finalizers',
    requests: [
      post(WIDGETS, widget('f', {}, { finalizers: ['x.io/f'] })),
      remove(`${WIDGETS}/f`),
      remove(`${WIDGETS}/f`),
      remove(`${WIDGETS}/f?orphanDependents=false`),
      post(WIDGETS, widget('f')),
      merge(`${WIDGETS}/f`, { metadata: { finalizers: ['x.io/f', 'y.io/g'], labels: { a: 'b' } } }),
      merge(`${WIDGETS}/f`, { metadata: { deletionTimestamp: null, labels: { a: 'b' } } }),
      merge(`${WIDGETS}/f`, { metadata: { deletionGracePeriodSeconds: 5 } }),
      merge(`${WIDGETS}/f`, { metadata: { finalizers: null } }),
      get(`${WIDGETS}/f`),
      post(MAPS, map('f', { finalizers: ['x.io/f'] })),
      remove(`${MAPS}/f?propagationPolicy=Foreground`),
      remove(`${MAPS}/f?propagationPolicy=Background`),
      merge(`${MAPS}/f`, { metadata: { finalizers: ['nodots'] } }),
      put(`${MAPS}/f`, map('f')),
      get(`${MAPS}/f`),
    ],
  },
  {
    title: 'deletions of collections',
    requests: [
      post(WIDGETS, widget('a', {}, { labels: { a: 'b' } })),
      post(WIDGETS, widget('b', {}, { labels: { a: 'c' }, finalizers: ['x.io/f'] })),
      remove(`${WIDGETS}?labelSelector=!!`),
      remove(`${WIDGETS}?dryRun=All`),
      remove(`${WIDGETS}?labelSelector=a%3Db`),
      remove(WIDGETS, { propagationPolicy: 'Background' }),
      get(WIDGETS),
    ],
  },
  {
    title: 'kinds that a PUT creates',
    requests: [
      put('/apis/coordination.k8s.io/v1/namespaces/probe/leases/l', { metadata: { name: 'l' }, spec: { holderIdentity: 'a' } }),
      put('/apis/coordination.k8s.io/v1/namespaces/probe/leases/l', { metadata: { name: 'l' }, spec: { holderIdentity: 'b' } }),
      put('/api/v1/namespaces/probe/limitranges/l', { metadata: { name: 'l' }, spec: { limits: [] } }),
      put('/apis/rbac.authorization.k8s.io/v1/namespaces/probe/roles/r', { metadata: { name: 'r' }, rules: [] }),
      put('/apis/rbac.authorization.k8s.io/v1/namespaces/probe/roles/r', { metadata: { name: 'r', resourceVersion: '1' }, rules: [] }),
      put('/api/v1/namespaces/probe/secrets/s', { metadata: { name: 's' } }),
      put('/api/v1/namespaces/probe/pods/p', pod('p')),
    ],
  },
  {
    title: 'deletions of pods',
    requests: [
      post(PODS, pod('p')),
      remove(`${PODS}/p`),
      get(`${PODS}/p`),
      post(PODS, pod('q', { nodeName: 'n1' })),
      remove(`${PODS}/q`),
      remove(`${PODS}/q`),
      remove(`${PODS}/q?gracePeriodSeconds=50`),
      remove(`${PODS}/q?gracePeriodSeconds=5`),
      remove(`${PODS}/q?gracePeriodSeconds=-1`),
      merge(`${PODS}/q`, { metadata: { labels: { x: 'y' } } }),
      remove(`${PODS}/q?gracePeriodSeconds=0`),
      get(`${PODS}/q`),
      post(PODS, pod('f', { nodeName: 'n1', terminationGracePeriodSeconds: 7 }, { finalizers: ['x.io/f'] })),
      remove(`${PODS}/f`),
      remove(`${PODS}/f?gracePeriodSeconds=0`),
      merge(`${PODS}/f`, { metadata: { finalizers: null } }),
      get(`${PODS}/f`),
    ],
  },
  {
    title: 'subresources of pods',
    requests: [
      post(PODS, pod('e', { nodeName: 'n1' })),
      post(`${PODS}/e/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'zz' } }),
      post(`${PODS}/nope/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'nope' } }),
      post(`${PODS}/e/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'e' } }),
      get(`${PODS}/e`),
      post(PODS, pod('b')),
      post(`${PODS}/b/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'b' }, target: { kind: 'Node', name: 'n7' } }),
      post(`${PODS}/b/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'b' }, target: { kind: 'Node', name: 'n8' } }),
      get(`${PODS}/b`),
      strategic(`${PODS}/b/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: 'd', image: 'x' }] } }),
      strategic(`${PODS}/b/status`, { status: { phase: 'Running' }, spec: { nodeName: 'zz' } }),
      strategic(`${PODS}/b`, { status: { phase: 'Failed' } }),
      get(`${PODS}/nope/log`),
    ],
  },
  {
    title: 'a namespace',
    requests: [
      put(`${NAMESPACE}/finalize`, { metadata: { name: 'probe' }, spec: { finalizers: ['kubernetes', 'x.io/y'] } }),
      put(`${NAMESPACE}/finalize`, { metadata: { name: 'probe' }, spec: { finalizers: ['bad'] } }),
      put(`${NAMESPACE}/finalize`, { metadata: { name: 'probe' }, spec: { finalizers: ['kubernetes'] } }),
      merge(NAMESPACE, { spec: { finalizers: ['x.io/z'] } }),
      get(`${NAMESPACE}/finalize`),
      remove('/api/v1/namespaces'),
      remove(`${NAMESPACE}?dryRun=All`),
      get(NAMESPACE),
    ],
  },
  {
    title: 'questions',
    requests: [
      post(`${NAMESPACE}/serviceaccounts/default/token`, { spec: { expirationSeconds: 5 } }),
      post(`${NAMESPACE}/serviceaccounts/nope/token`, {}),
      post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: {} }),
      get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'),
      put('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x', {}),
      post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?fieldValidation=Strict', {
        spec: { bogus: 1, resourceAttributes: { verb: 'get', resource: 'pods' } },
      }),
    ],
  },
]
