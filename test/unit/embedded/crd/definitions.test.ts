import { expect } from 'chai'
import { ADMIN, type Core } from '../../../../lib/embedded/core.ts'
import { BUCKET, type Definition } from '../../../../lib/embedded/crd/definition.ts'
import { startDefinitions } from '../../../../lib/embedded/crd/definitions.ts'
import { createCore } from '../../../../lib/embedded/create-core.ts'
import type { ApiObject, ResourceType, Schema, StoreEvent } from '../../../../lib/embedded/types.ts'

const AS_ADMIN = { user: ADMIN }

function start(): { core: Core; events: StoreEvent[]; faults: unknown[] } {
  const faults: unknown[] = []
  const core = createCore({}, (error) => faults.push(error))
  const events: StoreEvent[] = []
  core.store.bucket(BUCKET).watch(core.store.revision, (event) => events.push(event))
  startDefinitions(core)
  return { core, events, faults }
}

const kinds = (core: Core) => core.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions') as ResourceType
const widgets = (core: Core) => core.registry.find('x.io', 'v1', 'widgets')

function definition(plural: string, change: (spec: Definition['spec']) => void = () => {}): ApiObject {
  const spec = {
    group: 'x.io',
    names: { plural, kind: 'Widget' },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaWith({ a: { type: 'string' } }) } }],
  }
  change(spec)
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.x.io` }, spec }
}

function schemaWith(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties: { spec: { type: 'object', properties } } }
}

const widget = (name: string, rest: object = { spec: {} }): ApiObject => ({
  apiVersion: 'x.io/v1',
  kind: 'Widget',
  metadata: { name },
  ...rest,
})

const reasons = (object: ApiObject) =>
  (object as Definition).status.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)

async function patch(core: Core, name: string, value: unknown): Promise<void> {
  await core.operations.patch(kinds(core), '', name, '', { type: 'json', value }, AS_ADMIN)
  await core.tasks.settled()
}

describe('the life of a definition', () => {
  it('has its names accepted and is established, one after the other', async () => {
    const { core, events } = start()
    const created = await core.operations.create(kinds(core), '', definition('widgets'), AS_ADMIN)
    expect(created['status']).to.deep.equal({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] })
    expect(widgets(core)).to.equal(undefined)
    await core.tasks.settled()
    expect(events.map(({ object }) => reasons(object))).to.deep.equal([
      undefined,
      ['NamesAccepted True NoConflicts', 'Established False Installing'],
      ['NamesAccepted True NoConflicts', 'Established True InitialNamesAccepted'],
    ])
    expect(widgets(core)?.kind).to.equal('Widget')
  })

  it('waits for names that another one has, and gets them when that is gone', async () => {
    const { core } = start()
    const name = (each: string) => core.store.bucket(BUCKET).get('', each)?.object as ApiObject
    await core.operations.create(kinds(core), '', definition('widgets'), AS_ADMIN)
    await core.tasks.settled()
    await core.operations.create(kinds(core), '', definition('gadgets'), AS_ADMIN)
    await core.tasks.settled()
    expect(reasons(name('gadgets.x.io'))).to.deep.equal(['NamesAccepted False ListKindConflict', 'Established False NotAccepted'])
    expect(core.registry.find('x.io', 'v1', 'gadgets')).to.equal(undefined)
    await core.operations.delete(kinds(core), '', 'widgets.x.io', {}, AS_ADMIN)
    await core.tasks.settled()
    expect(name('widgets.x.io')).to.equal(undefined)
    expect(reasons(name('gadgets.x.io'))).to.deep.equal(['NamesAccepted True NoConflicts', 'Established True InitialNamesAccepted'])
    expect(core.registry.find('x.io', 'v1', 'gadgets')?.kind).to.equal('Widget')
  })

  it('ends with its last object, whose finalizers it waits for', async () => {
    const { core, faults } = start()
    await core.operations.create(kinds(core), '', definition('widgets'), AS_ADMIN)
    await core.tasks.settled()
    const type = widgets(core) as ResourceType
    await core.operations.create(type, '', widget('free'), AS_ADMIN)
    await core.operations.create(type, '', { ...widget('held'), metadata: { name: 'held', finalizers: ['x.io/f'] } }, AS_ADMIN)
    const { object, deleted } = await core.operations.delete(kinds(core), '', 'widgets.x.io', {}, AS_ADMIN)
    expect([deleted, object.metadata.finalizers]).to.deep.equal([false, ['customresourcecleanup.apiextensions.k8s.io']])
    await core.tasks.settled()
    expect((await core.operations.list(type)).map(({ metadata }) => metadata.name)).to.deep.equal(['held'])
    const going = widgets(core) as ResourceType
    expect(going.verbs).to.deep.equal(['delete', 'deletecollection', 'get', 'list', 'watch'])
    const refused = await core.operations.create(going, '', widget('late'), AS_ADMIN).catch((error) => error)
    expect([refused.code, refused.message]).to.deep.equal([
      403,
      'widgets.x.io "late" is forbidden: create not allowed while custom resource definition is terminating',
    ])
    await core.operations.patch(going, '', 'held', '', { type: 'merge', value: { metadata: { finalizers: null } } }, AS_ADMIN)
    await core.tasks.settled()
    expect(widgets(core)).to.equal(undefined)
    expect(core.store.bucket(BUCKET).size).to.equal(0)
    expect(faults).to.deep.equal([])
  })

  it('does not serve a version that is no longer served', async () => {
    const { core } = start()
    await core.operations.create(kinds(core), '', definition('widgets'), AS_ADMIN)
    await core.tasks.settled()
    await patch(core, 'widgets.x.io', [{ op: 'replace', path: '/spec/versions/0/served', value: false }])
    expect(widgets(core)).to.equal(undefined)
    await patch(core, 'widgets.x.io', [{ op: 'replace', path: '/spec/versions/0/served', value: true }])
    expect(widgets(core)?.kind).to.equal('Widget')
  })
})

describe('objects of a definition', () => {
  it('are pruned and defaulted by the schema of now, though they were stored before', async () => {
    const { core } = start()
    await core.operations.create(kinds(core), '', definition('widgets'), AS_ADMIN)
    await core.tasks.settled()
    await core.operations.create(widgets(core) as ResourceType, '', widget('a', { spec: { a: 'x' } }), AS_ADMIN)
    const properties = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties'
    await patch(core, 'widgets.x.io', [
      { op: 'remove', path: `${properties}/a` },
      { op: 'add', path: `${properties}/n`, value: { type: 'integer', default: 4 } },
    ])
    const read = await core.operations.get(widgets(core) as ResourceType, '', 'a')
    expect(read['spec']).to.deep.equal({ n: 4 })
    expect((await core.operations.get(widgets(core) as ResourceType, '', 'a'))['spec']).to.equal(read['spec'])
  })

  it('show in each version what its schema has', async () => {
    const { core } = start()
    const two = definition('widgets', ({ versions }) => {
      versions[0]!.schema = {
        openAPIV3Schema: schemaWith({ a: { type: 'integer' }, b: { type: 'integer' }, d1: { type: 'integer', default: 1 } }),
      }
      const schema = schemaWith({ b: { type: 'integer' }, c: { type: 'integer' }, d2: { type: 'integer', default: 2 } })
      versions.push({ name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: schema } })
    })
    await core.operations.create(kinds(core), '', two, AS_ADMIN)
    await core.tasks.settled()
    const v2 = core.registry.find('x.io', 'v2', 'widgets') as ResourceType
    const created = await core.operations.create(v2, '', { ...widget('a', { spec: { b: 2, c: 3 } }), apiVersion: 'x.io/v2' }, AS_ADMIN)
    expect([created.apiVersion, created['spec']]).to.deep.equal(['x.io/v2', { b: 2 }])
    expect((await core.operations.get(widgets(core) as ResourceType, '', 'a'))['spec']).to.deep.equal({ b: 2, d1: 1 })
  })

  it('are refused with all that is wrong with them, and told which rules were not looked at', async () => {
    const { core } = start()
    const strict = definition('widgets', ({ versions }) => {
      const a: Schema = { type: 'string', maxLength: 5 }
      const rules = [{ rule: "self.a != 'no'", message: 'a is no' }]
      versions[0]!.schema = {
        openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { a }, 'x-kubernetes-validations': rules } } },
      }
    })
    await core.operations.create(kinds(core), '', strict, AS_ADMIN)
    await core.tasks.settled()
    const refuse = async (a: unknown) => {
      const error = await core.operations
        .create(widgets(core) as ResourceType, '', widget('a', { spec: { a } }), AS_ADMIN)
        .catch((each) => each)
      return error.details.causes.map(({ field }: { field: string }) => field)
    }
    expect(await refuse('no')).to.deep.equal(['spec'])
    expect(await refuse(1)).to.deep.equal(['spec.a', '<nil>'])
  })
})
