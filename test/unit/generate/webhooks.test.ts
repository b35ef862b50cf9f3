import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { systemClock } from '../../../lib/api/clock.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { inProcess } from '../../../lib/embedded/http/in-process.ts'
import { createServer } from '../../../lib/embedded/server.ts'
import { definitionsOf } from '../../../lib/generate/crds.ts'
import type { OperatorModel } from '../../../lib/generate/operator.ts'
import { operatorPermissions } from '../../../lib/generate/rbac.ts'
import { endpointOf, webhookParts } from '../../../lib/generate/webhooks.ts'
import { onReconcile, validates } from '../../../lib/index.ts'
import { kind } from '../../../lib/resource/kind.ts'
import { ConfigMap } from '../../../lib/resource/kinds.ts'
import { Crate, CrateHandler } from '../../cluster/fixtures/crate.ts'

const of = (cls: new () => object): OperatorModel => ({
  operator: '@shop/crates',
  name: 'shop-crates',
  home: 'shop',
  namespaces: undefined,
  specs: [collect(cls)],
})

class Plain {
  @onReconcile(ConfigMap) reconcile() {}
}
class Converted {
  @onReconcile(Crate) reconcile() {}
}

const names = (objects: readonly { kind: string; metadata: { name: string } }[]) =>
  objects.map(({ kind: what, metadata }) => `${what} ${metadata.name}`)

describe('the objects by which the API server asks an operator', () => {
  it('are a Service, a certificate that the operator fills in, and the configurations', () => {
    const { service, certificate, configurations } = webhookParts(of(CrateHandler))
    expect(names(service)).to.deep.equal(['Service shop-crates-webhook'])
    expect(service[0]).to.deep.include({
      spec: {
        selector: { 'app.kubernetes.io/name': 'shop-crates', 'app.kubernetes.io/component': 'operator' },
        ports: [{ name: 'webhooks', port: 443, targetPort: 'webhooks' }],
        publishNotReadyAddresses: true,
      },
    })
    expect(names(certificate)).to.deep.equal(['Secret shop-crates-webhook-tls'])
    expect(certificate[0]).to.not.have.any.keys('data', 'stringData')
    expect(names(configurations as never)).to.deep.equal([
      'MutatingWebhookConfiguration shop-crates-webhook',
      'ValidatingWebhookConfiguration shop-crates-webhook',
    ])
  })

  it('lead to pods that are ready, where nobody has to convert what makes them so', () => {
    class Checked {
      @onReconcile(ConfigMap) reconcile() {}
      @validates(ConfigMap) validate() {}
    }
    const [service] = webhookParts(of(Checked)).service
    expect(service?.['spec']).to.not.have.property('publishNotReadyAddresses')
  })

  it('can have cert-manager make the certificate', () => {
    const { certificate, configurations } = webhookParts(of(CrateHandler), { certManager: true })
    expect(names(certificate)).to.deep.equal(['Issuer shop-crates-webhook', 'Certificate shop-crates-webhook'])
    expect(certificate[1]).to.have.nested.property('spec.dnsNames').that.includes('shop-crates-webhook.shop.svc')
    for (const { metadata } of configurations) {
      expect(metadata.annotations).to.deep.equal({ 'cert-manager.io/inject-ca-from': 'shop/shop-crates-webhook' })
    }
  })

  it('are none where there is nothing to ask, and no configuration where there are conversions only', () => {
    expect(webhookParts(of(Plain))).to.deep.equal({ service: [], certificate: [], configurations: [] })
    const { service, configurations } = webhookParts(of(Converted))
    expect(service).to.have.length(1)
    expect(configurations).to.deep.equal([])
  })

  it('come with rights to these objects alone', () => {
    const plain = operatorPermissions(of(Converted)).length
    const rights = operatorPermissions(of(CrateHandler)).filter(
      ({ group, resource }) => /admissionregistration|apiextensions/.test(group) || resource === 'secrets',
    )
    expect(rights.map(({ verb, resource, name, namespace }) => [verb, resource, name, namespace ?? ''].join(' '))).to.deep.equal([
      'get secrets shop-crates-webhook-tls shop',
      'update secrets shop-crates-webhook-tls shop',
      'get mutatingwebhookconfigurations shop-crates-webhook ',
      'patch mutatingwebhookconfigurations shop-crates-webhook ',
      'get validatingwebhookconfigurations shop-crates-webhook ',
      'patch validatingwebhookconfigurations shop-crates-webhook ',
      'get customresourcedefinitions crates.crates.example.com ',
      'patch customresourcedefinitions crates.crates.example.com ',
    ])
    expect(operatorPermissions(of(CrateHandler))).to.have.length(plain + 4)
    expect(operatorPermissions(of(Plain)).some(({ resource }) => resource === 'secrets')).to.equal(false)
  })

  it('let the operator back in: they do not ask about kinds of Kubernetes in its own namespace, nor in kube-system', async () => {
    class Maps {
      @onReconcile(ConfigMap) reconcile() {}
      @validates(ConfigMap) validate() {}
    }
    const server = await createServer()
    const transport = inProcess((request) => server.handle(request), { clock: systemClock, headers: {} })
    const client = new Client({ transport, clock: systemClock })
    try {
      for (const name of ['shop', 'other']) await client.create(kind('v1', 'Namespace'), { metadata: { name } })
      const { configurations } = webhookParts(of(Maps))
      for (const object of configurations) await client.create(kind(object.apiVersion, object.kind), object as never)
      const written = (namespace: string) =>
        client.create(ConfigMap, { metadata: { name: 'a', namespace } }).then(
          () => 'written',
          (error) => String(error.message),
        )
      expect(await written('shop')).to.equal('written')
      expect(await written('kube-system')).to.equal('written')
      expect(await written('other')).to.contain('failed calling webhook')
    } finally {
      await server.close()
    }
  })

  it('are taken by an API server, definitions included', async () => {
    const server = await createServer()
    const transport = inProcess((request) => server.handle(request), { clock: systemClock, headers: {} })
    const client = new Client({ transport, clock: systemClock })
    try {
      await client.create(kind('v1', 'Namespace'), { metadata: { name: 'shop' } })
      const model = of(CrateHandler)
      const { service, certificate, configurations } = webhookParts(model)
      const crds = definitionsOf(model.specs, endpointOf(model))
      expect(crds[0]?.spec['conversion']).to.have.nested.property('webhook.clientConfig.service.name', 'shop-crates-webhook')
      for (const object of [...service, ...certificate, ...configurations, ...crds] as { apiVersion: string; kind: string }[])
        await client.create(kind(object.apiVersion, object.kind), object as never, { fieldValidation: 'Strict' })
    } finally {
      await server.close()
    }
  })
})
