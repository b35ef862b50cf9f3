import { expect } from 'chai'
import { Discovery, UnknownKindError } from '../../../lib/api/discovery.ts'
import { statusError } from '../../../lib/api/status-error.ts'
import { kind } from '../../../lib/resource/kind.ts'

const apps = {
  resources: [
    { name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['get', 'list'] },
    { name: 'deployments/scale', kind: 'Scale', namespaced: true, verbs: ['get'] },
    { name: 'deployments/status', kind: 'Deployment', namespaced: true, verbs: ['patch'] },
  ],
}

describe('discovery', () => {
  let asked: string[]
  let answers: Record<string, unknown>
  let discovery: Discovery

  beforeEach(() => {
    asked = []
    answers = { '/apis/apps/v1': apps }
    discovery = new Discovery(async (path) => {
      asked.push(path)
      const answer = answers[path]
      if (answer instanceof Error) throw answer
      if (answer === undefined) throw statusError('GET', path, 404, {}, '404 page not found')
      return answer
    })
  })

  it('knows plural, scope, verbs and subresources', async () => {
    expect(await discovery.resolve(kind('apps/v1', 'Deployment'))).to.deep.equal({
      plural: 'deployments',
      namespaced: true,
      verbs: ['get', 'list'],
      subresources: ['scale', 'status'],
    })
  })

  it('asks once, also when asked many times at once', async () => {
    await Promise.all([1, 2, 3].map(() => discovery.resolve(kind('apps/v1', 'Deployment'))))
    await discovery.resolve(kind('apps/v1', 'Deployment'))
    expect(asked).to.deep.equal(['/apis/apps/v1'])
  })

  it('says which kind is unknown and that a definition may be missing', async () => {
    for (const unknown of [kind('example.com/v1', 'Widget'), kind('apps/v1', 'Widget'), kind('apps/v1', 'Scale')]) {
      const error = await discovery.resolve(unknown).catch((error) => error)
      expect(error).to.be.instanceOf(UnknownKindError).and.include({ apiVersion: unknown.apiVersion, kind: unknown.kind })
      expect(error.message).to.contain(`${unknown.kind} of ${unknown.apiVersion}`).and.contain('CustomResourceDefinition')
    }
  })

  it('finds a kind that was installed meanwhile', async () => {
    await discovery.resolve(kind('example.com/v1', 'Widget')).catch(() => {})
    answers['/apis/example.com/v1'] = { resources: [{ name: 'widgets', kind: 'Widget', namespaced: false, verbs: [] }] }
    expect(await discovery.resolve(kind('example.com/v1', 'Widget'))).to.include({ plural: 'widgets', namespaced: false })
  })

  it('asks for the core group where it is', async () => {
    answers['/api/v1'] = { resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: [] }] }
    expect(await discovery.resolve(kind('v1', 'Pod'))).to.include({ plural: 'pods' })
  })

  it('passes other errors on and asks again next time', async () => {
    answers['/apis/apps/v1'] = statusError('GET', '/apis/apps/v1', 503, {}, 'no')
    expect(await discovery.resolve(kind('apps/v1', 'Deployment')).catch((error) => error.status)).to.equal(503)
    answers['/apis/apps/v1'] = apps
    expect(await discovery.resolve(kind('apps/v1', 'Deployment'))).to.include({ plural: 'deployments' })
  })

  it('asks again for what it was told to forget', async () => {
    await discovery.resolve(kind('apps/v1', 'Deployment'))
    discovery.forget(kind('apps/v1', 'Deployment'))
    await discovery.resolve(kind('apps/v1', 'Deployment'))
    expect(asked).to.have.length(2)
  })
})
