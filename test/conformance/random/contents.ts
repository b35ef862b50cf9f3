/**
 * What is random about an object, as choices from few values: so that two writes often meet in the same field. `nulls`: a patch,
 * which may take away.
 */
import fc from 'fast-check'
import { S } from '../objects.ts'
import { type Body, version } from '../world.ts'

export const KINDS = ['configmaps', 'secrets', 'services', 'deployments', 'things'] as const
export type Kind = (typeof KINDS)[number]
export const NAMES = ['a', 'b'] as const

export const GROUP_VERSION: Readonly<Record<Kind, (group: string) => string>> = {
  configmaps: () => 'v1',
  secrets: () => 'v1',
  services: () => 'v1',
  deployments: () => 'apps/v1',
  things: (group) => `${group}/v1`,
}
export const KIND_NAME: Readonly<Record<Kind, string>> = {
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  services: 'Service',
  deployments: 'Deployment',
  things: 'Thing',
}

const CONDITIONS = S.list(S.object({ type: S.string, status: S.string, n: S.int }, { required: ['type', 'status'] }), {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
})

/** The custom kind: something of everything. */
export const THING = {
  plural: 'things',
  kind: 'Thing',
  versions: [
    version(
      'v1',
      {
        spec: S.object(
          {
            replicas: { type: 'integer', minimum: 0, maximum: 5, default: 1 },
            text: { type: 'string', maxLength: 4, pattern: '^[a-z]*$' },
            maybe: { type: 'string', nullable: true },
            mode: { type: 'string', enum: ['on', 'off'], default: 'on' },
            either: { 'x-kubernetes-int-or-string': true },
            set: S.list({ type: 'string', maxLength: 5 }, { 'x-kubernetes-list-type': 'set', maxItems: 5 }),
            args: S.list({ type: 'string', nullable: true }, { maxItems: 5 }),
            ports: S.list(
              S.object(
                { port: { type: 'integer', maximum: 99 }, protocol: { type: 'string', default: 'TCP' }, name: S.string },
                { required: ['port'] },
              ),
              {
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['port', 'protocol'],
                maxItems: 5,
              },
            ),
            map: { ...S.map({ type: 'integer' }), maxProperties: 5 },
            whole: S.object({ x: S.int, y: S.int }, { 'x-kubernetes-map-type': 'atomic' }),
            nested: S.object({
              deep: S.object({ z: { type: 'integer', default: 7 } }, { default: {} }),
              list: S.list(S.object({ q: S.int })),
            }),
            free: S.any,
          },
          {
            'x-kubernetes-validations': [
              { rule: "self.mode != 'off' || self.replicas == 0", message: 'off means none' },
              { rule: '!has(self.text) || !has(oldSelf.text) || self.text.startsWith(oldSelf.text)', message: 'text only grows' },
              {
                rule: '!has(self.set) || !has(self.ports) || self.set.size() >= self.ports.size()',
                fieldPath: '.ports',
                reason: 'FieldValueForbidden',
              },
            ],
          },
        ),
        status: S.object({ phase: S.string, replicas: S.int, conditions: CONDITIONS }),
      },
      { subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } },
    ),
  ],
}

