import { AsyncLocalStorage } from 'node:async_hooks'
import v8 from 'node:v8'
import vm from 'node:vm'
import { expect } from 'chai'
import { nextTurn, systemClock } from '../../../lib/api/clock.ts'
import { createTransport } from '../../../lib/api/http-transport.ts'
import { ConnectionError } from '../../../lib/api/status-error.ts'
import type { Transport } from '../../../lib/api/transport.ts'
import { bothServer, closeServers, clusterOf, httpServer, until } from './servers.ts'

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc') as () => void

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

  for (const lanes of [false, true]) {
    it(`over HTTP/2 ${lanes ? 'and beside it ' : ''}keep nothing in memory of the run that opened them`, async () => {
      const server = await bothServer((_request, response) => response.end('{}'))
      const transport = createTransport(clusterOf(server), { clock: systemClock, random: () => 0.5, lanes })
      transports.push(transport)
      const runs = new AsyncLocalStorage<object>()
      const ask = () => transport.request({ method: 'GET', path: '/x', timeoutMs: 1e6 })
      /** In a function of its own: nothing else is to hold on to the run. */
      const run = async () => {
        const own = { name: 'a run' }
        await runs.run(own, ask)
        return new WeakRef(own)
      }
      const ended = await run()
      await until(() => server.accepted === (lanes ? 2 : 1))
      await ask()
      await until(() => {
        collectGarbage()
        return ended.deref() === undefined
      })
    })
  }

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
