import { expect } from 'chai'
import { conversionSwitch, webhookConfigurations, withConversion } from '../../../lib/admission/configurations.ts'
import { needsServing } from '../../../lib/admission/webhooks.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { defaults, onReconcile, resource, validates, z } from '../../../lib/index.ts'
import { ConfigMap, Namespace, Node } from '../../../lib/resource/kinds.ts'
import { Box } from './fixtures.ts'

class BoxHandler {
  @onReconcile(Box) reconcile() {}
  @validates(Box) validate() {}
  @validates(Box, { on: ['delete', 'status'], failurePolicy: 'Ignore', timeout: '3s' }) keepFull() {}
  @defaults(Box, { on: ['create'] }) fill() {}
}
const endpoint = { service: { namespace: 'shop', name: 'webhooks' }, caBundle: 'PEM' }
const configure = (cls: new () => object, options = {}) => webhookConfigurations([collect(cls)], { name: 'shop', endpoint, ...options })

describe('webhook configurations', () => {
  it('ask about what the methods ask for', () => {
    const [mutating, validating, ...none] = configure(BoxHandler)
    expect(none).to.deep.equal([])
    expect(mutating).to.deep.equal({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'shop' },
      webhooks: [
        {
          name: 'fill.boxes.shop.example.com',
          clientConfig: {
            service: { namespace: 'shop', name: 'webhooks', path: '/default/shop.example.com/boxes/fill' },
            caBundle: Buffer.from('PEM').toString('base64'),
          },
          rules: [
            { apiGroups: ['shop.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['boxes'], scope: 'Namespaced' },
          ],
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          sideEffects: 'None',
          timeoutSeconds: 10,
          admissionReviewVersions: ['v1'],
          reinvocationPolicy: 'IfNeeded',
        },
      ],
    })
    expect(validating?.webhooks.map(({ name }) => name)).to.deep.equal([
      'validate.boxes.shop.example.com',
      'keep-full.boxes.shop.example.com',
    ])
    const about = { apiGroups: ['shop.example.com'], apiVersions: ['v1'] }
    expect(validating?.webhooks[1]).to.deep.include({
      failurePolicy: 'Ignore',
      timeoutSeconds: 3,
      rules: [
        { ...about, operations: ['DELETE'], resources: ['boxes'], scope: 'Namespaced' },
        { ...about, operations: ['UPDATE'], resources: ['boxes/status'], scope: 'Namespaced' },
      ],
    })
    expect(validating?.webhooks[0]?.['rules']).to.deep.equal([
      { ...about, operations: ['CREATE', 'UPDATE'], resources: ['boxes'], scope: 'Namespaced' },
    ])
  })

  it('leave alone the namespaces that the operator, or the class, does not serve', () => {
    class Narrow {
      @onReconcile(Box, { namespaces: ['a', 'b'] }) reconcile() {}
      @validates(Box) validate() {}
    }
    const selector = (cls: new () => object, namespaces?: string[]) =>
      (configure(cls, { namespaces })[0]?.webhooks[0]?.['namespaceSelector'] as { matchExpressions: { values: string[] }[] } | undefined)
        ?.matchExpressions[0]?.values
    expect(selector(BoxHandler)).to.equal(undefined)
    expect(selector(BoxHandler, ['b', 'c'])).to.deep.equal(['b', 'c'])
    expect(selector(Narrow)).to.deep.equal(['a', 'b'])
    expect(selector(Narrow, ['b', 'c'])).to.deep.equal(['b'])
  })

  it('leave alone what does not have the labels of the class, as far as a selector can say them', () => {
    class Labelled {
      @onReconcile(ConfigMap, { labels: 'app=db,tier in (a,b),!old' }) reconcile() {}
      @validates(ConfigMap) validate() {}
    }
    class Counted {
      @onReconcile(ConfigMap, { labels: 'size>3' }) reconcile() {}
      @validates(ConfigMap) validate() {}
    }
    class Converted {
      @onReconcile(Box, { labels: { app: 'db' } }) reconcile() {}
      @validates(Box) validate() {}
    }
    const selector = (cls: new () => object) => configure(cls)[0]?.webhooks[0]?.['objectSelector']
    expect(selector(Labelled)).to.deep.equal({
      matchExpressions: [
        { key: 'app', operator: 'In', values: ['db'] },
        { key: 'tier', operator: 'In', values: ['a', 'b'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    })
    expect([selector(Counted), selector(Converted)]).to.deep.equal([undefined, undefined])
  })

  it('leave alone the namespaces that the operator and the cluster need to come back, where the kind is not its own', () => {
    class Maps {
      @onReconcile(ConfigMap) reconcile() {}
      @validates(ConfigMap) validate() {}
      @validates(ConfigMap, { failurePolicy: 'Ignore' }) hint() {}
    }
    class Narrow {
      @onReconcile(ConfigMap, { namespaces: ['a', 'shop'] }) reconcile() {}
      @validates(ConfigMap) validate() {}
    }
    class Theirs {
      @onReconcile({ ...Box, foreign: true } as never) reconcile() {}
      @validates({ ...Box, foreign: true } as never) validate() {}
    }
    class Namespaces {
      @onReconcile(Namespace) reconcile() {}
      @validates(Namespace) validate() {}
    }
    class Nodes {
      @onReconcile(Node) reconcile() {}
      @validates(Node) validate() {}
    }
    const selectors = (cls: new () => object, options = {}) =>
      configure(cls, { home: 'shop', ...options }).flatMap(({ webhooks }) =>
        webhooks.map(({ namespaceSelector }) =>
          (namespaceSelector as { matchExpressions: { operator: string; values: string[] }[] } | undefined)?.matchExpressions.map(
            ({ operator, values }) => `${operator} ${values}`,
          ),
        ),
      )
    expect(selectors(Maps)).to.deep.equal([['NotIn shop,kube-system'], undefined])
    expect(selectors(Maps, { namespaces: ['a', 'b'] })).to.deep.equal([['In a,b', 'NotIn shop,kube-system'], ['In a,b']])
    expect(selectors(Maps, { home: undefined })).to.deep.equal([['NotIn kube-system'], undefined])
    expect(selectors(Maps, { home: 'kube-system' })).to.deep.equal([['NotIn kube-system'], undefined])
    expect(selectors(Narrow)).to.deep.equal([['In a,shop', 'NotIn shop,kube-system']])
    expect(selectors(Theirs)).to.deep.equal([['NotIn shop,kube-system']])
    expect(selectors(Namespaces)).to.deep.equal([['NotIn shop,kube-system']])
    expect(selectors(Nodes)).to.deep.equal([undefined])
    expect(selectors(BoxHandler)).to.deep.equal([undefined, undefined, undefined])
  })

  it('name kinds of the core group by a domain, and paths by core', () => {
    class MapHandler {
      @onReconcile(ConfigMap) reconcile() {}
      @validates(ConfigMap) validate() {}
    }
    const [webhook] = configure(MapHandler)[0]?.webhooks ?? []
    expect(webhook).to.deep.include({ name: 'validate.configmaps.core.tsop.dev' })
    expect(webhook?.['rules']).to.deep.equal([
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'], scope: 'Namespaced' },
    ])
    expect(webhook?.['clientConfig']).to.have.nested.property('service.path', '/validate/core/configmaps/validate')
  })

  it('have names of their own, whatever the methods are called', () => {
    class Wordy {
      @onReconcile(Box) reconcile() {}
      @validates(Box) checkTheQuotaOfTheNamespaceThatTheBoxIsInOnCpu() {}
      @validates(Box) checkTheQuotaOfTheNamespaceThatTheBoxIsInOnMemory() {}
      @validates(Box) checkUrl() {}
      @validates(Box) check_url() {}
      @validates(Box) checkURL() {}
    }
    const labels = configure(Wordy)[0]?.webhooks.map(({ name }) => name.split('.', 1)[0] ?? '') ?? []
    expect(labels).to.include('check-url')
    expect(new Set(labels).size).to.equal(5)
    for (const label of labels) expect(label).to.match(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)
  })

  it('are none for classes that have no such methods', () => {
    class Plain {
      @onReconcile(resource({ group: 'a.example.com', version: 'v1', kind: 'Plain', spec: z.object({}) })) reconcile() {}
    }
    expect(configure(Plain)).to.deep.equal([])
    expect(needsServing([collect(Plain)])).to.equal(false)
    expect(needsServing([collect(BoxHandler)])).to.equal(true)
  })

  it('can name a URL instead of a service', () => {
    const [configuration] = configure(BoxHandler, { endpoint: { url: 'https://192.0.2.1:9443/', caBundle: 'PEM' } })
    expect(configuration?.webhooks[0]?.['clientConfig']).to.deep.equal({
      url: 'https://192.0.2.1:9443/default/shop.example.com/boxes/fill',
      caBundle: 'UEVN',
    })
  })
})

describe('the conversion of a definition', () => {
  it('names whom to ask, where the versions have conversions', () => {
    expect(withConversion(Box, endpoint)?.spec['conversion']).to.deep.equal({
      strategy: 'Webhook',
      webhook: {
        clientConfig: { service: { namespace: 'shop', name: 'webhooks', path: '/convert' }, caBundle: 'UEVN' },
        conversionReviewVersions: ['v1'],
      },
    })
    expect(Box.crd.spec).to.not.have.property('conversion')
    const Plain = resource({ group: 'a.example.com', version: 'v1', kind: 'Plain', spec: z.object({}) })
    expect(withConversion(Plain, endpoint)).to.equal(Plain.crd)
  })

  it('takes the place of one that names the other of Service and URL', () => {
    const byService = withConversion(Box, endpoint)!
    const byUrl = withConversion(Box, { url: 'https://192.0.2.1', caBundle: 'PEM' })!
    expect(conversionSwitch(byUrl, byService)).to.deep.equal({
      spec: { conversion: { webhook: { clientConfig: { service: null, url: 'https://192.0.2.1/convert', caBundle: 'UEVN' } } } },
    })
    const back = conversionSwitch(withConversion(Box, { service: endpoint.service })!, byUrl)
    expect(back).to.have.nested.property('spec.conversion.webhook.clientConfig').that.includes({ url: null, caBundle: null })
    expect(conversionSwitch(byUrl, byUrl)).to.equal(undefined)
    expect(conversionSwitch(byUrl, Box.crd)).to.equal(undefined)
  })
})
