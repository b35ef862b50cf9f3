import { X509Certificate } from 'node:crypto'
import { expect } from 'chai'
import { CertificateStore } from '../../../lib/admission/certificate-store.ts'
import { webhookConfigurations, withConversion } from '../../../lib/admission/configurations.ts'
import { publishAuthorities } from '../../../lib/admission/publish.ts'
import { Client } from '../../../lib/api/client.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { inProcess } from '../../../lib/embedded/http/in-process.ts'
import { createServer, type EmbeddedServer } from '../../../lib/embedded/server.ts'
import { defaults, onReconcile, validates } from '../../../lib/index.ts'
import type { KindRef } from '../../../lib/resource/kind.ts'
import { Secret } from '../../../lib/resource/kinds.ts'
import { createAuthority, type KeyPair } from '../../../lib/tls/certificates.ts'
import { ManualClock, settle } from '../manual-clock.ts'
import { Box, type Line, logTo } from './fixtures.ts'

const DAY = 86_400_000
const HOST = 'shop-webhook.shop.svc'
const secret = { name: 'shop-webhook-tls', namespace: 'default' }

class BoxHandler {
  @onReconcile(Box) reconcile() {}
  @validates(Box) validate() {}
  @defaults(Box) fill() {}
}

/** Days go by without every minute of them. */
class JumpingClock extends ManualClock {
  #later = 0
  override now(): number {
    return super.now() + this.#later
  }
  jump(ms: number): void {
    this.#later += ms
  }
}

const kindOf = (kind: string): KindRef<never> => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  scope: 'Cluster',
})

