import { expect } from 'chai'
import type { Core } from '../../../../lib/embedded/core.ts'
import { openapi } from '../../../../lib/embedded/openapi.ts'
import type { Schema } from '../../../../lib/embedded/types.ts'
import { customType, served } from '../served.ts'

const WIDGET: Schema = {
  description: 'A widget.',
  type: 'object',
  properties: {
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['color', 'port'],
      properties: {
        color: { type: 'string', nullable: true, default: 'red' },
        port: { 'x-kubernetes-int-or-string': true },
        inner: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
        list: { type: 'array', items: { type: 'string', pattern: '^a' }, 'x-kubernetes-list-type': 'set' },
        either: { type: 'object', properties: { a: { type: 'string' } }, oneOf: [{ required: ['a'] }] },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
      },
    },
  },
}

const widget = (version = 'v1', more: Parameters<typeof customType>[3] = {}) =>
  customType('acme.example.com', version, 'Widget', { root: WIDGET, ...more })

describe('OpenAPI v3', () => {
  it('lists the documents of built-in and custom groups, each under a hash of its content', () => {
    const { paths } = get(served(widget()), '/openapi/v3')
    expect(Object.keys(paths)).to.include.members(['api/v1', 'apis/apps/v1', 'apis/acme.example.com/v1', 'version'])
    expect(Object.keys(paths)).to.deep.equal(Object.keys(paths).toSorted())
    expect(paths['apis/acme.example.com/v1'].serverRelativeURL).to.match(
      /^\/openapi\/v3\/apis\/acme\.example\.com\/v1\?hash=[0-9A-F]{128}$/,
    )
  })

  it('lets a client keep a document whose hash it names, and sends it on from an old one', () => {
    const core = served(widget())
    for (const path of ['api/v1', 'apis/acme.example.com/v1']) {
      const url = new URL(get(core, '/openapi/v3').paths[path].serverRelativeURL, 'http://a')
      const kept = openapi(core, { path: url.pathname, query: url.searchParams, accept: 'application/json' })
      expect(kept?.headers).to.deep.include({ 'Cache-Control': 'public, immutable', Expires: 'Tue, 30 Nov 2027 12:00:00 UTC' })
      const old = openapi(core, { path: url.pathname, query: new URLSearchParams('hash=0'), accept: 'application/json' })
      expect(old).to.deep.include({ status: 301, body: '' })
      expect(old?.headers['Location']).to.equal(`${url.pathname}${url.search}`)
      const etag = String(kept?.headers['ETag'])
      expect(openapi(core, { path: url.pathname, accept: undefined, ifNoneMatch: etag })?.status).to.equal(304)
    }
  })

  it('has no other documents and no other forms', () => {
    expect(openapi(served(), { path: '/openapi/v3/apis/nope/v1', accept: undefined })?.status).to.equal(404)
    expect(openapi(served(), { path: '/openapi/v3/__proto__', accept: undefined })?.status).to.equal(404)
    expect(openapi(served(), { path: '/openapi/v3/api/v1', accept: 'text/plain' })?.status).to.equal(406)
    expect(openapi(served(), { path: '/openapi/v4', accept: undefined })).to.equal(undefined)
  })

  it('tells kubectl that a custom kind knows fieldValidation, by the parameters of its PATCH', () => {
    const { paths } = get(served(widget()), '/openapi/v3/apis/acme.example.com/v1')
    const { patch } = paths['/apis/acme.example.com/v1/namespaces/{namespace}/widgets/{name}']
    expect(patch['x-kubernetes-group-version-kind']).to.deep.equal({ group: 'acme.example.com', version: 'v1', kind: 'Widget' })
    expect(patch.parameters.map(({ name }: { name: string }) => name)).to.deep.equal(['dryRun', 'fieldManager', 'fieldValidation', 'force'])
    expect(patch).to.include({ operationId: 'patchAcmeExampleComV1NamespacedWidget', description: 'partially update the specified Widget' })
    expect(patch.tags).to.deep.equal(['acmeExampleCom_v1'])
  })

  it('has the paths of what a kind serves', () => {
    const paths = (more: Parameters<typeof customType>[3]) =>
      Object.keys(get(served(widget('v1', more)), '/openapi/v3/apis/acme.example.com/v1').paths)
    const one = '/apis/acme.example.com/v1/namespaces/{namespace}/widgets'
    expect(paths({})).to.deep.equal([one, `${one}/{name}`, '/apis/acme.example.com/v1/widgets'])
    expect(paths({ subresources: ['status', 'scale'] })).to.include.members([`${one}/{name}/scale`, `${one}/{name}/status`])
    expect(paths({ namespaced: false })).to.deep.equal(['/apis/acme.example.com/v1/widgets', '/apis/acme.example.com/v1/widgets/{name}'])
  })

  it('shows the schema of a custom kind as it is, and what is understood besides', () => {
    const { schemas } = get(served(widget()), '/openapi/v3/apis/acme.example.com/v1').components
    const { properties, ...kind } = schemas['com.example.acme.v1.Widget']
    expect(kind).to.deep.equal({
      description: 'A widget.',
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'acme.example.com', kind: 'Widget', version: 'v1' }],
    })
    expect(properties.metadata.allOf).to.deep.equal([{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }])
    expect(properties.spec.properties.port.anyOf).to.deep.equal([{ type: 'integer' }, { type: 'string' }])
    expect(properties.spec.properties.inner).to.deep.include({ required: ['kind', 'apiVersion'] })
    expect(properties.spec.properties.inner.properties).to.have.keys('apiVersion', 'kind', 'metadata')
    expect(properties.spec.properties.either.oneOf).to.deep.equal([{ required: ['a'] }])
    expect(schemas['com.example.acme.v1.WidgetList'].properties.items.items).to.deep.equal({
      $ref: '#/components/schemas/com.example.acme.v1.Widget',
    })
  })

  it('leaves the schema of the kind alone', () => {
    const before = JSON.stringify(WIDGET)
    get(served(widget()), '/openapi/v3/apis/acme.example.com/v1')
    get(served(widget()), '/openapi/v2')
    expect(JSON.stringify(WIDGET)).to.equal(before)
  })

  it('has all that its references name', () => {
    for (const subresources of [[], ['status', 'scale']]) {
      const { paths, components } = get(served(widget('v1', { subresources })), '/openapi/v3/apis/acme.example.com/v1')
      const names = new Set(JSON.stringify([paths, components]).match(/(?<=#\/components\/schemas\/)[^"]+/g))
      expect([...names].filter((name) => components.schemas[name] === undefined)).to.deep.equal([])
    }
  })

  it('writes a custom document anew when a kind of it changes, and only then', () => {
    const core = served(widget('v1'), widget('v2'))
    const hash = (version: string) => get(core, '/openapi/v3').paths[`apis/acme.example.com/${version}`]?.serverRelativeURL
    const before = [hash('v1'), hash('v2')]
    const [v1] = [...core.registry.types()].filter(({ group, version }) => group === 'acme.example.com' && version === 'v1')
    core.registry.set('acme.example.com', 'widgets', [...(v1 === undefined ? [] : [v1]), widget('v2', { root: { type: 'object' } })])
    expect(hash('v1')).to.equal(before[0])
    expect(hash('v2')).not.to.equal(before[1])
    core.registry.set('acme.example.com', 'widgets', [])
    expect(hash('v1')).to.equal(undefined)
  })
})

describe('OpenAPI v2', () => {
  it('has built-in and custom kinds in one document', () => {
    const { paths, definitions } = get(served(widget()), '/openapi/v2')
    expect(paths).to.include.keys('/api/v1/namespaces/{namespace}/pods', '/apis/acme.example.com/v1/namespaces/{namespace}/widgets/{name}')
    expect(definitions).to.include.keys('io.k8s.api.core.v1.Pod', 'com.example.acme.v1.Widget', 'com.example.acme.v1.WidgetList')
  })

  it('leaves out of a custom schema what kubectl could not read there', () => {
    const { properties } = get(served(widget()), '/openapi/v2').definitions['com.example.acme.v1.Widget']
    expect(properties.spec).to.deep.equal({
      type: 'object',
      required: ['port'],
      properties: {
        color: {},
        port: { 'x-kubernetes-int-or-string': true },
        inner: { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
        list: { type: 'array', items: { type: 'string', pattern: '^a' }, 'x-kubernetes-list-type': 'set' },
        either: { type: 'object', properties: { a: { type: 'string' } } },
        open: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    })
    expect(properties.metadata.$ref).to.equal('#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
  })

  it('comes in protobuf as well', () => {
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    const response = openapi(served(widget()), { path: '/openapi/v2', accept })
    expect(response?.headers['Content-Type']).to.equal('application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
    const body = response?.body as Buffer
    // swagger: "2.0", info: {title: "Kubernetes", …}
    expect(body.toString('latin1', 0, 19)).to.equal('\n\x032.0\x12\x12\n\nKubernetes')
    // A named schema with its description.
    expect(body.includes('\n\x1acom.example.acme.v1.Widget\x12')).to.equal(true)
    expect(body.includes('"\tA widget.')).to.equal(true)
  })

  it('is refused in any other form', () => {
    expect(openapi(served(), { path: '/openapi/v2', accept: 'text/plain' })?.status).to.equal(406)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: whatever document it is
function get(core: Core, path: string): any {
  return JSON.parse(String(openapi(core, { path, accept: undefined })?.body))
}
