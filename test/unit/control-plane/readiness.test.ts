import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { whenReady } from '../../control-plane/readiness.ts'
import { cert, closeServers, httpsServer, otherCert, otherKey } from '../api/servers.ts'

describe('the wait for a control plane', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tsop-ready-'))
  const certificate = join(directory, 'apiserver.crt')
  let asked: string[]

  before(() => writeFileSync(certificate, cert))
  beforeEach(() => {
    asked = []
  })
  afterEach(closeServers)
  after(() => rmSync(directory, { recursive: true }))

  async function server(options = {}): Promise<number> {
    const { port } = await httpsServer((request, response) => {
      asked.push(request.url ?? '')
      response.end('ok')
    }, options)
    return port
  }

  /** Nothing is dead until it was asked for the second time. */
  function dying(): () => string | undefined {
    let looks = 0
    return () => (++looks > 1 ? 'kube-apiserver ended: address already in use' : undefined)
  }

  it('ends when the API server is ready', async () => {
    await whenReady(await server(), certificate, () => undefined)
    expect(asked).to.deep.equal(['/readyz'])
  })

  it('is not ended by another server on the port: it fails with what ours died of', async () => {
    const port = await server({ cert: otherCert, key: otherKey })
    const error = await whenReady(port, certificate, dying()).catch((error) => error)
    expect(error?.message).to.contain('address already in use')
    expect(asked).to.deep.equal([])
  })

  it('is not ended by another server while ours has no certificate yet', async () => {
    const error = await whenReady(await server(), join(directory, 'none.crt'), dying()).catch((error) => error)
    expect(error?.message).to.contain('address already in use')
  })

  it('fails where the API server is ready but something beside it has died', async () => {
    const error = await whenReady(await server(), certificate, () => 'etcd ended').catch((error) => error)
    expect(error?.message).to.equal('etcd ended')
  })

  it('fails in the end where nothing dies and nothing is ready', async () => {
    const error = await whenReady(await server(), join(directory, 'none.crt'), () => undefined, 0).catch((error) => error)
    expect(error?.message).to.contain('not ready')
  })
})
