import { expect } from 'chai'
import type { Core } from '../../../../lib/embedded/core.ts'
import { discovery } from '../../../../lib/embedded/discovery.ts'
import { ApiError } from '../../../../lib/embedded/status.ts'
import { customType, served } from '../served.ts'

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

describe('discovery', () => {
  it('lists the core group, and all others by priority with custom ones after them', () => {
    const core = served(customType('b.example.com', 'v1', 'Widget'), customType('a.example.com', 'v1', 'Widget'))
    expect(get(core, '/api')).to.deep.include({ kind: 'APIVersions', versions: ['v1'] })
    const names = get(core, '/apis').groups.map(({ name }: { name: string }) => name)
    expect(names.slice(0, 3)).to.deep.equal(['apiregistration.k8s.io', 'apps', 'events.k8s.io'])
    expect(names.slice(-2)).to.deep.equal(['a.example.com', 'b.example.com'])
    expect(names).not.to.include('')
  })

  it('prefers the newest stable version of a custom group, whatever is stored', () => {
    const versions = ['v1beta1', 'v10', 'v1', 'v2', 'v2alpha1', 'first'].map((version) => customType('a.example.com', version, 'Widget'))
    const group = get(served(...versions), '/apis/a.example.com')
    expect(group.versions.map(({ version }: { version: string }) => version)).to.deep.equal([
      'v10',
      'v2',
      'v1',
      'v1beta1',
      'v2alpha1',
      'first',
    ])
    expect(group.preferredVersion).to.deep.equal({ groupVersion: 'a.example.com/v10', version: 'v10' })
  })

  it('shows a custom kind with its subresources, and a hash of the version that is stored', () => {
    const widget = customType('acme.example.com', 'v2', 'Widget', {
      shortNames: ['wd'],
      categories: ['all'],
      subresources: ['status', 'scale'],
      storageVersion: 'acme.example.com/v1',
    })
    const verbs = ['get', 'patch', 'update']
    expect(get(served(widget), '/apis/acme.example.com/v2')).to.deep.equal({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'acme.example.com/v2',
      resources: [
        {
          name: 'widgets',
          singularName: 'widget',
          namespaced: true,
          kind: 'Widget',
          verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
          shortNames: ['wd'],
          categories: ['all'],
          // As a real server has it for acme.example.com/v1 Widget.
          storageVersionHash: 'A7ydk23YODM=',
        },
        { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs },
        { name: 'widgets/scale', singularName: '', namespaced: true, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs },
      ],
    })
  })

  it('offers less of a kind that is being deleted', () => {
    const core = served(customType('a.example.com', 'v1', 'Widget', { terminating: true }))
    const verbs = ['delete', 'deletecollection', 'get', 'list', 'watch']
    expect(get(core, '/apis/a.example.com/v1').resources[0].verbs).to.deep.equal(verbs)
  })

  it('names the kind of a subresource that is of another group', () => {
    const resources = get(served(), '/api/v1').resources as { name: string }[]
    expect(resources.find(({ name }) => name === 'pods/eviction')).to.deep.include({ group: 'policy', version: 'v1', kind: 'Eviction' })
    expect(resources.find(({ name }) => name === 'pods/status')).not.to.have.property('group')
  })

  it('does not mind a slash at the end', () => {
    for (const path of ['/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1']) {
      expect(get(served(), `${path}/`), path).to.deep.equal(get(served(), path))
    }
  })

  it('knows no other group, and of built-in ones no other version', () => {
    const core = served(customType('a.example.com', 'v1', 'Widget'))
    for (const path of ['/apis/nope', '/apis/nope/v1', '/apis/a.example.com/v2', '/apis/apps/v1/deployments', '/version', '/apisx']) {
      expect(discovery(core, { path, accept: undefined }), path).to.equal(undefined)
    }
    for (const path of ['/apis/apps/v9', '/api/v2']) {
      expect(() => get(core, path), path).to.throw(ApiError, 'the server could not find the requested resource')
    }
  })

  it('refuses what it cannot write', () => {
    expect(() => discovery(served(), { path: '/apis', accept: 'text/plain' })).to.throw(ApiError, 'only the following media types')
    expect(discovery(served(), { path: '/apis', accept: 'application/yaml' })?.body).to.match(/^apiVersion: v1\n/)
  })
})

describe('aggregated discovery', () => {
  it('is given to whoever asks for it in any place', () => {
    const asked = `application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,application/json,${AGGREGATED};q=0.1`
    const response = discovery(served(), { path: '/apis', accept: asked })
    expect(response?.headers).to.deep.include({ 'Content-Type': AGGREGATED, Vary: 'Accept' })
    expect(JSON.parse(String(response?.body))).to.include({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' })
    expect(discovery(served(), { path: '/apis/apps', accept: `${AGGREGATED},application/json` })?.headers['Content-Type']).to.equal(
      'application/json',
    )
  })

  it('has the core group at /api and all others at /apis', () => {
    const core = served(customType('a.example.com', 'v1', 'Widget', { subresources: ['scale', 'status'] }))
    expect(get(core, '/api', AGGREGATED).items.map(({ metadata }: { metadata: object }) => metadata)).to.deep.equal([{}])
    const [group] = get(core, '/apis', AGGREGATED).items.slice(-1)
    expect(group).to.deep.equal({
      metadata: { name: 'a.example.com' },
      versions: [
        {
          version: 'v1',
          resources: [
            {
              resource: 'widgets',
              responseKind: { group: 'a.example.com', version: 'v1', kind: 'Widget' },
              scope: 'Namespaced',
              singularResource: 'widget',
              verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
              subresources: [
                {
                  subresource: 'status',
                  responseKind: { group: 'a.example.com', version: 'v1', kind: 'Widget' },
                  verbs: ['get', 'patch', 'update'],
                },
                {
                  subresource: 'scale',
                  responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                  verbs: ['get', 'patch', 'update'],
                },
              ],
            },
          ],
          freshness: 'Current',
        },
      ],
    })
  })

  it('is answered with 304 until something is served that was not', () => {
    const core = served()
    const etag = String(discovery(core, { path: '/apis', accept: AGGREGATED })?.headers['ETag'])
    const again = discovery(core, { path: '/apis', accept: AGGREGATED, ifNoneMatch: etag })
    expect(again).to.deep.include({ status: 304, body: '' })
    // A cache that took another type from here would read it as the old form.
    expect(again?.headers['Content-Type']).to.equal(AGGREGATED)
    core.registry.set('a.example.com', 'widgets', [customType('a.example.com', 'v1', 'Widget')])
    expect(discovery(core, { path: '/apis', accept: AGGREGATED, ifNoneMatch: etag })?.status).to.equal(200)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: whatever document it is
function get(core: Core, path: string, accept?: string): any {
  return JSON.parse(String(discovery(core, { path, accept })?.body))
}
