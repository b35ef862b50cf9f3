import { expect } from 'chai'
import { z as zodItself } from 'zod'
import { resource, z } from '../../../lib/index.ts'
import type { Schema } from '../../../lib/resource/schema.ts'

const database = {
  group: 'db.example.com',
  version: 'v1alpha1',
  kind: 'Database',
  spec: z.object({ engine: z.enum(['postgres', 'mysql']).default('postgres'), replicas: z.int().min(1).max(7).default(1) }),
}

const version = (kind: { crd: ReturnType<typeof resource>['crd'] }) => {
  const [only] = kind.crd.spec.versions
  if (only === undefined) throw new Error('no version')
  return only
}
const schema = (kind: { crd: ReturnType<typeof resource>['crd'] }) => version(kind).schema?.openAPIV3Schema as Schema

describe('resource', () => {
  it('refers to the kind with its place in the API', () => {
    const { apiVersion, kind, plural, scope, status } = resource(database)
    expect({ apiVersion, kind, plural, scope, status }).to.deep.equal({
      apiVersion: 'db.example.com/v1alpha1',
      kind: 'Database',
      plural: 'databases',
      scope: 'Namespaced',
      status: { conditions: true, observedGeneration: true, external: true },
    })
  })

  it('defines the kind for the cluster', () => {
    const { crd } = resource({
      ...database,
      shortNames: ['db'],
      categories: ['all'],
      scope: 'Cluster',
      labels: { a: 'b' },
      annotations: { c: 'd' },
      selectableFields: ['.spec.engine'],
    })
    expect(crd.metadata).to.deep.equal({ name: 'databases.db.example.com', labels: { a: 'b' }, annotations: { c: 'd' } })
    expect(crd.spec.names).to.deep.equal({
      plural: 'databases',
      singular: 'database',
      kind: 'Database',
      listKind: 'DatabaseList',
      shortNames: ['db'],
      categories: ['all'],
    })
    expect(crd.spec.scope).to.equal('Cluster')
    expect(version({ crd })).to.deep.include({
      name: 'v1alpha1',
      served: true,
      storage: true,
      subresources: { status: {} },
      selectableFields: [{ jsonPath: '.spec.engine' }],
    })
  })

  it('fills in the defaults also where spec is left out', () => {
    expect(schema(resource(database)).required).to.equal(undefined)
    expect(schema(resource(database)).properties?.spec?.default).to.deep.equal({})
  })

  it('asks for spec where one of its fields has to be given', () => {
    const kind = resource({ ...database, spec: z.object({ size: z.int() }) })
    expect(schema(kind).required).to.deep.equal(['spec'])
    expect(schema(kind).properties?.spec).to.not.have.property('default')
  })

  it('has a status with conditions by type, observedGeneration and the record of external steps', () => {
    const status = schema(resource({ ...database, status: z.object({ endpoint: z.string() }) })).properties?.status
    expect(status?.properties).to.have.keys('endpoint', 'conditions', 'observedGeneration', 'external')
    expect(status?.properties?.conditions).to.deep.include({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
  })

  it('lets a status be written that has only conditions yet', () => {
    const status = schema(resource({ ...database, status: z.object({ endpoint: z.string() }) })).properties?.status
    expect(status).to.not.have.property('required')
  })

  it('has a status where none is defined', () => {
    expect(schema(resource(database)).properties?.status?.properties).to.have.keys('conditions', 'observedGeneration', 'external')
  })

  it('puts rules on the object as a whole', () => {
    const rule = { rule: 'self.spec.engine == oldSelf.spec.engine', message: 'engine is immutable' }
    expect(schema(resource({ ...database, validations: [rule] }))['x-kubernetes-validations']).to.deep.equal([rule])
  })

  it('shows its own columns, then Ready, Reason and Age', () => {
    const names = (kind: ReturnType<typeof resource>) => version(kind).additionalPrinterColumns?.map((column) => column.name)
    expect(names(resource(database))).to.deep.equal(['Ready', 'Reason', 'Age'])
    const engine = { name: 'Engine', type: 'string', jsonPath: '.spec.engine' } as const
    const ready = { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' } as const
    const status = z.object({ ready: z.boolean() })
    expect(names(resource({ ...database, status, printerColumns: [engine, ready] }))).to.deep.equal(['Engine', 'Ready', 'Reason', 'Age'])
  })

  it('serves several versions, and stores objects in the one that handlers see', () => {
    const older = { version: 'v1alpha0', spec: z.object({ size: z.int().default(1) }), deprecated: 'use v1alpha1' }
    const oldest = { version: 'v0alpha1', spec: z.object({}), served: false, deprecated: true }
    const { apiVersion, crd } = resource({ ...database, versions: [older, oldest] })
    expect(apiVersion).to.equal('db.example.com/v1alpha1')
    const all = crd.spec.versions.map(({ name, served, storage, deprecated, deprecationWarning }) => [
      name,
      served,
      storage,
      deprecated,
      deprecationWarning,
    ])
    expect(all).to.deep.equal([
      ['v1alpha1', true, true, undefined, undefined],
      ['v1alpha0', true, false, true, 'use v1alpha1'],
      ['v0alpha1', false, false, true, undefined],
    ])
    const [, second] = crd.spec.versions
    expect(second?.schema?.openAPIV3Schema).to.have.nested.property('properties.spec.properties.size')
  })

  it('stores objects in another version where that says so', () => {
    const { crd } = resource({ ...database, versions: [{ version: 'v1', spec: z.object({}), storage: true }] })
    expect(crd.spec.versions.map(({ name, storage }) => [name, storage])).to.deep.equal([
      ['v1alpha1', false],
      ['v1', true],
    ])
  })

  it('lets its replicas be scaled', () => {
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' }
    const status = z.object({ replicas: z.int(), selector: z.string() })
    expect(version(resource({ ...database, status, scale })).subresources).to.deep.equal({ status: {}, scale })
  })

  it('describes spec and status unless they describe themselves', () => {
    const { properties } = schema(resource({ ...database, spec: z.object({}).describe('What to brew.') }))
    expect([properties?.spec?.description, properties?.status?.description]).to.deep.equal([
      'What to brew.',
      'The state that the operator found.',
    ])
    expect(schema(resource(database)).properties?.spec?.description).to.equal('The desired state.')
  })

  it('takes paths that cannot be followed as they are', () => {
    const paths = ['.spec.labels.app', '.spec.anything.a', '.spec.list[0].x', '.metadata.name']
    const spec = z.object({ labels: z.record(z.string(), z.string()), anything: z.any(), list: z.array(z.object({ x: z.string() })) })
    const printerColumns = paths.map((jsonPath) => ({ name: jsonPath, type: 'string', jsonPath }) as const)
    expect(() => resource({ ...database, spec, printerColumns })).to.not.throw()
  })

  for (const [kind, plural] of Object.entries({
    Database: 'databases',
    Proxy: 'proxies',
    Gateway: 'gateways',
    Ingress: 'ingresses',
    Mailbox: 'mailboxes',
    Batch: 'batches',
    Mesh: 'meshes',
  })) {
    it(`calls several of ${kind} ${plural}`, () => expect(resource({ ...database, kind }).plural).to.equal(plural))
  }

  const wrong: [string, object, string][] = [
    ['a kind in lower case', { kind: 'database' }, 'resource database: kind: expected a CamelCase word'],
    ['a group without a dot', { group: 'example' }, 'resource Database: group: expected a domain with at least one dot'],
    ['a group in capitals', { group: 'Db.example.com' }, 'resource Database: group'],
    ['a group of the Kubernetes project', { group: 'db.k8s.io' }, 'resource Database: group: expected a domain of your own'],
    ['a version without v', { version: '1' }, "resource Database: version: expected 'v1'"],
    ['a version of another form', { version: 'v1rc1' }, 'resource Database: version'],
    ['a plural in capitals', { plural: 'Databases' }, 'resource Database: plural'],
    ['a short name with a dot', { shortNames: ['d.b'] }, 'resource Database: shortNames'],
    ['another scope', { scope: 'Global' }, 'resource Database: scope'],
    ['a spec that is no object', { spec: z.string() }, 'resource Database: spec: expected z.object'],
    [
      'a type without a JSON form',
      { spec: z.object({ created: z.date() }) },
      'resource Database: spec.created: z.date() has no JSON form; use z.iso.datetime()',
    ],
    [
      'a version twice',
      { versions: [{ version: 'v1alpha1', spec: z.object({}) }] },
      'resource Database: versions: v1alpha1 is there twice',
    ],
    ['another version without v', { versions: [{ version: '2', spec: z.object({}) }] }, "resource Database: version: expected 'v1'"],
    [
      'two versions that are stored',
      { versions: ['v1', 'v2'].map((name) => ({ version: name, spec: z.object({}), storage: true })) },
      'resource Database: versions: objects can be stored in one version only, not in v1 and v2',
    ],
    [
      'a wrong type in another version, naming that',
      { versions: [{ version: 'v1', spec: z.object({ at: z.date() }) }] },
      'resource Database v1: spec.at: z.date()',
    ],
    [
      'a column that no object has',
      { printerColumns: [{ name: 'Engine', type: 'string', jsonPath: '.spec.engin' }] },
      'resource Database: printerColumns Engine: there is no field .spec.engin',
    ],
    [
      'a selectable field that no object has',
      { selectableFields: ['.spec.size'] },
      'resource Database: selectableFields: there is no field .spec.size',
    ],
    [
      'a selectable field outside of spec and status',
      { selectableFields: ['.metadata.name'] },
      'resource Database: selectableFields: expected a path',
    ],
    [
      'a selectable object',
      { spec: z.object({ a: z.object({}) }), selectableFields: ['.spec.a'] },
      'resource Database: selectableFields: .spec.a must be of type string or integer or boolean, not object',
    ],
    [
      'replicas that are no number',
      { scale: { specReplicasPath: '.spec.engine', statusReplicasPath: '.status.replicas' } },
      'resource Database: scale.specReplicasPath: .spec.engine must be of type integer, not string',
    ],
    [
      'replicas that nobody reports',
      { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
      'resource Database: scale.statusReplicasPath: there is no field .status.replicas',
    ],
    [
      'conditions of its own',
      { status: z.object({ conditions: z.array(z.string()) }) },
      'resource Database: status.conditions comes by itself',
    ],
  ]
  for (const [name, change, expected] of wrong) {
    it(`refuses ${name}`, () => expect(() => resource({ ...database, ...change } as typeof database)).to.throw(TypeError, expected))
  }

  it('hands out the zod that users may import themselves', () => {
    expect(z.object).to.equal(zodItself.object)
    expect(z.ZodObject).to.equal(zodItself.ZodObject)
  })
})
