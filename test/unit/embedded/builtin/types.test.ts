import { expect } from 'chai'
import { builtinTypes } from '../../../../lib/embedded/builtin/types.ts'
import { definition, definitionNames, openapiV2, openapiV3, recorded } from '../../../../lib/embedded/data/recorded.ts'
import type { ResourceType, Schema } from '../../../../lib/embedded/types.ts'

describe('the recorded data', () => {
  it('is there in full', () => {
    expect(recorded().version['gitVersion']).to.match(/^v1\.\d+\.\d+$/)
    for (const path of Object.keys(recorded().documents)) expect(JSON.parse(String(openapiV3(path))), path).to.have.property('paths')
    expect(JSON.parse(openapiV2().toString())).to.have.keys(
      'swagger',
      'info',
      'paths',
      'definitions',
      'parameters',
      'securityDefinitions',
      'security',
    )
  })

  it('has no dangling reference', () => {
    for (const name of definitionNames()) {
      for (const reference of references(definition(name))) expect(definition(reference), `${name}: ${reference}`).to.be.an('object')
    }
  })
})

describe('the built-in kinds', () => {
  const types = builtinTypes(new Map())
  const find = (group: string, version: string, resource: string) =>
    types.find((type) => type.group === group && type.version === version && type.resource === resource) as ResourceType

  it('have a schema with apiVersion, kind and, where they are stored, metadata', () => {
    for (const { schema, kind, verbs } of types) {
      expect(schema.root.properties, kind).to.include.keys('apiVersion', 'kind')
      if (!verbs.includes('get')) continue
      const metadata = schema.resolve(schema.root.properties?.['metadata'] as Schema)
      expect(metadata.properties, kind).to.include.keys('name', 'managedFields')
    }
  })

  it('have schemas that are the same object each time, in all servers', () => {
    const again = builtinTypes(new Map())
    types.forEach((type, i) => {
      expect(type.schema).to.equal(again[i]?.schema)
      expect(type.schema.root).to.equal(again[i]?.schema.root)
    })
    const { schema } = find('apps', 'v1', 'deployments')
    const spec = schema.root.properties?.['spec'] as Schema
    expect(schema.resolve(spec)).to.equal(schema.resolve({ ...spec }))
  })

  it('keep what patches and server-side apply need of a schema', () => {
    const { schema } = find('', 'v1', 'pods')
    const spec = schema.resolve(schema.root.properties?.['spec'] as Schema)
    expect(spec.properties?.['containers']).to.deep.include({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    })
    const container = schema.resolve(spec.properties?.['containers']?.items as Schema)
    const port = schema.resolve(container.properties?.['ports']?.items as Schema)
    // A port without a protocol has the same key as one with TCP.
    expect(port.properties?.['protocol']).to.deep.include({ default: 'TCP' })
    expect(schema.root.description).to.equal(undefined)
  })

  it('are as discovery has them', () => {
    expect(find('apps', 'v1', 'deployments')).to.deep.include({
      kind: 'Deployment',
      listKind: 'DeploymentList',
      singular: 'deployment',
      shortNames: ['deploy'],
      categories: ['all'],
      namespaced: true,
      custom: false,
      subresources: ['scale', 'status'],
      bucket: 'apps/deployments',
      storageVersion: 'apps/v1',
    })
    expect(find('', 'v1', 'namespaces')).to.deep.include({ namespaced: false, bucket: '/namespaces', storageVersion: 'v1' })
    expect(find('', 'v1', 'namespaces').verbs).not.to.include('deletecollection')
    expect(find('', 'v1', 'endpoints').deprecation).to.match(/EndpointSlice/)
  })

  it('store both groups of Event in one place, and both versions of HorizontalPodAutoscaler in the newer one', () => {
    expect(find('events.k8s.io', 'v1', 'events')).to.include({ bucket: '/events', storageVersion: 'v1' })
    expect(find('', 'v1', 'events')).to.include({ bucket: '/events', storageVersion: 'v1' })
    for (const version of ['v1', 'v2']) {
      expect(find('autoscaling', version, 'horizontalpodautoscalers')).to.include({
        bucket: 'autoscaling/horizontalpodautoscalers',
        storageVersion: 'autoscaling/v2',
      })
    }
  })

  it('are stored in a version that is served', () => {
    const served = new Set(types.map(({ group, version, kind }) => `${group === '' ? version : `${group}/${version}`} ${kind}`))
    for (const { storageVersion, kind } of types) expect([...served]).to.include(`${storageVersion} ${kind}`)
  })

  it('have the strategies they are given', () => {
    const strategy = { returnsDeleted: true }
    const given = builtinTypes(new Map([['/configmaps', strategy]]))
    expect(given.find(({ kind }) => kind === 'ConfigMap')?.strategy).to.equal(strategy)
  })
})

function references(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) => (key === '$ref' && typeof value === 'string' ? [value] : references(value)))
}
