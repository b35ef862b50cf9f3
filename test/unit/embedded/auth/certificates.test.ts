import { X509Certificate } from 'node:crypto'
import { expect } from 'chai'
import { createCertificates } from '../../../../lib/embedded/auth/certificates.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('the certificates of an embedded server', () => {
  const { ca, cert, key } = createCertificates(NOW, ['host.example', '192.0.2.7', 'fd00::1'])
  const authority = new X509Certificate(ca)
  const server = new X509Certificate(cert)

  it('are signed by its own authority', () => {
    expect(authority.ca).to.equal(true)
    expect(server.ca).to.equal(false)
    expect(server.verify(authority.publicKey)).to.equal(true)
    expect(server.checkIssued(authority)).to.equal(true)
    expect(authority.verify(server.publicKey)).to.equal(false)
  })

  it('are for loopback, the names in a cluster, and the given hosts', () => {
    for (const address of ['127.0.0.1', '::1', '10.0.0.1', '192.0.2.7', 'fd00::1'])
      expect(server.checkIP(address), address).to.equal(address)
    for (const name of ['localhost', 'kubernetes.default.svc', 'host.example']) expect(server.checkHost(name), name).to.equal(name)
    expect(server.checkHost('example.com')).to.equal(undefined)
  })

  it('hold for a year by the given clock', () => {
    expect(Date.parse(server.validFrom)).to.be.lessThan(NOW)
    expect(Date.parse(server.validTo)).to.equal(NOW + 365 * 24 * 60 * 60 * 1000)
  })

  it('come with their key', () => {
    expect(server.checkPrivateKey(process.getBuiltinModule('node:crypto').createPrivateKey(key))).to.equal(true)
  })

  it('are others for each server', () => {
    const other = createCertificates(NOW)
    expect(new X509Certificate(other.cert).verify(authority.publicKey)).to.equal(false)
    expect(new X509Certificate(other.cert).serialNumber).to.not.equal(server.serialNumber)
  })
})
