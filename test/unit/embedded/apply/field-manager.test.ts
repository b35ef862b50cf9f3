import { expect } from 'chai'
import fc from 'fast-check'
import { applyConfiguration, trackUpdate } from '../../../../lib/embedded/apply/field-manager.ts'
import { has, paths, union } from '../../../../lib/embedded/apply/field-set.ts'
import { objectType } from '../../../../lib/embedded/apply/field-type.ts'
import { parseFields } from '../../../../lib/embedded/apply/fields-v1.ts'
import { ownedFields } from '../../../../lib/embedded/apply/owned.ts'
import { requireType } from '../../../../lib/embedded/apply/validate-type.ts'
import { builtinTypes } from '../../../../lib/embedded/builtin/types.ts'
import { cloneJson, type Json, type JsonObject } from '../../../../lib/embedded/json.ts'
import { ApiError } from '../../../../lib/embedded/status.ts'
import type { ApiObject, Schema } from '../../../../lib/embedded/types.ts'
import { source, Widget } from './widgets.ts'

const spec = (members: object) => ({ spec: members })

function refusal(f: () => unknown): ApiError {
  try {
    f()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was taken')
}

describe('server-side apply', () => {
  it('owns what it names; an update owns also the maps and lists that it makes', () => {
    const world = new Widget()
    world.update(spec({ labels: { a: '1' } }), { by: 'up' })
    world.apply(spec({ map: [{ k: 'x', v: 1 }], set: ['s'] }), { by: 'ap' })
    expect(world.owners).to.deep.equal({
      'ap Apply': { 'f:spec': { 'f:map': { 'k:{"k":"x"}': { '.': {}, 'f:k': {}, 'f:v': {} } }, 'f:set': { 'v:"s"': {} } } },
      'up Update': { 'f:spec': { '.': {}, 'f:labels': { '.': {}, 'f:a': {} } } },
    })
  })

  it('removes what its manager alone applied before and no longer does', () => {
    const world = new Widget()
    world.apply(spec({ s: 'x', n: 1, labels: { a: '1', b: '1' }, map: [{ k: 'x' }, { k: 'y' }] }), { by: 'm' })
    world.apply(spec({ n: 1, labels: { b: '1' }, map: [{ k: 'y' }] }), { by: 'm' })
    expect(world.live?.['spec']).to.deep.equal({ n: 1, labels: { b: '1' }, map: [{ k: 'y' }] })
  })

  it('keeps what another manager applied too, until that one leaves it as well', () => {
    const world = new Widget()
    world.apply(spec({ labels: { a: '1', b: '1' } }), { by: 'm1' })
    world.apply(spec({ labels: { a: '1' } }), { by: 'm2' })
    world.apply(spec({ labels: { b: '1' } }), { by: 'm1' })
    expect(world.live?.['spec']).to.deep.equal({ labels: { a: '1', b: '1' } })
    world.apply(spec({}), { by: 'm2' })
    expect(world.live?.['spec']).to.deep.equal({ labels: { b: '1' } })
  })

  it('leaves what nobody owns beside what it removes', () => {
    const world = new Widget()
    world.apply(spec({ labels: { a: '1' }, map: [{ k: 'x', v: 1 }], s: 'x' }), { by: 'm' })
    world.poke({ ...world.live?.['spec'], labels: { a: '1', b: '2' }, map: [{ k: 'x', v: 1, in: { p: 1 } }, { k: 'y' }] })
    world.apply(spec({ s: 'x', labels: { c: '3' }, map: [{ k: 'x' }] }), { by: 'm' })
    expect(world.live?.['spec']).to.deep.equal({ s: 'x', labels: { b: '2', c: '3' }, map: [{ k: 'x', in: { p: 1 } }, { k: 'y' }] })
  })

  it('refuses to change what others own, and says whose it is', () => {
    const world = new Widget({ reset: true })
    world.apply(spec({ s: 'x', atomic: ['a'] }), { by: 'm1' })
    world.update({ spec: { ...world.live?.['spec'], n: 1 } }, { by: 'up' })
    world.update({ ...world.live, status: { ready: 1 } }, { by: 'st', subresource: 'status' })
    const one = refusal(() => world.apply(spec({ s: 'y' }), { by: 'm2' }))
    expect(one).to.include({ code: 409, reason: 'Conflict', message: 'Apply failed with 1 conflict: conflict with "m1": .spec.s' })
    expect(one.details).to.deep.equal({ causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.spec.s' }] })
    const more = refusal(() => world.apply(spec({ s: 'y', n: 2, atomic: [] }), { by: 'm2' }))
    expect(more.message).to.equal(
      'Apply failed with 3 conflicts: conflicts with "m1":\n- .spec.atomic\n- .spec.s\nconflicts with "up" using ex.io/v1:\n- .spec.n',
    )
    const status = refusal(() => world.apply({ status: { ready: 2 } }, { by: 'm2', subresource: 'status' }))
    expect(status.message).to.equal(
      'Apply failed with 1 conflict: conflict with "st" with subresource "status" using ex.io/v1: .status.ready',
    )
  })

  it('takes fields over by force, and shares those that are equal', () => {
    const world = new Widget()
    world.apply(spec({ s: 'x', n: 1 }), { by: 'm1' })
    world.apply(spec({ s: 'y', n: 1 }), { by: 'm2', force: true })
    expect(world.owners).to.deep.equal({ 'm1 Apply': { 'f:spec': { 'f:n': {} } }, 'm2 Apply': { 'f:spec': { 'f:n': {}, 'f:s': {} } } })
  })

  it('shows items of lists in conflicts by their keys', () => {
    const world = new Widget()
    world.apply(spec({ map2: [{ ip: '1', x: 'a' }] }), { by: 'm1' })
    const { message } = refusal(() => world.apply(spec({ map2: [{ ip: '1', port: 80, x: 'b' }] }), { by: 'm2' }))
    expect(message).to.equal('Apply failed with 1 conflict: conflict with "m1": .spec.map2[ip="1",port=80].x')
  })

  it('merges keyed lists in the order of the configuration', () => {
    const world = new Widget()
    const order = () => world.live?.['spec'].map.map(({ k }: { k: string }) => k).join('')
    world.apply(spec({ map: [{ k: 'c' }, { k: 'a' }] }), { by: 'm1' })
    world.apply(spec({ map: [{ k: 'b' }, { k: 'd' }] }), { by: 'm2' })
    expect(order()).to.equal('cabd')
    world.apply(spec({ map: [{ k: 'a' }, { k: 'c' }] }), { by: 'm1' })
    expect(order()).to.equal('abdc')
  })

  it('replaces atomic lists and maps as a whole', () => {
    const world = new Widget()
    world.apply(spec({ atomic: ['a', 'b'], atomicMap: { a: '1' } }), { by: 'm' })
    world.apply(spec({ atomic: ['c'], atomicMap: { b: '1' } }), { by: 'm' })
    expect(world.live?.['spec']).to.deep.equal({ atomic: ['c'], atomicMap: { b: '1' } })
    expect(world.owners).to.deep.equal({ 'm Apply': { 'f:spec': { 'f:atomic': {}, 'f:atomicMap': {} } } })
  })

  it('knows the fields of parts without a schema: maps have some, lists are one value', () => {
    const world = new Widget()
    world.apply(spec({ free: { a: { b: 1 }, l: [{ c: 1 }] } }), { by: 'm1' })
    world.apply(spec({ free: { a: { d: 1 } } }), { by: 'm2' })
    expect(world.owners).to.deep.equal({
      'm1 Apply': { 'f:spec': { 'f:free': { 'f:a': { '.': {}, 'f:b': {} }, 'f:l': {} } } },
      'm2 Apply': { 'f:spec': { 'f:free': { 'f:a': { '.': {}, 'f:d': {} } } } },
    })
  })

  it('refuses what does not fit the schema, as a 500 like the real server', () => {
    const told = (body: object) => {
      const { code, message } = refusal(() => new Widget().apply(body, { by: 'm' }))
      return `${code} ${message.replace('failed to create typed patch object (/a; ex.io/v1, Kind=Widget): ', '')}`
    }
    expect([
      told(spec({ bogus: 1 })),
      told({ metadata: { bogus: 1 } }),
      told(spec({ s: 1 })),
      told(spec({ s: { a: ['x', null, 1.5] } })),
      told(spec({ n: '1' })),
      told(spec({ b: 'yes' })),
      told(spec({ labels: 'x' })),
      told(spec({ atomic: { a: 1 } })),
      told(spec({ map: [{ v: 1 }] })),
      told(spec({ map: [{ k: 'a' }, { k: 'a' }] })),
      told(spec({ set: [{}] })),
      told(spec({ s: 1, n: 'x' })),
    ]).to.deep.equal([
      '500 .spec.bogus: field not declared in schema',
      '500 .metadata.bogus: field not declared in schema',
      '500 .spec.s: expected string, got &value.valueUnstructured{Value:1}',
      '500 .spec.s: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"x", interface {}(nil), 1.5}}}',
      '500 .spec.n: expected numeric (int or float), got string',
      '500 .spec.b: expected boolean, got &{yes}',
      '500 .spec.labels: expected map, got &{x}',
      '500 .spec.atomic: expected list, got &{map[a:1]}',
      '500 .spec.map: element 0: associative list with keys has an element that omits all key fields ["k"] (and doesn\'t have default values for any key fields)',
      '500 .spec.map: duplicate entries for key [k="a"]',
      "500 .spec.set: element 0: associative list without keys has an element that's a map type",
      '500 errors:\n  .spec.s: expected string, got &value.valueUnstructured{Value:1}\n  .spec.n: expected numeric (int or float), got string',
    ])
  })

  it('refuses another kind, another version, and managedFields', () => {
    const told = (body: object) => {
      const { code, message } = refusal(() => new Widget().apply(body, { by: 'm' }))
      return `${code} ${message}`
    }
    expect([
      told({ apiVersion: 'ex.io/v2', kind: 'Widget', metadata: {} }),
      told({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }),
      told({ metadata: { managedFields: [] } }),
    ]).to.deep.equal([
      '400 invalid object type: ex.io/v2, Kind=Widget',
      '400 invalid object type: /v1, Kind=ConfigMap',
      '400 metadata.managedFields must be nil',
    ])
    expect(() => new Widget().apply({ metadata: { managedFields: null } }, { by: 'm' })).to.not.throw()
  })

  it('never owns what identifies an object, nor what its subresource cannot set', () => {
    const world = new Widget({ reset: true })
    world.apply({ metadata: { uid: '1', generation: 2, resourceVersion: '3', labels: { a: 'b' } }, status: { ready: 1 } }, { by: 'm' })
    expect(world.owners).to.deep.equal({ 'm Apply': { 'f:metadata': { 'f:labels': { 'f:a': {} } } } })
    world.apply({ metadata: { labels: { c: 'd' } }, spec: { s: 'x' }, status: { ready: 1 } }, { by: 'st', subresource: 'status' })
    expect(world.owners).to.have.deep.property('st Apply', { 'f:status': { 'f:ready': {} } })
  })

  it('hands out the resourceVersion and the uid that a configuration names, for the server to check', () => {
    const { metadata } = new Widget().apply({ metadata: { uid: '1', resourceVersion: '3' } }, { by: 'm' })
    expect(metadata).to.include({ uid: '1', resourceVersion: '3' })
  })

  it('moves the time only of an apply that changed the object', () => {
    const world = new Widget()
    world.apply(spec({ s: 'x' }), { by: 'm' })
    world.time = '2026-01-02T00:00:00Z'
    world.apply(spec({ s: 'x' }), { by: 'm' })
    expect(world.managedFields.map(({ time }) => time)).to.deep.equal(['2026-01-01T00:00:00Z'])
    world.apply(spec({ s: 'y' }), { by: 'm' })
    expect(world.managedFields.map(({ time }) => time)).to.deep.equal(['2026-01-02T00:00:00Z'])
  })

  it('takes over from client-side apply where the annotation shows that the field is as kubectl left it', () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
    const applied = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { s: 'x', n: 1 } }
    const world = new Widget()
    world.update(
      { metadata: { annotations: { [annotation]: JSON.stringify(applied) } }, spec: { s: 'x', n: 2 } },
      { by: 'kubectl-client-side-apply' },
    )
    expect(refusal(() => world.apply(spec({ s: 'y' }), { by: 'other' })).code).to.equal(409)
    expect(refusal(() => world.apply(spec({ s: 'y', n: 3 }), { by: 'kubectl' })).message).to.equal(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using ex.io/v1: .spec.n',
    )
    const object = world.apply(spec({ s: 'y' }), { by: 'kubectl' })
    expect(object['spec']).to.deep.equal({ s: 'y', n: 2 })
    expect(object.metadata.annotations?.[annotation]).to.equal(
      '{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"s":"y"}}\n',
    )
  })
})

describe('managedFields', () => {
  it('have one entry a manager, operation, version and subresource, appliers first', () => {
    const world = new Widget({ reset: true })
    world.update(spec({ s: 'x' }), { by: 'm' })
    world.update({ ...world.live, status: { ready: 1 } }, { by: 'm', subresource: 'status' })
    world.time = '2026-01-02T00:00:00Z'
    world.apply(spec({ n: 1 }), { by: 'm' })
    world.update({ ...world.live, apiVersion: 'ex.io/v2', spec: { ...world.live?.['spec'], b: true } }, { by: 'm', version: 'v2' })
    expect(world.managedFields.map(({ operation, apiVersion, subresource }) => [operation, apiVersion, subresource])).to.deep.equal([
      ['Apply', 'ex.io/v1', undefined],
      ['Update', 'ex.io/v1', undefined],
      ['Update', 'ex.io/v1', 'status'],
      ['Update', 'ex.io/v2', undefined],
    ])
    expect(Object.keys(world.managedFields[2] ?? {})).to.deep.equal([
      'manager',
      'operation',
      'apiVersion',
      'time',
      'fieldsType',
      'fieldsV1',
      'subresource',
    ])
  })

  it('move their time only when the manager changed something', () => {
    const world = new Widget()
    world.update(spec({ s: 'x' }), { by: 'm1' })
    world.time = '2026-01-02T00:00:00Z'
    world.update(spec({ s: 'x', n: 1 }), { by: 'm2' })
    world.time = '2026-01-03T00:00:00Z'
    world.update(spec({ s: 'x', n: 1 }), { by: 'm1' })
    expect(world.managedFields.map(({ manager, time }) => `${manager} ${time}`)).to.deep.equal([
      'm1 2026-01-01T00:00:00Z',
      'm2 2026-01-02T00:00:00Z',
    ])
  })

  it('are forgotten on [{}] or [], and stay so until somebody applies', () => {
    for (const managedFields of [[], [{}]]) {
      const world = new Widget()
      world.update(spec({ s: 'x' }), { by: 'm1' })
      world.update({ metadata: { managedFields }, spec: { s: 'x' } }, { by: 'm2' })
      expect(world.live?.metadata).to.not.have.property('managedFields')
      world.update(spec({ s: 'y' }), { by: 'm2' })
      expect(world.live?.metadata).to.not.have.property('managedFields')
      world.apply(spec({ n: 1 }), { by: 'm3' })
      expect(world.owners).to.deep.equal({
        'm3 Apply': { 'f:spec': { 'f:n': {} } },
        'before-first-apply Update': { 'f:spec': { '.': {}, 'f:s': {} } },
      })
    }
  })

  it('that a client sends take the place of those there, unless they are none', () => {
    const entry = {
      manager: 'q',
      operation: 'Update',
      apiVersion: 'ex.io/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:s': {} } },
    }
    const world = new Widget()
    world.update(spec({ s: 'x' }), { by: 'm1' })
    world.update({ metadata: { managedFields: [{ ...entry, operation: 'Bad' }] }, spec: { s: 'x' } }, { by: 'm2' })
    expect(world.owners).to.deep.equal({ 'm1 Update': { 'f:spec': { '.': {}, 'f:s': {} } } })
    world.update({ metadata: { managedFields: [entry] }, spec: { s: 'x' } }, { by: 'm2' })
    expect(world.owners).to.deep.equal({ 'q Update': { 'f:spec': { 'f:s': {} } } })
  })

  it('have at most ten updaters; the oldest become ancient-changes', () => {
    const world = new Widget()
    for (let i = 0; i < 12; i++) {
      world.time = `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`
      const labels = Object.fromEntries(Array.from({ length: i + 1 }, (_, n) => [`l${n}`, '1']))
      world.update(spec({ labels }), { by: `m${String(i).padStart(2, '0')}` })
    }
    expect(world.managedFields.map(({ manager }) => manager)).to.deep.equal([
      'ancient-changes',
      ...['m03', 'm04', 'm05', 'm06', 'm07', 'm08', 'm09', 'm10', 'm11'],
    ])
    expect(world.managedFields[0]).to.deep.include({
      time: '2026-01-01T00:00:02Z',
      fieldsV1: { 'f:spec': { '.': {}, 'f:labels': { '.': {}, 'f:l0': {}, 'f:l1': {}, 'f:l2': {} } } },
    })
  })

  it('follow a list that became atomic', () => {
    const world = new Widget()
    const fields = { 'f:spec': { 'f:atomic': { 'v:"a"': {} }, 'f:atomicMap': { 'f:a': {} } } }
    const entry = { manager: 'q', operation: 'Update', apiVersion: 'ex.io/v1', fieldsType: 'FieldsV1', fieldsV1: fields }
    const metadata = { managedFields: [entry] }
    world.update({ metadata, spec: { atomic: ['a'], atomicMap: { a: '1' } } }, { by: 'q' })
    world.update({ ...world.live, spec: { ...world.live?.['spec'], s: 'x' } }, { by: 'other' })
    expect(world.owners).to.have.deep.property('q Update')
    expect(world.owners['q Update']).to.deep.equal({ 'f:spec': { '.': {}, 'f:atomic': {}, 'f:atomicMap': {} } })
  })

  it('lose the owners of a version that is not served any more', () => {
    const world = new Widget()
    world.update(spec({ s: 'x' }), { by: 'm1' })
    const old = { ...world.managedFields[0], apiVersion: 'ex.io/v0', manager: 'old' }
    world.update({ metadata: { managedFields: [...world.managedFields, old] }, spec: { s: 'x', n: 1 } }, { by: 'm1' })
    expect(Object.keys(world.owners)).to.deep.equal(['m1 Update'])
  })

  it('of a built-in kind do not own the spec and status that every object has', () => {
    const type = builtinTypes(new Map()).find(({ kind }) => kind === 'Deployment') as ReturnType<typeof builtinTypes>[number]
    const empty = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {},
      spec: { template: { metadata: {}, spec: {} } },
      status: {},
    } as ApiObject
    const containers = [{ name: 'c', image: 'x', ports: [{ containerPort: 80 }], resources: {} }]
    const next = { ...cloneJson(empty), spec: { replicas: 1, template: { metadata: {}, spec: { containers } } } } as ApiObject
    trackUpdate({ live: undefined, next, empty, manager: 'm', apiVersion: 'apps/v1', subresource: '', time: '', schemas: type.schema })
    expect(next.metadata.managedFields?.[0]?.fieldsV1).to.deep.equal({
      'f:spec': {
        'f:replicas': {},
        'f:template': {
          'f:spec': {
            'f:containers': {
              '.': {},
              'k:{"name":"c"}': {
                '.': {},
                'f:image': {},
                'f:name': {},
                'f:ports': { '.': {}, 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
                'f:resources': {},
              },
            },
          },
        },
      },
    })
  })
})

