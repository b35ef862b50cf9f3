import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { parseOptions } from '../../../lib/cli/options.ts'
import { prepareWebhooks, type WebhooksOptions } from '../../../lib/cli/webhooks.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { onReconcile, validates } from '../../../lib/index.ts'
import { createAuthority, createServerCertificate } from '../../../lib/tls/certificates.ts'
import { freePorts } from '../../control-plane/ports.ts'
import { Box, logTo } from '../admission/fixtures.ts'
import { ManualClock, settle } from '../manual-clock.ts'

class BoxHandler {
  @onReconcile(Box) reconcile() {}
  @validates(Box) validate() {}
}

describe('webhooks of an operator that ends', () => {
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-'))
  const validity = { from: Date.now() - 60_000, to: Date.now() + 3_600_000 }
  const { cert, key } = createServerCertificate(createAuthority('test', validity), { ...validity, commonName: 'test', hosts: ['test'] })
  writeFileSync(join(folder, 'tls.crt'), cert)
  writeFileSync(join(folder, 'tls.key'), key)
  after(() => rmSync(folder, { recursive: true }))

  async function serving(source: 'in-cluster' | 'kubeconfig') {
    const [port = 0] = await freePorts(1)
    const clock = new ManualClock()
    const stop = new AbortController()
    const undo: (() => Promise<void>)[] = []
    const given = {
      options: parseOptions(['--webhook-port', String(port), '--webhook-cert-path', folder]),
      name: 'shop',
      handlers: [{ spec: collect(BoxHandler), instance: new BoxHandler() }],
      cluster: { source, namespace: 'shop' },
      log: logTo([]),
      services: undefined,
      signal: stop.signal,
      clock,
    }
    await prepareWebhooks(given as unknown as WebhooksOptions, undo)
    const ended = async () => {
      for (const step of undo.reverse()) await step()
      return 'ended'
    }
    return { clock, stop, ended, answers: () => reachable(port) }
  }

  it('are answered until no Service leads to the pod any more', async () => {
    const { clock, stop, ended, answers } = await serving('in-cluster')
    stop.abort()
    const end = ended()
    await clock.advance(4_999)
    expect(await answers()).to.equal(true)
    await clock.advance(1)
    expect(await end).to.equal('ended')
    expect(await answers()).to.equal(false)
  })

  it('are not waited for where the drain has taken as long, or no Service leads there', async () => {
    const slow = await serving('in-cluster')
    slow.stop.abort()
    await slow.clock.advance(5_000)
    const elsewhere = await serving('kubeconfig')
    elsewhere.stop.abort()
    for (const { clock, ended } of [slow, elsewhere]) {
      const end = ended()
      await settle()
      await clock.advance(0)
      expect(await end).to.equal('ended')
    }
  })
})

function reachable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
