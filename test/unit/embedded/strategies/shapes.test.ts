import { expect } from 'chai'
import { builtinShape } from '../../../../lib/embedded/builtin/shapes/shape.ts'
import type { ApiObject } from '../../../../lib/embedded/types.ts'

const shapeOf = (group: string, version: string, kind: string) => {
  const shape = builtinShape(group, version, kind)
  if (shape === undefined) throw new Error(`no shape of ${kind}`)
  return shape
}
const deployments = shapeOf('apps', 'v1', 'Deployment')

const deployment = (): ApiObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { labels: { b: '2', a: '1' }, name: 'd', annotations: {} },
  spec: {
    template: { spec: { containers: [{ image: 'i', name: 'c', resources: { limits: { memory: 1024, cpu: '1000m' } }, env: [] }] } },
    replicas: 0,
    minReadySeconds: 0,
    paused: null,
  },
})

describe('an object as its Go type holds it', () => {
  it('is written in the order of the struct, without what is empty, with what has no omitempty', () => {
    const object = deployment()
    expect(deployments.decode(object)).to.deep.equal([])
    expect(JSON.stringify(object)).to.equal(
      '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d","labels":{"a":"1","b":"2"}},"spec":{"replicas":0,"selector":null,' +
        '"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1","memory":"1024"}}}]}},"strategy":{}},"status":{}}',
    )
  })

  it('loses what it does not know, and tells it in the order of the document', () => {
    const object = deployment()
    object.spec.template.spec.containers[0].imagePolicy = 'x'
    object.spec.bogus = {}
    Object.assign(object.metadata, { foo: 1 })
    expect(deployments.decode(object)).to.deep.equal(['metadata.foo', 'spec.template.spec.containers[0].imagePolicy', 'spec.bogus'])
    expect(object.spec).not.to.have.property('bogus')
  })

  const wrong: [string, (object: ApiObject) => void, string][] = [
    ['a text for a number', ({ spec }) => (spec.replicas = '3'), 'string into Go struct field DeploymentSpec.spec.replicas of type int32'],
    ['a fraction', ({ spec }) => (spec.replicas = 1.5), 'number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [
      'too much',
      ({ spec }) => (spec.replicas = 2 ** 31),
      'number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    ['a list for a struct', (object) => (object['spec'] = []), 'array into Go struct field Deployment.spec of type v1.DeploymentSpec'],
    [
      'a number for a label',
      ({ metadata }) => Object.assign(metadata, { labels: { a: 1 } }),
      'number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      'a value in an inlined struct',
      ({ spec }) => (spec.template.spec.containers[0].livenessProbe = { exec: 1 }),
      'number into Go struct field Probe.spec.template.spec.containers.livenessProbe.ProbeHandler.exec of type v1.ExecAction',
    ],
  ]
  for (const [what, change, text] of wrong) {
    it(`is refused with ${what}`, () => {
      const object = deployment()
      change(object)
      const whole = `Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal ${text}`
      expect(() => deployments.decode(object)).to.throw(whole)
    })
  }

  it('keeps keys of a map whatever their name', () => {
    const object = JSON.parse('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y"}}')
    expect(shapeOf('', 'v1', 'ConfigMap').decode(object)).to.deep.equal([])
    expect(JSON.stringify(object.data)).to.equal('{"__proto__":"x","constructor":"y"}')
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined)
  })

  it('has times to the second, and in leases to the microsecond', () => {
    const object = deployment()
    Object.assign(object.metadata, { creationTimestamp: '2026-01-01T01:00:00.5+01:00' })
    deployments.decode(object)
    expect(object.metadata.creationTimestamp).to.equal('2026-01-01T00:00:00Z')
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: {}, spec: { renewTime: '2026-01-01T00:00:00Z' } }
    const cannot = 'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'
    expect(() => shapeOf('coordination.k8s.io', 'v1', 'Lease').decode(lease)).to.throw(cannot)
  })

  it('is the same after a second look', () => {
    const object = deployment()
    deployments.decode(object)
    const once = JSON.stringify(object)
    deployments.normalize(object)
    expect(JSON.stringify(object)).to.equal(once)
  })
})