describe('types of fields', () => {
  it('may be atomic just where a member says so', () => {
    const Pair = { type: 'object', properties: { x: { type: 'string' }, y: { type: 'string' } } }
    const root: Schema = {
      type: 'object',
      properties: { loose: { $ref: 'Pair' }, tight: { $ref: 'Pair', 'x-kubernetes-map-type': 'atomic' } },
    }
    const schemas = { root, resolve: (schema: Schema) => (schema.$ref === undefined ? schema : Pair) }
    const value = { loose: { x: '1', y: '1' }, tight: { x: '1', y: '1' } }
    const owned = [...paths(ownedFields(value, objectType(schemas)))].map((path) => path.join(' '))
    expect(owned).to.have.members(['f:loose f:x', 'f:loose f:y', 'f:tight'])
    expect(() => requireType({ tight: { z: '1' } }, objectType(schemas), false)).to.throw('.tight.z: field not declared in schema')
  })
})

const name = fc.constantFrom('a', 'b', '__proto__')
/** Nothing in it is empty: what a configuration empties is null at first, and only defaulting makes it nothing. */
const values = fc.record(
  {
    s: fc.constantFrom('x', 'y'),
    n: fc.constantFrom(1, 2),
    set: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
    map: fc.uniqueArray(fc.record({ k: fc.constantFrom('a', 'b', 'c'), v: fc.constantFrom(1, 2) }, { requiredKeys: ['k'] }), {
      selector: ({ k }) => k,
      minLength: 1,
    }),
    atomic: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
    labels: fc.dictionary(name, fc.constantFrom('1', '2'), { minKeys: 1 }),
    deep: fc.record({ a: fc.record({ b: fc.constantFrom(1, 2), c: fc.constantFrom(1, 2) }, { requiredKeys: ['b'] }) }),
    any: fc.oneof(fc.constantFrom(1, 'x'), fc.dictionary(name, fc.constantFrom(1, 2), { minKeys: 1 })),
  },
  { requiredKeys: ['s'] },
)
const hands = fc.array(fc.record({ apply: fc.boolean(), by: fc.constantFrom('m1', 'm2', 'm3'), spec: values }), {
  minLength: 1,
  maxLength: 5,
})