describe('the certificate that an operator looks after', () => {
  let server: EmbeddedServer
  let client: Client
  let clock: JumpingClock
  const stores: CertificateStore[] = []

  beforeEach(async () => {
    clock = new JumpingClock()
    server = await createServer()
    const transport = inProcess((request) => server.handle(request), { clock, headers: {} })
    client = new Client({ transport, clock })
    const endpoint = { service: { namespace: 'shop', name: 'shop-webhook' } }
    for (const each of webhookConfigurations([collect(BoxHandler)], { name: 'shop', endpoint }))
      await client.create(kindOf(each.kind), each as never)
    await client.create({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }, withConversion(Box, endpoint) as never)
  })
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.stop()
    await server.close()
  })

  function replica(leads: () => boolean = () => true, refused: () => boolean = () => false, by: () => Client = () => client) {
    const served: KeyPair[] = []
    const published: string[] = []
    const lines: Line[] = []
    const targets = { mutating: 'shop', validating: 'shop', definitions: [Box.crd.metadata.name] }
    const store = new CertificateStore({
      client,
      clock,
      log: logTo(lines),
      secret,
      hosts: [HOST],
      leader: () => (leads() ? by() : undefined),
      publish: async (authorities, writer) => {
        if (refused()) throw new Error('nobody may write')
        published.push(authorities)
        await publishAuthorities(writer, targets, authorities)
      },
      renewed: (pair) => void served.push(pair),
    })
    stores.push(store)
    return { store, served, published, lines }
  }

  /** What the API server trusts, by where it is written. */
  async function trusted(): Promise<string[]> {
    const [mutating, validating] = await Promise.all(
      ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map((kind) => client.get(kindOf(kind), { name: 'shop' })),
    )
    const definition = await client.get(
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      { name: Box.crd.metadata.name },
    )
    const of = (config: { caBundle?: string } | undefined) => Buffer.from(config?.caBundle ?? '', 'base64').toString()
    return [
      ...[mutating, validating].flatMap((each) =>
        (each as unknown as { webhooks: { clientConfig: object }[] }).webhooks.map((webhook) => of(webhook.clientConfig)),
      ),
      of((definition as unknown as { spec: { conversion: { webhook: { clientConfig: object } } } }).spec.conversion.webhook.clientConfig),
    ]
  }

  const isTrusted = (bundle: string, { cert }: KeyPair) =>
    (bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).some((ca) =>
      new X509Certificate(cert).verify(new X509Certificate(ca).publicKey),
    )

  it('is made, served, and trusted wherever the API server looks', async () => {
    const { store, served } = replica()
    await store.start()
    expect(served).to.have.length(1)
    const [pair] = served as [KeyPair]
    const certificate = new X509Certificate(pair.cert)
    expect(certificate.checkHost(HOST)).to.equal(HOST)
    expect(certificate.validToDate.getTime() - clock.now()).to.equal(90 * DAY)
    expect((await trusted()).map((bundle) => isTrusted(bundle, pair))).to.deep.equal([true, true, true])
  })

  it('is the same for all replicas, whoever is first', async () => {
    const replicas = [replica(), replica(), replica(() => false)]
    await Promise.all(replicas.map(({ store }) => store.start()))
    const certificates = replicas.map(({ served }) => served.map(({ cert }) => cert))
    expect(certificates[0]).to.have.length(1)
    expect(certificates).to.deep.equal([certificates[0], certificates[0], certificates[0]])
    expect(isTrusted((await trusted())[0] as string, replicas[0]?.served[0] as KeyPair)).to.equal(true)
  })

  it('keeps no key that could sign another one', async () => {
    await replica().store.start()
    const { data = {} } = await client.get(Secret, secret)
    expect(Object.keys(data).sort()).to.deep.equal(['ca.crt', 'tls.crt', 'tls.key'])
    expect(new X509Certificate(Buffer.from(String(data['tls.crt']), 'base64')).ca).to.equal(false)
  })

  it('is taken from the Secret by the next process, and nothing is written', async () => {
    const first = replica()
    await first.store.start()
    await first.store.stop()
    const before = await client.get(Secret, secret)
    const second = replica()
    await second.store.start()
    expect(second.served).to.deep.equal(first.served)
    expect((await client.get(Secret, secret)).metadata.resourceVersion).to.equal(before.metadata.resourceVersion)
  })

  it('is renewed in time by the leader alone, and the old one is trusted until nobody serves it', async () => {
    const leader = replica()
    const standby = replica(() => false)
    await leader.store.start()
    await standby.store.start()
    const [old] = leader.served as [KeyPair]
    clock.jump(59 * DAY)
    await clock.advance(60_000)
    expect(leader.served).to.have.length(1)
    clock.jump(2 * DAY)
    await standby.store.look()
    expect(standby.served, 'the standby writes nothing').to.have.length(1)
    await clock.advance(10_000)
    const fresh = Buffer.from(String((await client.get(Secret, secret)).data?.['tls.crt']), 'base64').toString()
    expect(fresh).to.not.equal(old.cert)
    for (const bundle of await trusted()) {
      expect(isTrusted(bundle, old), 'the old one').to.equal(true)
      expect(isTrusted(bundle, { cert: fresh, key: '' }), 'the new one').to.equal(true)
    }
    expect(leader.served, 'served before API servers have heard of it').to.have.length(1)
    await clock.advance(10_000)
    expect(leader.served.at(-1)?.cert).to.equal(fresh)
    await clock.advance(60_000)
    await clock.advance(10_000)
    expect(standby.served.at(-1)?.cert).to.equal(fresh)
  })

  it('stays the old one as long as a new one cannot be trusted', async () => {
    let isRefused = false
    const { store, served } = replica(undefined, () => isRefused)
    await store.start()
    const before = await client.get(Secret, secret)
    isRefused = true
    clock.jump(61 * DAY)
    await store.look()
    expect((await client.get(Secret, secret)).data, 'standbys would serve it').to.deep.equal(before.data)
    expect(served).to.have.length(1)
    isRefused = false
    const looked = store.look()
    await clock.advance(1)
    await clock.advance(10_000)
    await looked
    expect(served).to.have.length(2)
  })

  it('is written back within seconds where somebody took the authority away', async () => {
    const { store, served } = replica()
    await store.start()
    const kind = kindOf('ValidatingWebhookConfiguration')
    await client.patch(kind, { name: 'shop' }, { type: 'json', value: [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }] })
    await clock.advance(10_000)
    await settle()
    expect((await trusted()).every((bundle) => isTrusted(bundle, served[0] as KeyPair))).to.equal(true)
  })

  it('is published by whoever comes to lead while it looks', async () => {
    const first = replica()
    await first.store.start()
    await first.store.stop()
    let leads = false
    const { store, served, published } = replica(() => leads)
    // By now it has asked who leads.
    served.push = () => {
      leads = true
      void store.look()
      return 1
    }
    await store.start()
    expect(published).to.have.length(1)
  })

  it('is made anew where the Secret holds none, or one for other names', async () => {
    await client.create(Secret, { metadata: secret, data: { other: 'YQ==' } } as never)
    const { store, served } = replica()
    await store.start()
    expect(served).to.have.length(1)
    expect((await client.get(Secret, secret)).data).to.include({ other: 'YQ==' })
    await client.patch(Secret, secret, { type: 'merge', value: { data: { 'tls.key': Buffer.from('x').toString('base64') } } })
    const looked = store.look()
    await clock.advance(1)
    await clock.advance(10_000)
    await looked
    expect(served).to.have.length(2)
  })

  it('is made anew where the authority in the Secret is none, or that of another certificate', async () => {
    const { store, served } = replica()
    await store.start()
    const other = createAuthority('other', { from: clock.now() - DAY, to: clock.now() + 90 * DAY }).cert
    for (const [i, authority] of ['garbage', '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n', other].entries()) {
      await client.patch(Secret, secret, { type: 'merge', value: { data: { 'ca.crt': Buffer.from(authority).toString('base64') } } })
      const looked = store.look()
      await clock.advance(1)
      await clock.advance(10_000)
      await looked
      expect(served, authority).to.have.length(i + 2)
      expect((await trusted()).map((bundle) => isTrusted(bundle, served.at(-1)!))).to.deep.equal([true, true, true])
    }
  })

  it('is waited for by those who may not write an old one anew', async () => {
    const leader = replica()
    await leader.store.start()
    await leader.store.stop()
    clock.jump(91 * DAY)
    const { store, served, lines } = replica(() => false)
    await store.start()
    await clock.advance(60_000)
    expect(served).to.deep.equal([])
    expect(lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'warn waiting for the leader to make a certificate (Secret default/shop-webhook-tls)',
    ])
  })

  it('is served by them seconds after the leader has made it', async () => {
    const old = replica()
    await old.store.start()
    await old.store.stop()
    clock.jump(91 * DAY)
    const standby = replica(() => false)
    await standby.store.start()
    const leader = replica()
    await leader.store.start()
    expect(standby.served).to.have.length(0)
    await clock.advance(2_000)
    expect(standby.served).to.deep.equal(leader.served)
  })

  it('is served although it cannot be published, which is said once and tried again', async () => {
    await client.delete(kindOf('MutatingWebhookConfiguration'), { name: 'shop' })
    const { store, served, lines } = replica()
    await store.start()
    await clock.advance(120_000)
    expect(served).to.have.length(1)
    const warnings = lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.contain('mutatingwebhookconfigurations').and.to.contain('tsop generate webhooks writes what must be there')
    expect((await trusted().catch(() => [])).length, 'the others were written').to.equal(0)
    const { webhooks } = (await client.get(kindOf('ValidatingWebhookConfiguration'), { name: 'shop' })) as unknown as {
      webhooks: { clientConfig: { caBundle?: string } }[]
    }
    expect(webhooks[0]?.clientConfig.caBundle).to.be.a('string')
  })

  it('is published seconds after somebody else was in the way', async () => {
    let isRefused = true
    const { store, served } = replica(undefined, () => isRefused)
    await store.start()
    isRefused = false
    await clock.advance(10_000)
    expect((await trusted()).map((bundle) => isTrusted(bundle, served[0] as KeyPair))).to.deep.equal([true, true, true])
  })

  it('is written by the client that leads and by no other, and by nobody who leads no more', async () => {
    const sent: string[] = []
    let allowed = Number.POSITIVE_INFINITY
    const gated = new Client({
      transport: inProcess(
        (request) => {
          if (request.method !== 'GET') sent.push(request.url)
          return server.handle(request)
        },
        { clock, headers: {} },
      ),
      clock,
      gate: {
        check() {
          if (sent.length >= allowed) throw new Error('this process does not lead')
        },
      },
    })
    const { store, served } = replica(undefined, undefined, () => gated)
    await store.start()
    expect(sent, 'the Secret, two configurations, a definition').to.have.length(4)
    // Found out only as it is about to write: the lease was lost while it looked.
    allowed = sent.length
    clock.jump(61 * DAY)
    const before = await Promise.all([client.get(Secret, secret), trusted()])
    await store.look()
    expect(await Promise.all([client.get(Secret, secret), trusted()])).to.deep.equal(before)
    // Between the authority and the certificate.
    allowed += 3
    await store.look()
    expect(sent).to.have.length(allowed)
    expect(await client.get(Secret, secret)).to.deep.equal(before[0])
    expect(served).to.have.length(1)
  })

  it('is left to the leader by whoever serves one, where the Secret is emptied', async () => {
    const standby = replica(() => false)
    await standby.store.start()
    expect(standby.served, 'the very first').to.have.length(1)
    await client.patch(Secret, secret, { type: 'merge', value: { data: null } })
    await standby.store.look()
    expect((await client.get(Secret, secret)).data).to.equal(undefined)
    expect(standby.served).to.have.length(1)
  })

  it('of a former leader does not displace the authority of the next one', async () => {
    const former = replica()
    await former.store.start()
    // What it reads before the next leader writes, it may not write after it.
    const stale = new Client({
      transport: inProcess((request) => server.handle(request), { clock, headers: {} }),
      clock,
    })
    const get = stale.get.bind(stale)
    let others = async () => {}
    stale.get = (async (...args: Parameters<Client['get']>) => {
      const object = await get(...args)
      await others()
      return object
    }) as Client['get']
    others = async () => {
      others = async () => {}
      await publishAuthorities(client, { mutating: undefined, validating: 'shop', definitions: [] }, 'of the next one')
    }
    const targets = { mutating: undefined, validating: 'shop', definitions: [] }
    const error = await publishAuthorities(stale, targets, 'of the former one').then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).to.be.instanceOf(Error)
    const live = (await client.get(kindOf('ValidatingWebhookConfiguration'), { name: 'shop' })) as unknown as {
      webhooks: { clientConfig: { caBundle: string } }[]
    }
    expect(Buffer.from(live.webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString()).to.equal('of the next one')
  })

  it('is not looked after any more after the end', async () => {
    const { store } = replica()
    await store.start()
    await store.stop()
    expect(clock.pending).to.equal(0)
  })
})
