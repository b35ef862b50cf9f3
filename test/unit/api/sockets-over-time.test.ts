import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { expect } from 'chai'
import { nextTurn, systemClock } from '../../../lib/api/clock.ts'
import type { Outgoing, Receiver } from '../../../lib/api/connection.ts'
import { createTransport } from '../../../lib/api/http-transport.ts'
import { Http1Sockets } from '../../../lib/api/http1-socket.ts'
import { Lanes } from '../../../lib/api/lanes.ts'
import { ConnectionError } from '../../../lib/api/status-error.ts'
import type { Transport } from '../../../lib/api/transport.ts'
import { ManualClock, settle } from '../manual-clock.ts'
import { bothServer, closeServers, clusterOf, httpServer, until } from './servers.ts'

/** The other side of a socket. It takes what is written when a test says so. */
class Peer extends Duplex {
  readonly heard: Buffer[] = []
  #taken: (() => void) | undefined

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.heard.push(chunk)
    this.#taken = done
  }

  async takeIn(): Promise<void> {
    this.#taken?.()
    await settle()
  }

  async say(text: string): Promise<void> {
    this.push(text)
    await settle()
  }
}

const outgoing = (rest: Partial<Outgoing> = {}): Outgoing => ({
  method: 'PUT',
  path: '/x',
  headers: undefined,
  authentication: {},
  body: undefined,
  beforeSend: undefined,
  stream: false,
  ...rest,
})

class Heard implements Receiver {
  readonly words: string[] = []
  response(status: number): void {
    this.words.push(`${status}`)
  }
  data(): void {}
  end(): void {
    this.words.push('end')
  }
  fail(error: Error): void {
    this.words.push(error.message)
  }
  failed(error: unknown): void {
    this.words.push(`${error}`)
  }
}

function sockets() {
  const clock = new ManualClock()
  const all = new Http1Sockets('api.test', clock, { answered() {}, freed() {} })
  const peer = new Peer()
  return { clock, all, peer, socket: all.add(peer as unknown as Socket) }
}

describe('a socket of HTTP/1.1', () => {
  for (const [says, restsMs] of [
    ['timeout=5, max=100', 4_000],
    ['max=9,timeout=3', 2_000],
    ['timeout=1', 0],
    ['timeout=600', 20_000],
    ['max=100', 20_000],
  ] as const) {
    it(`rests no longer than ${restsMs / 1000} s where the server says keep-alive: ${says}`, async () => {
      const { clock, all, peer, socket } = sockets()
      socket.send(outgoing(), new Heard())
      await peer.takeIn()
      await peer.say(`HTTP/1.1 200 OK\r\nkeep-alive: ${says}\r\ncontent-length: 0\r\n\r\n`)
      if (restsMs > 0) {
        await clock.advance(restsMs - 1)
        expect(all.take()).to.equal(socket)
        all.rest(socket)
        await clock.advance(restsMs)
      }
      expect([all.take(), peer.destroyed]).to.deep.equal([undefined, true])
    })
  }

  it('is handed a large body piece by piece, each when the one before has left', async () => {
    const { peer, socket } = sockets()
    const body = 'b'.repeat(150_000)
    socket.send(outgoing({ body }), new Heard())
    const sizes = () => peer.heard.map(({ length }) => length)
    expect(sizes()).to.deep.equal([65_536])
    await peer.takeIn()
    expect(sizes()).to.deep.equal([65_536, 65_536])
    await peer.takeIn()
    await peer.takeIn()
    expect(Buffer.concat(peer.heard).toString()).to.match(/^PUT \/x HTTP\/1\.1\r\n/)
    expect(Buffer.concat(peer.heard).toString().split('\r\n\r\n')[1]).to.equal(body)
  })

  it('writes nothing more once it has ended', async () => {
    const { peer, socket } = sockets()
    const receiver = new Heard()
    socket.send(outgoing({ body: 'b'.repeat(150_000) }), receiver)
    peer.destroy(new Error('nothing may be written any more'))
    await peer.takeIn()
    expect([peer.heard.length, receiver.words]).to.deep.equal([1, ['nothing may be written any more']])
  })

  it('is not used again where the answer came before all of the request had left', async () => {
    const { all, peer, socket } = sockets()
    const receiver = new Heard()
    socket.send(outgoing({ body: 'b'.repeat(150_000) }), receiver)
    await peer.say('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n')
    expect([receiver.words, peer.destroyed, all.take()]).to.deep.equal([['413', 'end'], true, undefined])
  })
})

describe('lanes that never answer', () => {
  it('keep others from being opened for 30 s, and for longer each time, until one answers', async () => {
    const clock = new ManualClock()
    const opened: Peer[] = []
    const open = async () => {
      opened.push(new Peer())
      return opened.at(-1) as unknown as Socket
    }
    const lanes = new Lanes('api.test', clock, open, { answered() {}, freed() {} })
    /** Has a lane opened, and used in vain. */
    const inVain = async () => {
      let lane = lanes.take()
      await settle()
      lane ??= lanes.take()
      lane?.send(outgoing(), new Heard())
      opened.at(-1)?.destroy()
      await settle()
    }
    const opensAfter = async (ms: number) => {
      const before = opened.length
      await clock.advance(ms - 1)
      lanes.take()
      expect(opened.length).to.equal(before)
      await clock.advance(1)
      lanes.take()
      await settle()
      expect(opened.length).to.equal(before + 1)
    }
    await inVain()
    await opensAfter(30_000)
    await inVain()
    await opensAfter(60_000)
    const good = lanes.take()
    good?.send(outgoing(), new Heard())
    await opened.at(-1)?.takeIn()
    await opened.at(-1)?.say('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    // That one which has answered ends is nothing to wait for.
    opened.at(-1)?.destroy()
    await settle()
    await inVain()
    await opensAfter(30_000)
  })
})

describe('connections over time', () => {
  const transports: Transport[] = []

  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close()
    await closeServers()
  })

  it('use HTTP/2 once in 45 s, or a server would end it as idle, and the lanes with it', async () => {
    const server = await bothServer((request, response) => response.end(request.httpVersion))
    const clock = new ManualClock()
    const transport = createTransport(clusterOf(server), { clock, random: () => 0.5, lanes: true })
    transports.push(transport)
    const ask = async () => String((await transport.request({ method: 'GET', path: '/x', timeoutMs: 1e6 })).body)
    expect(await ask()).to.equal('2.0')
    await until(() => server.accepted === 2)
    let version: string
    do version = await ask()
    while (version === '2.0')
    const versions: string[] = []
    for (let s = 1.5; s <= 99; s += 1.5) {
      await clock.advance(1_500)
      versions.push(`${s} ${await ask()}`)
    }
    expect(versions.filter((version) => version.endsWith('2.0'))).to.deep.equal(['45 2.0', '90 2.0'])
  })

  it('hold on to nothing of whoever asked first', async () => {
    const server = await httpServer((_request, response) => {
      response.write('first')
      setImmediate(() => response.write('second'))
    })
    const transport = createTransport(clusterOf(server), { clock: systemClock, random: () => 0.5 })
    transports.push(transport)
    const runs = new AsyncLocalStorage<string>()
    const stream = await runs.run('a run', () => transport.stream({ method: 'GET', path: '/x', timeoutMs: 1e6 }))
    const context = await new Promise((resolve) => {
      stream.read(
        (chunk) => {
          if (String(chunk).endsWith('second')) resolve(runs.getStore())
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
