/** What an operator writes to look after the certificate of its webhooks, it writes as the leader: by the client that stops with the lease. */
import { request } from 'node:https'
import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { systemClock } from '../../../lib/api/clock.ts'
import { inProcess } from '../../../lib/embedded/http/in-process.ts'
import { createServer, type EmbeddedServer } from '../../../lib/embedded/server.ts'
import { Lease } from '../../../lib/leadership/lease.ts'
import type { KindRef } from '../../../lib/resource/kind.ts'
import { Secret } from '../../../lib/resource/kinds.ts'
import { createAuthority, createServerCertificate } from '../../../lib/tls/certificates.ts'
import { freePorts } from '../../control-plane/ports.ts'
import { Project } from './project.ts'

const HANDLER = `
import { onReconcile, resource, validates, z } from 'tsop'
export const Box = resource({
  group: 'shop.example.com', version: 'v1', kind: 'Box', spec: z.object({ size: z.int() }),
  versions: [{
    version: 'v1alpha1', spec: z.object({ size: z.int() }),
    to: ({ spec }) => ({ spec }), from: ({ spec }) => ({ spec }),
  }],
})
export class BoxHandler {
  @validates(Box) validate() {}
  @onReconcile(Box) reconcile() {}
}
`
const DAY = 86_400_000
const Validating: KindRef = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  scope: 'Cluster',
}

describe('the certificate of the webhooks of an operator that takes part in an election', function () {
  this.timeout(60_000)
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  it('is told to Prometheus, and made anew by the leader with writes that end with its lease', async () => {
    const cluster = await createServer({ port: 0 })
    ends.push(() => cluster.close())
    const client = new Client({
      transport: inProcess((request) => cluster.handle(request), { clock: systemClock, headers: {} }),
      clock: systemClock,
    })
    await client.create(Lease, { metadata: { name: 'shop', namespace: 'default' } } as never)
    await client.create(Validating, { metadata: { name: 'shop-webhook' }, webhooks: [] } as never)
    await client.create(Secret, { metadata: { name: 'shop-webhook-tls', namespace: 'default' }, data: endsIn(10 * DAY) } as never)
    const written = writesTo(cluster)

    const p = new Project({ 'handlers/box.ts': HANDLER, 'cluster.json': JSON.stringify(cluster.kubeconfig()) })
    ends.push(() => p.remove())
    const [port] = await freePorts(1)
    const args = ['--kubeconfig', 'cluster.json', '--name', 'shop', '--leader-elect', '--install-crds', '--webhook-port', String(port)]
    args.push('--metrics-bind-address', '127.0.0.1:0')
    const running = p.start(args)
    ends.push(async () => {
      running.child.kill('SIGKILL')
      await running.ended
    })
    await running.hears(/"msg":"the webhooks have a certificate"/)
    await running.hears(/"msg":"ready"/)
    expect(written('secrets'), 'one that is still good is served as it is').to.deep.equal([])
    await ask(port as number, '/validate/shop.example.com/boxes/validate')
    const [, url = ''] = /"url":"([^"]+\/metrics)"/.exec(running.said) ?? []
    const metrics = await (await fetch(url)).text()
    expect(metrics).to.match(/^tsop_webhook_certificate_expiration_timestamp_seconds \d{10}$/m)
    expect(metrics).to.contain(
      'controller_runtime_webhook_requests_total{webhook="/validate/shop.example.com/boxes/validate",code="400"} 1\n',
    )

    await running.hears(/"msg":"leading"/)
    const deadline = Date.now() + 30_000
    while (written('secrets').length === 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))

    const [authority, ...others] = written('customresourcedefinitions').filter(({ body }) => body.includes('caBundle'))
    const [pair] = written('secrets')
    expect(others).to.deep.equal([])
    // What bears the time that the lease leaves has gone through the gate.
    expect(authority?.url).to.match(/[?&]timeout=\d+ms/)
    expect(pair?.url).to.match(/[?&]timeout=\d+ms/)
  })

  it('is what a standby has to serve before it is ready', async () => {
    const cluster = await createServer({ port: 0 })
    ends.push(() => cluster.close())
    const client = new Client({
      transport: inProcess((request) => cluster.handle(request), { clock: systemClock, headers: {} }),
      clock: systemClock,
    })
    const spec = { holderIdentity: 'another', leaseDurationSeconds: 600 }
    await client.create(Lease, { metadata: { name: 'shop', namespace: 'default' }, spec } as never)
    const secret = { name: 'shop-webhook-tls', namespace: 'default' }
    await client.create(Secret, { metadata: secret, data: endsIn(-DAY / 2) } as never)
    const p = new Project({ 'handlers/box.ts': HANDLER, 'cluster.json': JSON.stringify(cluster.kubeconfig()) })
    ends.push(() => p.remove())
    const [port] = await freePorts(1)
    const args = ['--kubeconfig', 'cluster.json', '--name', 'shop', '--leader-elect', '--install-crds', '--webhook-port', String(port)]
    const running = p.start([...args, '--health-probe-bind-address', '127.0.0.1:0'])
    ends.push(async () => {
      running.child.kill('SIGKILL')
      await running.ended
    })
    await running.hears(/standing by: another leads/)
    const [, url = ''] = /"url":"([^"]+)","msg":"serving probes"/.exec(running.said) ?? []
    const ready = async () => await (await fetch(`${url}/readyz`)).text()
    expect(await ready()).to.contain('[-]webhooks failed: there is no certificate to serve yet')

    await client.patch(Secret, secret, { type: 'merge', value: { data: endsIn(60 * DAY) } })
    await running.hears(/"msg":"serving webhooks"/)
    expect(await ready()).to.equal('ok')
  })
})

/** What is no review. */
function ask(port: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, method: 'POST', rejectUnauthorized: false, agent: false }, (response) => {
      response.resume().on('end', resolve)
    })
    call.on('error', reject)
    call.end('{}')
  })
}

function endsIn(ms: number): Record<string, string> {
  const validity = { from: Date.now() - DAY, to: Date.now() + ms }
  const authority = createAuthority('test', validity)
  const dns = 'shop-webhook.default'
  const hosts = [`${dns}.svc`, `${dns}.svc.cluster.local`, dns, 'shop-webhook']
  const { cert, key } = createServerCertificate(authority, { ...validity, commonName: dns, hosts })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return { 'tls.crt': base64(cert), 'tls.key': base64(key), 'ca.crt': base64(authority.cert) }
}

/** What has been written so far, by resource. Not the definition itself, which anybody installs. */
function writesTo(cluster: EmbeddedServer) {
  const all: { url: string; body: string }[] = []
  cluster.core.requests.listen(({ request }) => {
    if (request.method !== 'GET' && !/apply-patch/.test(request.headers['content-type'] ?? ''))
      all.push({ url: request.url, body: String(request.body ?? '') })
  })
  return (resource: string) => all.filter(({ url }) => url.split('?')[0]?.split('/').includes(resource))
}
