import { AsyncLocalStorage } from 'node:async_hooks'
import { expect } from 'chai'
import { nextTurn, systemClock } from '../../../lib/api/clock.ts'
import { createTransport } from '../../../lib/api/http-transport.ts'
import { ConnectionError } from '../../../lib/api/status-error.ts'
import type { Transport } from '../../../lib/api/transport.ts'
import { bothServer, closeServers, clusterOf, httpServer } from './servers.ts'

describe('connections over time', () => {
  const transports: Transport[] = []

  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close()
    await closeServers()
  })

  it('hold on to nothing of whoever asked first', async () => {
    let goOn = () => {}
    const server = await httpServer((_request, response) => {
      response.write('first')
      goOn = () => void response.write('second')
    })
    const transport = createTransport(clusterOf(server), { clock: systemClock, random: () => 0.5 })
    transports.push(transport)
    const runs = new AsyncLocalStorage<string>()
    const stream = await runs.run('a run', () => transport.stream({ method: 'GET', path: '/x', timeoutMs: 1e6 }))
    const context = await new Promise((resolve) => {
      stream.read(
        (chunk) => {
          if (String(chunk) === 'second') resolve(runs.getStore())
          else goOn()
        },
        () => {},
      )
    })
    expect(context).to.equal(undefined)
  })

  it('that cannot be made of a certificate are an error of the request, and of nothing else', async () => {
    const server = await bothServer((_request, response) => response.end())
    const tls = { cert: 'no certificate', key: 'no key', rejectUnauthorized: true }
    const transport = createTransport(clusterOf(server, { tls }), { clock: systemClock, random: () => 0.5 })
    transports.push(transport)
    const error = await transport.request({ method: 'GET', path: '/x', timeoutMs: 1e6 }).catch((error: unknown) => error)
    expect(error).to.be.instanceOf(ConnectionError)
    expect((error as Error).message).to.match(/^cannot connect to https:\/\/127\.0\.0\.1:\d+: /)
    expect(server.accepted).to.equal(0)
  })

  it('take their turns in real time, also where a test has put fake timers in the place of the real ones', async () => {
    const real = globalThis.setImmediate
    globalThis.setImmediate = (() => {
      throw new Error('a fake one')
    }) as unknown as typeof setImmediate
    try {
      await new Promise<void>((resolve) => nextTurn(resolve))
    } finally {
      globalThis.setImmediate = real
    }
  })
})
