/** An operator whose webhooks have their certificate from cert-manager. What cert-manager does of it, the test does here. */
import { expect } from 'chai'
import { ConfigMap, Secret } from 'tsop/kinds'
import { type KubeObject, kind } from '../../lib/resource/kind.ts'
import { createAuthority, createServerCertificate } from '../../lib/tls/certificates.ts'
import { Definition, inNamespace, type World } from './cluster.ts'
import { asking } from './fixtures/asking.ts'
import { installed, PROJECT, tsop } from './fixtures/installed.ts'

const Certificate = kind<KubeObject & { spec: { secretName: string; dnsNames: string[]; issuerRef: { kind: string; name: string } } }>(
  'cert-manager.io/v1',
  'Certificate',
  { plural: 'certificates', scope: 'Namespaced' },
)
const Issuer = kind('cert-manager.io/v1', 'Issuer', { plural: 'issuers', scope: 'Namespaced' })

describe('the overlay for cert-manager of tsop generate deploy', function () {
  this.timeout(240_000)

  it('has the API server ask the operator by a certificate that it reads and never looks after, and all of it goes', function () {
    // The Service is another name for this machine, which the embedded server does not look up.
    if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    return inNamespace(async (t) => {
      await definitions(t)
      const o = await installed(t, { handler: asking, args: ['--replicas', '1'], overlay: 'cert-manager' })
      const group = `${t.id}.example.com`
      // The overlay has two replicas; one process is enough.
      await t.kubectl('scale', `deployment/${o.name}`, '-n', o.home, '--replicas=1')
      await issue(t, o.home)
      const container = await o.run()
      const widget = (name: string, version: string, spec: object) => ({
        apiVersion: `${group}/${version}`,
        kind: 'Widget',
        metadata: { name },
        spec,
      })
      const tried = async () =>
        t
          .kubectl('create', '--dry-run=server', '-f', await t.file(widget('tried', 'v1', { size: 1, colour: 'pink' })))
          .catch((error: Error) => error.message)
      await t.until(async () => (await tried()).includes('no pink ones'), 'the webhooks to be asked')
      await t.apply(widget('a', 'v1alpha1', { dimension: '3cm' }))
      expect((await t.client.get(kind<KubeObject & { spec: object }>(`${group}/v1`, 'Widget'), t.ref('a'))).spec).to.deep.equal({ size: 3 })
      await t.until(
        () => t.client.find(ConfigMap, t.ref('a')),
        () => `the child; it said:\n${container.log}`,
      )
      expect(container.log).to.not.match(/forbidden|"status":403|has a certificate/i)
      const may = async (...what: string[]) =>
        (await t.kubectl('auth', 'can-i', ...what, `--as=system:serviceaccount:${o.home}:${o.name}`).catch(() => 'no')).trim()
      expect(await may('get', 'pods', '-n', o.home)).to.equal('no')
      expect(await may('get', `secrets/${o.name}-webhook-tls`, '-n', o.home)).to.equal('no')
      expect(await may('patch', `validatingwebhookconfigurations/${o.name}-webhook`)).to.equal('no')
      expect(await may('get', `leases/${o.name}`, '-n', o.home)).to.equal('yes')

      const said = await tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names, '--yes')
      expect(said).to.match(/deleted ValidatingWebhookConfiguration[\s\S]*done\n$/)
      expect(await container.exited, container.log).to.equal(0)
      const gone = async () =>
        (await t.client.list(Certificate, { namespace: o.home })).items.length +
        (await t.client.list(Issuer, { namespace: o.home })).items.length
      expect(await gone()).to.equal(0)
    })()
  })
})

/** As cert-manager defines its Certificate; its Issuer may be anything here. */
async function definitions(t: World): Promise<void> {
  const folder = `${PROJECT}test/unit/generate/fixtures/cert-manager`
  await t.apply(`${folder}/certificates.yaml`, `${folder}/issuers.yaml`)
  await t.kubectl('wait', '--for=condition=Established', 'crd/certificates.cert-manager.io', 'crd/issuers.cert-manager.io', '--timeout=30s')
}

/** The certificate that is asked for into its Secret, and its authority into what names it. */
async function issue(t: World, namespace: string): Promise<void> {
  const [certificate] = (await t.client.list(Certificate, { namespace })).items
  const { secretName, dnsNames, issuerRef } = certificate!.spec
  expect(await t.client.find(Issuer, { name: issuerRef.name, namespace })).to.not.equal(undefined)
  expect(await t.client.find(Secret, { name: secretName, namespace })).to.equal(undefined)
  const validity = { from: Date.now() - 60_000, to: Date.now() + 3_600_000 }
  const authority = createAuthority('test', validity)
  const { cert, key } = createServerCertificate(authority, { ...validity, commonName: dnsNames[0]!, hosts: dnsNames })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const data = { 'tls.crt': base64(cert), 'tls.key': base64(key), 'ca.crt': base64(authority.cert) }
  await t.client.create(Secret, { metadata: { name: secretName, namespace }, type: 'kubernetes.io/tls', data } as never)

  const caBundle = base64(authority.cert)
  const from = `${namespace}/${certificate!.metadata.name}`
  const asksFor = ({ metadata }: KubeObject) => metadata.annotations?.['cert-manager.io/inject-ca-from'] === from
  let injected = 0
  for (const type of ['Mutating', 'Validating']) {
    const ref = kind<KubeObject & { webhooks: object[] }>('admissionregistration.k8s.io/v1', `${type}WebhookConfiguration`)
    for (const each of (await t.client.list(ref)).items.filter(asksFor)) {
      const value = each.webhooks.map((_, i) => ({ op: 'add' as const, path: `/webhooks/${i}/clientConfig/caBundle`, value: caBundle }))
      await t.client.patch(ref, each.metadata, { type: 'json', value })
      injected++
    }
  }
  for (const each of (await t.client.list(Definition)).items.filter(asksFor)) {
    const value = { spec: { conversion: { webhook: { clientConfig: { caBundle } } } } }
    await t.client.patch(Definition, each.metadata, { type: 'merge', value })
    injected++
  }
  expect(injected).to.equal(3)
}
