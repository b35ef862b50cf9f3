import { expect } from 'chai'
import { systemClock } from '../../../lib/api/clock.ts'
import type { TlsSettings } from '../../../lib/api/cluster.ts'
import type { Connection, Outgoing } from '../../../lib/api/connection.ts'
import { ConnectionPool } from '../../../lib/api/connection-pool.ts'
import { bothServer, cert, closeServers, http2Server, httpsServer, type TestServer, until } from './servers.ts'

describe('connections that have ended', () => {
  let pool: CountingPool
  let destroyed: number

  afterEach(async () => {
    pool.close()
    await closeServers()
  })

  function open(server: TestServer, lanes = false): void {
    destroyed = 0
    pool = new CountingPool({ url: new URL(server.url), proxy: undefined, clock: systemClock, lanes }, Math.random)
  }

  /** Counts what `close()` of the pool still finds. */
  async function connection(tls: TlsSettings = settings()): Promise<Connection> {
    const connection =
      pool.take(false, tls) ?? (await new Promise<Connection>((ready, failed) => void pool.wait({ streaming: false, ready, failed })))
    const destroy = connection.destroy.bind(connection)
    connection.destroy = () => {
      destroyed++
      destroy()
    }
    return connection
  }

  it('are forgotten when the server said goodbye and the last request is done', async () => {
    const server = await http2Server((_request, response) => response.end('{}'))
    open(server)
    const tls = settings()
    for (let i = 1; i <= 3; i++) {
      await ask(await connection(tls))
      server.sessions.at(-1)?.goaway(0)
      await until(() => pool.closings === i)
    }
    pool.close()
    expect(destroyed).to.equal(0)
  })

  it('are forgotten after the last answer on an HTTP/1.1 socket beside HTTP/2', async () => {
    let release: (() => void) | undefined
    const server = await bothServer((request, response) => {
      if (request.url === '/held') release = () => void response.end('{}')
      else response.end(request.httpVersion)
    })
    open(server, true)
    const tls = settings()
    await ask(await connection(tls))
    await until(() => server.handshakes.length === 2)
    const answer = ask(await connection(tls), '/held')
    await until(() => release !== undefined)
    await ask(await connection())
    expect(pool.closings).to.equal(0)
    release?.()
    await answer
    await until(() => pool.closings === 1)
    pool.close()
    expect(destroyed).to.equal(1)
  })

  for (const [protocol, start] of [
    ['HTTP/2', http2Server],
    ['HTTP/1.1', httpsServer],
  ] as const) {
    it(`are forgotten where certificates change, with ${protocol}`, async () => {
      open(await start((_request, response) => response.end('{}')))
      for (let i = 0; i < 3; i++) await ask(await connection())
      await until(() => pool.closings === 2)
      pool.close()
      expect(destroyed).to.equal(1)
    })

    describe(`while a request is under way, with ${protocol}`, () => {
      let release: (() => void) | undefined
      let answer: Promise<void>

      beforeEach(async () => {
        release = undefined
        const server = await start((request, response) => {
          if (request.url === '/held') release = () => void response.end('{}')
          else response.end('{}')
        })
        open(server)
        answer = ask(await connection(), '/held')
        await until(() => release !== undefined)
        await ask(await connection())
        expect(pool.closings).to.equal(0)
      })

      it('are forgotten after its answer', async () => {
        release?.()
        await answer
        await until(() => pool.closings === 1)
        pool.close()
        expect(destroyed).to.equal(1)
      })

      it('are destroyed with the pool', async () => {
        pool.close()
        expect(destroyed).to.equal(2)
        expect(await answer.catch((error) => error)).to.be.instanceOf(Error)
      })
    })
  }
})

class CountingPool extends ConnectionPool {
  closings = 0

  override closed(connection: Connection): void {
    super.closed(connection)
    this.closings++
  }
}

/** New ones each time: a pool compares them by identity. */
function settings(): TlsSettings {
  return { ca: [cert], rejectUnauthorized: true }
}

function ask(connection: Connection, path = '/'): Promise<void> {
  const outgoing: Outgoing = {
    method: 'GET',
    path,
    headers: undefined,
    authentication: {},
    body: undefined,
    beforeSend: undefined,
    stream: false,
  }
  return new Promise((resolve, reject) => {
    connection.send(outgoing, { response() {}, data() {}, end: resolve, fail: reject, failed: reject })
  })
}
