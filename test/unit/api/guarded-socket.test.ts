import { expect } from 'chai'
import { systemClock } from '../../../lib/api/clock.ts'
import { createTransport } from '../../../lib/api/http-transport.ts'
import type { Transport, TransportRequest } from '../../../lib/api/transport.ts'
import { closeServers, clusterOf, http2Server, httpServer, httpsServer } from './servers.ts'

describe('requests that ask before bytes go to the operating system', () => {
  const transports: Transport[] = []

  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close()
    await closeServers()
  })

  for (const [version, start] of [
    ['HTTP/2', http2Server],
    ['HTTP/1.1 over TLS', httpsServer],
    ['HTTP/1.1 without TLS', httpServer],
  ] as const) {
    describe(`over ${version}`, () => {
      async function world() {
        const paths: string[] = []
        const server = await start((request, response) => {
          paths.push(request.url ?? '')
          let length = 0
          request.on('data', (chunk: Buffer) => (length += chunk.length))
          request.on('end', () => response.end(`${length} ${'x'.repeat(length)}`))
        })
        const transport = createTransport(clusterOf(server), { clock: systemClock, random: () => 0.5 })
        transports.push(transport)
        const gate = { open: true }
        const mayWrite = () => gate.open
        const put = (path: string, rest: Partial<TransportRequest> = {}) =>
          transport.request({ method: 'PUT', path, body: '{}', timeoutMs: 5_000, mayWrite, ...rest })
        return { server, paths, transport, gate, put }
      }

      it('leave while they may, with bodies of any length, many at a time, beside the others', async () => {
        const { put, transport, server } = await world()
        const body = 'b'.repeat(300_000)
        const answers = await Promise.all([
          ...Array.from({ length: 20 }, (_, i) => put(`/${i}`, { body })),
          transport.request({ method: 'GET', path: '/read', timeoutMs: 5_000 }),
        ])
        expect(answers.map(({ body }) => body.length)).to.deep.equal([...Array(20).fill(300_007), 2])
        expect(server.accepted).to.be.at.least(2)
      })

      it('do not leave where the gate closes after the last look at it, in the turn in which they were to be sent', async () => {
        const { put, paths, gate } = await world()
        await put('/first')
        const error = await put('/second', {
          beforeSend: () => {
            gate.open = false
          },
        }).then(
          () => undefined,
          (error: Error) => error,
        )
        expect(error).to.be.instanceOf(Error)
        expect(paths).to.deep.equal(['/first'])
      })

      it('leave on another connection once they may again', async () => {
        const { put, paths, gate } = await world()
        gate.open = false
        await put('/first').catch(() => {})
        gate.open = true
        expect((await put('/second')).status).to.equal(200)
        expect(paths).to.deep.equal(['/second'])
      })
    })
  }
})