function play(steps: readonly { apply: boolean; by: string; spec: object }[]): Widget {
  const world = new Widget()
  for (const { apply, by, spec } of steps) {
    if (apply) world.apply({ spec }, { by, force: true })
    else world.update({ spec }, { by })
  }
  return world
}

describe('any sequence of writes', () => {
  it('is not changed by applying the last configuration again', () => {
    fc.assert(
      fc.property(hands, values, (steps, spec) => {
        const world = play(steps)
        const once = world.apply({ spec }, { by: 'm1', force: true })
        world.time = '2027-01-01T00:00:00Z'
        const twice = world.apply({ spec }, { by: 'm1', force: true })
        expect({ ...twice, metadata: { ...twice.metadata, uid: undefined } }).to.deep.equal({
          ...once,
          metadata: { ...once.metadata, uid: undefined },
        })
      }),
    )
  })

  it('leaves each field of the object with an owner', () => {
    const type = objectType(source('same'))
    fc.assert(
      fc.property(hands, (steps) => {
        const world = play(steps)
        const owned = world.managedFields.map(({ fieldsV1 }) => parseFields(fieldsV1 ?? {})).reduce(union, new Map())
        for (const path of paths(ownedFields({ spec: withoutNulls(world.live?.['spec'] ?? {}) }, type))) {
          if (path.length > 1) expect(has(owned, path), path.join('')).to.equal(true)
        }
      }),
    )
  })

  it('leaves an applier owning just what it applied last', () => {
    const type = objectType(source('same'))
    fc.assert(
      fc.property(hands, values, (steps, spec) => {
        const world = play(steps)
        world.apply({ spec }, { by: 'm1', force: true })
        const entry = world.managedFields.find(({ manager, operation }) => manager === 'm1' && operation === 'Apply')
        const owned = [...paths(parseFields((entry?.fieldsV1 ?? {}) as JsonObject))].map((path) => path.join('\n'))
        expect(owned).to.have.members([...paths(ownedFields({ spec } as Json, type))].map((path) => path.join('\n')))
      }),
    )
  })

  it('changes none of its inputs, and shares nothing with them', () => {
    const schemas = source('same')
    fc.assert(
      fc.property(hands, values, (steps, spec) => {
        const { live } = play(steps)
        const config = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'a' }, spec } as ApiObject
        const before = JSON.stringify([live, config])
        const type = { group: 'ex.io', version: 'v1', kind: 'Widget' }
        const object = applyConfiguration({ live, config, manager: 'm', force: true, subresource: '', time: '', schemas, type })
        scribble(object as Json)
        expect(JSON.stringify([live, config])).to.equal(before)
      }),
    )
  })
})

/** As defaulting leaves them: null is what an apply has emptied. */
function withoutNulls(value: Json): Json {
  return JSON.parse(JSON.stringify(value), (_key, member) => (member === null ? undefined : member))
}

function scribble(value: Json): void {
  if (typeof value !== 'object' || value === null) return
  for (const inner of Object.values(value)) scribble(inner as Json)
  if (Array.isArray(value)) value.push('scribbled')
  else value['scribbled'] = true
}
