import { expect } from 'chai'
import { freePorts, takenPorts } from '../../control-plane/ports.ts'
import { closeServers, tcpServer } from '../api/servers.ts'

describe('the ports of a control plane', () => {
  afterEach(closeServers)

  it('are found to be taken where somebody listens, and stay free where nobody does', async () => {
    const { port } = await tcpServer(() => {})
    const [free = 0] = await freePorts(1)
    expect(await takenPorts([free, port])).to.deep.equal([port])
    expect(await takenPorts([free])).to.deep.equal([])
  })
})