/** Some of these members, each with a value of its own choice. */
function some(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Body> {
  return fc.record(members, { requiredKeys: [] })
}

function map(keys: readonly string[], value: fc.Arbitrary<unknown>): fc.Arbitrary<Body> {
  return some(Object.fromEntries(keys.map((key) => [key, value])))
}

const pick = <T = unknown>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

/** Everything but apiVersion, kind and name. */
export function contents(kind: Kind, nulls: boolean): fc.Arbitrary<Body> {
  const or = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    nulls ? fc.oneof({ weight: 4, arbitrary: value }, fc.constant(null)) : value
  const text = or(pick('1', '2', ''))
  const labels = or(map(['x', 'y'], text))
  const finalizers = or(fc.subarray(['example.com/f', 'example.com/g'], { maxLength: 1 }))
  const metadata = some({ labels, annotations: or(map(['n', 'example.com/o'], text)), finalizers })
  const rest: Record<Kind, fc.Arbitrary<Body>> = {
    configmaps: some({
      data: or(map(['a', 'b'], text)),
      // Never empty: a real server tells an empty map from none, until it is stored.
      binaryData: or(fc.record({ c: or(pick('AA==', '', '!')) })),
      immutable: or(pick(false)),
    }),
    secrets: some({
      data: or(map(['a', 'b'], or(pick('AA==', '')))),
      stringData: or(map(['b', 'c'], text)),
      type: pick('Opaque', 'Opaque', 'example.com/x'),
    }),
    services: fc.record({ spec: service(or) }),
    deployments: fc.record({ spec: deployment(or, nulls) }),
    things: some({ spec: or(thing(or)) }),
  }
  return fc.tuple(metadata, rest[kind]).map(([metadata, more]) => ({ metadata, ...more }))
}

export function statuses(kind: Kind, nulls: boolean): fc.Arbitrary<Body> {
  const or = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    nulls ? fc.oneof({ weight: 4, arbitrary: value }, fc.constant(null)) : value
  const conditions = fc.uniqueArray(fc.record({ type: pick('A', 'B', 'C'), status: pick('True', 'False') }), {
    selector: ({ type }) => type,
    maxLength: 3,
  })
  if (kind === 'things') return some({ phase: or(pick('p', '')), replicas: or(pick(0, 2)), conditions: or(conditions) })
  if (kind === 'deployments')
    return some({ replicas: or(pick(0, 3)), readyReplicas: or(pick(0, 1, 4)), observedGeneration: pick(0, 1), conditions: or(conditions) })
  return fc.record({ loadBalancer: some({ ingress: or(pick([], [{ ip: '1.2.3.4' }])) }) })
}

type Or = (value: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>

function service(or: Or): fc.Arbitrary<Body> {
  const port = fc.record(
    { port: pick(80, 81), name: pick('a', 'b', 'c'), protocol: pick('TCP', 'UDP'), targetPort: pick<unknown>(80, 'http') },
    { requiredKeys: ['port', 'name'] },
  )
  return some({
    ports: fc.uniqueArray(port, { minLength: 1, maxLength: 3, comparator: samePort }),
    selector: or(map(['x', 'y'], or(pick('1', '2')))),
    type: pick('ClusterIP', 'ClusterIP', 'NodePort'),
    sessionAffinity: or(pick('None', 'ClientIP')),
    publishNotReadyAddresses: or(fc.boolean()),
  })
}

/** Two ports of one service have neither the same name nor the same number and protocol. */
const samePort = (a: Body, b: Body) => a.name === b.name || (a.port === b.port && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP'))

function deployment(or: Or, nulls: boolean): fc.Arbitrary<Body> {
  const variable = fc.record({ name: pick('A', 'B'), value: or(pick('1', '2', '')) }, { requiredKeys: ['name'] })
  const container = fc.record(
    {
      name: pick('one', 'two'),
      image: pick('i:1', 'i:2', 'i'),
      env: or(fc.array(variable, { maxLength: 2 })),
      ports: or(
        fc.uniqueArray(fc.record({ containerPort: pick(80, 81), protocol: pick('TCP', 'UDP') }), {
          maxLength: 2,
          selector: (port) => JSON.stringify(port),
        }),
      ),
      args: or(pick([], ['x'], ['x', 'y'])),
      resources: or(some({ limits: or(map(['cpu'], pick<unknown>('1', '500m', 1, '0.5'))) })),
    },
    { requiredKeys: nulls ? ['name'] : ['name', 'image'] },
  )
  const containers = fc.uniqueArray(container, { minLength: 1, maxLength: 2, selector: ({ name }) => name })
  const template = fc.record({
    metadata: fc.constant({ labels: { app: 'a' } }),
    spec: fc.record(
      { containers, nodeSelector: or(map(['x'], or(pick('1', '2')))), terminationGracePeriodSeconds: or(pick(0, 30)) },
      { requiredKeys: ['containers'] },
    ),
  })
  const required = nulls ? [] : (['selector', 'template'] as const)
  return fc.record(
    {
      replicas: or(pick(0, 1, 3)),
      selector: fc.constant({ matchLabels: { app: 'a' } }),
      template,
      minReadySeconds: or(pick(0, 5)),
      paused: or(fc.boolean()),
      strategy: or(pick({ type: 'Recreate' }, { rollingUpdate: { maxSurge: 1 } }, {})),
    },
    { requiredKeys: [...required] },
  )
}

function thing(or: Or): fc.Arbitrary<Body> {
  const port = fc.record({ port: pick(1, 2, 100), protocol: pick('TCP', 'UDP'), name: or(pick('p', 'q')) }, { requiredKeys: ['port'] })
  return some({
    replicas: or(pick(0, 0, 1, 6)),
    text: or(pick('', 'a', 'ab', 'b', 'ABCDE')),
    maybe: or(pick('', 'm')),
    mode: or(pick('on', 'on', 'off', 'dim')),
    either: or(pick<unknown>(1, '1', '5%')),
    set: or(pick([], ['a'], ['b', 'a'], ['c', 'a', 'd'], ['a', 'a'])),
    args: or(pick([], ['1'], ['1', null])),
    ports: or(fc.array(port, { maxLength: 2 })),
    map: or(map(['k', 'l'], or(pick(1, 2)))),
    whole: or(some({ x: or(pick(1, 2)), y: or(pick(1)) })),
    nested: or(some({ deep: or(some({ z: or(pick(1, 2)) })), list: or(pick([], [{ q: 1 }], [{}, { q: 2 }])) })),
    free: or(pick({}, { a: null }, { a: { b: [1, null, {}] }, c: '' }, { n: 1.5 })),
  })
}
