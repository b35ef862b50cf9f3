import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Outgoing, Receiver } from '../../../lib/api/connection.ts'
import { guardWrites } from '../../../lib/api/guarded-socket.ts'
import { type Http1Socket, Http1Sockets } from '../../../lib/api/http1-socket.ts'
import { ManualClock, settle } from '../manual-clock.ts'
import { plainRequest } from './servers.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('a request on an HTTP/1.1 socket', () => {
  it('is its line, the headers of request and credentials, and the body with its length in bytes', async () => {
    const { peer, send } = world()
    send({
      method: 'PUT',
      path: '/api/v1/x?y=1',
      headers: { accept: 'application/json' },
      authentication: { authorization: 'Bearer t', 'impersonate-user': 'J\xfcrgen\t1', 'impersonate-group': ['a', 'b'] },
      body: 'grüße',
    })
    await settle()
    expect(Buffer.concat(peer.heard)).to.deep.equal(
      Buffer.concat([
        Buffer.from(
          'PUT /api/v1/x?y=1 HTTP/1.1\r\nhost: api.test:6443\r\naccept: application/json\r\nauthorization: Bearer t\r\n' +
            'impersonate-user: J\xfcrgen\t1\r\nimpersonate-group: a\r\nimpersonate-group: b\r\ncontent-length: 7\r\n\r\n',
          'latin1',
        ),
        Buffer.from('grüße'),
      ]),
    )
  })

  it('leaves in pieces of 64 KiB, each when the one before has gone', async () => {
    const { peer, sockets, socket, send } = world()
    peer.holds = true
    const answer = send({ method: 'PUT', body: 'x'.repeat(150_000) })
    const lengths: number[][] = []
    for (let i = 0; i < 3; i++) {
      await settle()
      lengths.push(peer.heard.map(({ length }) => length))
      peer.release?.()
    }
    await settle()
    const last = Buffer.concat(peer.heard).length - 2 * 65_536
    expect(lengths).to.deep.equal([[65_536], [65_536, 65_536], [65_536, 65_536, last]])
    expect(String(Buffer.concat(peer.heard)).split('\r\n\r\n')[1]).to.equal('x'.repeat(150_000))
    peer.say(OK)
    await settle()
    expect(answer.ended).to.equal(true)
    expect(sockets.take()).to.equal(socket)
  })

  it('stops between two pieces once it may not be written', async () => {
    const peer = new Peer()
    let open = true
    const { send } = world(
      guardWrites(peer as unknown as Socket, () => open),
      peer,
    )
    peer.holds = true
    const answer = send({ method: 'PUT', body: 'x'.repeat(150_000) })
    await settle()
    open = false
    peer.release?.()
    await settle()
    expect([peer.heard.length, peer.destroyed]).to.deep.equal([1, true])
    expect(answer.failure).to.deep.equal({ message: 'nothing may be written any more', untouched: false })
  })

  it('that is answered before all of it has left ends its socket', async () => {
    const { peer, sockets, send } = world()
    peer.holds = true
    const answer = send({ method: 'PUT', body: 'x'.repeat(150_000) })
    await settle()
    peer.say('HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n')
    await settle()
    expect([answer.status, answer.ended, peer.destroyed, sockets.size]).to.deep.equal([413, true, true, 0])
  })

  it('has no length where it has no body', async () => {
    const { peer, send } = world()
    send({})
    await settle()
    expect(String(peer.heard)).to.equal('GET /x HTTP/1.1\r\nhost: api.test:6443\r\n\r\n')
  })

  for (const [what, outgoing] of Object.entries<Partial<Outgoing>>({
    'a line break in its path': { path: '/x HTTP/1.1\r\nhost: other\r\n\r\nGET /y' },
    'a line feed in its path': { path: '/x\n' },
    'a space in its path': { path: '/x y' },
    'a letter beyond ASCII in its path': { path: '/ü' },
    'no path': { path: '' },
    'a line break in a header': { headers: { accept: 'a\r\nauthorization: Bearer other' } },
    'a carriage return in a header': { headers: { accept: 'a\rb' } },
    'a character beyond Latin-1 in a header': { headers: { accept: '漢' } },
    'a line feed in a header of the credentials': { authentication: { authorization: 'Bearer t\n' } },
    'a line break in one of several headers of the credentials': { authentication: { 'impersonate-group': ['a', 'b\r\nc: d'] } },
  })) {
    it(`is refused with a TypeError, and nothing of it is sent, for ${what}`, async () => {
      const { peer, sockets, socket, send } = world()
      let asked = false
      const beforeSend = () => {
        asked = true
      }
      expect(() => send({ body: '{}', beforeSend, ...outgoing })).to.throw(TypeError, /^(a path may hold|the header \S+ has a character)/)
      await settle()
      expect([peer.heard.length, asked, sockets.busy, sockets.take() === socket]).to.deep.equal([0, false, 0, true])
    })
  }

  it('is not sent where beforeSend throws, and the socket is as good as before', async () => {
    const { peer, sockets, socket, send } = world()
    const shut = new Error('the lease is lost')
    const refuse = () => {
      throw shut
    }
    expect(() => send({ beforeSend: refuse })).to.throw(shut)
    await settle()
    expect([peer.heard.length, sockets.busy, sockets.take() === socket]).to.deep.equal([0, 0, true])
    const answer = send({})
    peer.say(OK)
    await settle()
    expect(answer.ended).to.equal(true)
  })

  it('ends the socket where beforeSend throws after the sockets were to end', async () => {
    const { peer, sockets, send } = world()
    sockets.retire()
    const refuse = () => {
      throw new Error('no')
    }
    expect(() => send({ beforeSend: refuse })).to.throw('no')
    await settle()
    expect([peer.destroyed, sockets.size]).to.deep.equal([true, 0])
  })

  it('is asked for by beforeSend before its bytes leave', () => {
    const { peer, send } = world()
    let before: number | undefined
    send({
      beforeSend: () => {
        before = peer.heard.length
      },
    })
    expect([before, peer.heard.length]).to.deep.equal([0, 1])
  })

  it('that is given up ends its socket, and its receiver hears nothing more', async () => {
    const { peer, sockets, send, freed } = world()
    const answer = send({})
    peer.say('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no')
    await settle()
    answer.sent.cancel()
    peer.say('k')
    await settle()
    expect([peer.destroyed, sockets.size, answer.ended, answer.failure, freed()]).to.deep.equal([true, 0, false, undefined, 1])
  })

  it('leaves the socket alone when it is given up after its answer', async () => {
    const { peer, sockets, socket, send } = world()
    const answer = send({})
    peer.say(OK)
    await settle()
    answer.sent.cancel()
    await settle()
    expect(sockets.take()).to.equal(socket)
    const next = send({})
    answer.sent.cancel()
    answer.sent.flow()
    peer.say(OK)
    await settle()
    expect([next.ended, peer.destroyed]).to.deep.equal([true, false])
  })

  for (const [what, untouched, { first = true, method = 'GET', said = '' }] of [
    ['the first on its socket', false, {}],
    ['a GET on a socket that was used before', true, { first: false }],
    ['a write on a socket that was used before', false, { first: false, method: 'PUT' }],
    ['a GET whose answer has begun', false, { first: false, said: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n' }],
  ] as const) {
    it(`counts as ${untouched ? 'untouched' : 'perhaps done'} where the socket closes: ${what}`, async () => {
      const { peer, send } = world()
      if (!first) {
        send({ method })
        peer.say(OK)
        await settle()
      }
      const answer = send({ method })
      peer.say(said)
      peer.close()
      await settle()
      expect(answer.failure).to.deep.equal({ message: 'the connection was closed', untouched })
    })
  }

  it('fails with the reason for which the socket broke', async () => {
    const { peer, send, freed } = world()
    const answer = send({})
    peer.destroy(new Error('ECONNRESET'))
    await settle()
    expect([answer.failure, freed()]).to.deep.equal([{ message: 'ECONNRESET', untouched: false }, 1])
  })
})

describe('an answer on an HTTP/1.1 socket', () => {
  interface Case {
    readonly bytes: string
    readonly status?: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    /** The socket can be used again. */
    readonly lasts?: boolean
    /** The end of the socket is the end of the answer. */
    readonly untilClose?: boolean
  }
  const cases: Readonly<Record<string, Case>> = {
    'with a length': {
      bytes: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}',
      headers: { 'content-type': 'application/json', 'content-length': '7' },
      body: '{"a":1}',
    },
    'with a length of none': { bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', headers: { 'content-length': '0' }, body: '' },
    'in chunks': {
      bytes: 'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nB;ext=1\r\n, \r\nworld!!\r\n0\r\n\r\n',
      status: 201,
      headers: { 'transfer-encoding': 'chunked' },
      body: 'hello, \r\nworld!!',
    },
    'in chunks with trailers': {
      bytes: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x\r\n\r\n3\r\nabc\r\n0\r\nx: 1\r\ny: 2\r\n\r\n',
      headers: { 'transfer-encoding': 'chunked', trailer: 'x' },
      body: 'abc',
    },
    'until the socket closes': {
      bytes: 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nall of it',
      headers: { 'content-type': 'text/plain' },
      body: 'all of it',
      lasts: false,
      untilClose: true,
    },
    'without content': { bytes: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, headers: {}, body: '' },
    'with a header that comes several times': {
      bytes: 'HTTP/1.1 429 Too Many Requests\r\nWarning: 299 - "a"\r\nretry-after: 1\r\nwarning: 299 - "b"\r\ncontent-length: 1\r\n\r\n!',
      status: 429,
      headers: { warning: '299 - "a", 299 - "b"', 'retry-after': '1', 'content-length': '1' },
      body: '!',
    },
    'after 100 and 103': {
      bytes:
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n' +
        'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
      headers: { 'content-length': '2' },
      body: 'ok',
    },
    'with connection: close': {
      bytes: 'HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length: 2\r\n\r\nok',
      headers: { connection: 'close', 'content-length': '2' },
      body: 'ok',
      lasts: false,
    },
    'of HTTP/1.0': {
      bytes: 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok',
      headers: { 'content-length': '2' },
      body: 'ok',
      lasts: false,
    },
  }

  for (const [what, { bytes, status = 200, headers, body, lasts = true, untilClose = false }] of Object.entries(cases)) {
    const expected = { status, headers, body, ended: true, failure: undefined, responses: 1, lasts }
    const length = Buffer.byteLength(bytes)

    async function inPieces(pieces: readonly Buffer[], stream = false) {
      const { peer, sockets, socket, send } = world()
      const answer = send({ stream })
      for (const piece of pieces) peer.say(piece)
      if (stream) {
        await settle()
        answer.sent.flow()
      }
      if (untilClose) peer.close()
      await settle()
      const { status, headers, ended, failure, responses } = answer
      const lasts = sockets.take() === socket
      expect(peer.destroyed).to.equal(!lasts)
      return { status, headers, body: answer.text(), ended, failure, responses, lasts }
    }

    it(`${what} is the same whole and cut at every position`, async () => {
      for (let i = 0; i <= length; i++) expect(await inPieces(cut(bytes, [i]))).to.deep.equal(expected)
    })

    it(`${what} is the same in pieces of 1 to 3 bytes`, async () => {
      const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: length, maxLength: length })
      await fc.assert(
        fc.asyncProperty(sizes, async (sizes) => {
          let at = 0
          expect(
            await inPieces(
              cut(
                bytes,
                sizes.map((size) => (at += size)).filter((at) => at < length),
              ),
            ),
          ).to.deep.equal(expected)
        }),
        { seed: 1, numRuns: 20 },
      )
    })

    it(`${what} is the same to a stream, whose socket ends with it`, async () => {
      for (let i = 0; i <= length; i++) expect(await inPieces(cut(bytes, [i]), true)).to.deep.equal({ ...expected, lasts: false })
    })

    it(`${what} is never taken as whole when it is cut short`, async () => {
      // What is read until the socket closes has no other end.
      const ends = untilClose ? bytes.indexOf('\r\n\r\n') + 4 : length
      for (let i = 0; i < ends; i++) {
        const { peer, send } = world()
        const answer = send({})
        peer.say(bytes.slice(0, i))
        peer.close()
        await settle()
        expect([answer.ended, answer.failure]).to.deep.equal([false, { message: 'the connection was closed', untouched: false }])
      }
    })
  }

  it('tells that the server answers, once its head is there', async () => {
    const { peer, send, answered } = world()
    send({})
    peer.say('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n')
    await settle()
    expect(answered()).to.equal(0)
    peer.say('content-length: 2\r\n\r\n')
    await settle()
    expect(answered()).to.equal(1)
  })

  it('that is read until the socket closes fails where the socket breaks', async () => {
    const { peer, send } = world()
    const answer = send({})
    peer.say('HTTP/1.1 200 OK\r\n\r\nhalf')
    await settle()
    peer.destroy(new Error('ECONNRESET'))
    await settle()
    expect([answer.ended, answer.failure?.message]).to.deep.equal([false, 'ECONNRESET'])
  })

  it('leaves the next request on the socket its own', async () => {
    const { peer, sockets, send } = world()
    for (const body of ['one', 'two', 'three']) {
      const answer = send({})
      peer.say(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      await settle()
      expect([answer.text(), answer.ended, sockets.take() !== undefined]).to.deep.equal([body, true, true])
    }
  })

  for (const [what, bytes] of [
    ['101', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['nonsense', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok!'],
    ['an endless head', `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(100)}`],
  ] as const) {
    it(`that is ${what} fails the request and ends the socket`, async () => {
      const { peer, sockets, send } = world()
      const answer = send({})
      peer.say(bytes)
      await settle()
      expect([answer.ended, answer.failure === undefined, peer.destroyed, sockets.size]).to.deep.equal([false, false, true, 0])
    })
  }

  for (const [what, bytes] of [
    ['another answer', OK],
    ['the beginning of one', 'HTTP/1.1 200 OK\r\nx: '],
    ['a part of a line', 'H'],
  ] as const) {
    it(`that nobody asked for ends a socket at rest: ${what}`, async () => {
      const { peer, sockets, send, freed } = world()
      send({})
      peer.say(OK)
      await settle()
      peer.say(bytes)
      await settle()
      expect([peer.destroyed, sockets.size, sockets.busy, sockets.take()]).to.deep.equal([true, 0, 0, undefined])
      expect(freed()).to.be.at.least(1)
    })

    it(`that nobody asked for ends the socket when it comes together with an answer: ${what}`, async () => {
      const { peer, sockets, socket, send, onFreed } = world()
      const answer = send({})
      let next: Answer | undefined
      onFreed(() => {
        // Whoever waits is served at once.
        if (sockets.take() === socket) next = send({})
      })
      peer.say(OK + bytes)
      await settle()
      expect([answer.text(), answer.ended, next, peer.destroyed, sockets.size]).to.deep.equal(['ok', true, undefined, true, 0])
    })
  }

  describe('to a stream', () => {
    it('waits for flow, and does not make the socket read on', async () => {
      const { peer, send } = world()
      const answer = send({ stream: true })
      peer.say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n')
      await settle()
      expect([answer.status, answer.text(), peer.isPaused()]).to.deep.equal([200, '', true])
      answer.sent.flow()
      expect([answer.text(), peer.isPaused()]).to.deep.equal(['one', false])
      peer.say('3\r\ntwo\r\n')
      await settle()
      expect([answer.text(), answer.ended]).to.deep.equal(['onetwo', false])
      answer.sent.flow()
      peer.say('0\r\n\r\n')
      await settle()
      expect([answer.text(), answer.ended]).to.deep.equal(['onetwo', true])
    })

    it('hands over nothing where it is given up before it is read', async () => {
      const { peer, send } = world()
      const answer = send({ stream: true })
      peer.say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n')
      await settle()
      answer.sent.cancel()
      answer.sent.flow()
      await settle()
      expect([answer.text(), answer.ended, answer.failure, peer.destroyed]).to.deep.equal(['', false, undefined, true])
    })

    for (const [what, early] of [
      ['of what came before it was read', true],
      ['of what comes in one piece', false],
    ] as const) {
      it(`hands over nothing more once its reader has had enough, ${what}`, async () => {
        const { peer, send } = world()
        const answer = send({ stream: true })
        answer.onData = () => answer.sent.cancel()
        const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
        const body = '3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n'
        peer.say(early ? head + body : head)
        await settle()
        answer.sent.flow()
        if (!early) peer.say(body)
        await settle()
        expect([answer.text(), answer.ended, answer.failure, peer.destroyed]).to.deep.equal(['one', false, undefined, true])
      })
    }
  })
})

describe('HTTP/1.1 sockets', () => {
  it('are used again within 20 s of rest, and not after', async () => {
    const { peer, sockets, socket, clock, freed } = world()
    sockets.rest(socket)
    await clock.advance(19_999)
    expect(sockets.take()).to.equal(socket)
    sockets.rest(socket)
    await clock.advance(20_000)
    expect(sockets.take()).to.equal(undefined)
    await settle()
    expect([peer.destroyed, sockets.size, freed()]).to.deep.equal([true, 0, 1])
  })

  for (const [said, restMs] of [
    ['timeout=5', 4_000],
    ['max=100, timeout=5', 4_000],
    ['timeout=60, max=5', 20_000],
    ['max=100', 20_000],
    ['timeout=1', 0],
  ] as const) {
    it(`are used again within ${restMs / 1000} s where the server says keep-alive: ${said}`, async () => {
      const { peer, sockets, socket, send, clock } = world()
      for (const ms of restMs === 0 ? [0] : [restMs - 1, restMs]) {
        send({})
        peer.say(`HTTP/1.1 200 OK\r\nKeep-Alive: ${said}\r\ncontent-length: 2\r\n\r\nok`)
        await settle()
        await clock.advance(ms)
        expect(sockets.take()).to.equal(ms < restMs ? socket : undefined)
      }
    })
  }

  it('are not used again when the server has said that it ends', async () => {
    const { peer, sockets, socket } = world()
    sockets.rest(socket)
    peer.close()
    await settle()
    expect([sockets.take(), sockets.size]).to.deep.equal([undefined, 0])
  })

  it('are not used again in the very turn in which they end', async () => {
    const { peer, sockets, socket } = world()
    sockets.rest(socket)
    const taken: unknown[] = []
    // Node says first that the other side has ended, and ends its own side after that.
    peer.on('end', () => taken.push(sockets.take()))
    peer.close()
    await settle()
    const other = new Peer()
    sockets.rest(sockets.add(other as unknown as Socket))
    other.destroy()
    taken.push(sockets.take())
    expect(taken).to.deep.equal([undefined, undefined])
  })

  it('are used in the order of their last use, the latest first', () => {
    const { sockets, socket } = world()
    const other = sockets.add(new Peer() as unknown as Socket)
    sockets.rest(socket)
    sockets.rest(other)
    for (const [busy, next] of [
      [0, other],
      [1, socket],
      [2, undefined],
    ] as const) {
      expect(sockets.busy).to.equal(busy)
      expect(sockets.take()).to.equal(next)
    }
  })

  for (const [what, end, stays] of [
    ['drop', (sockets: Http1Sockets) => sockets.drop(), true],
    ['retire', (sockets: Http1Sockets) => sockets.retire(), false],
  ] as const) {
    it(`${what}: those at rest end at once, those in use ${stays ? 'go on' : 'with their answer'}`, async () => {
      const { peer, sockets, socket, send, freed } = world()
      const resting = new Peer()
      sockets.rest(sockets.add(resting as unknown as Socket))
      const answer = send({})
      end(sockets)
      await settle()
      expect([resting.destroyed, peer.destroyed, sockets.size, sockets.busy]).to.deep.equal([true, false, 1, 1])
      const before = freed()
      peer.say(OK)
      await settle()
      expect([answer.ended, peer.destroyed, freed() > before]).to.deep.equal([true, !stays, true])
      expect(sockets.take()).to.equal(stays ? socket : undefined)
    })
  }

  it('destroy: all end, with this error', async () => {
    const { peer, sockets, send } = world()
    const resting = new Peer()
    sockets.rest(sockets.add(resting as unknown as Socket))
    const answer = send({})
    sockets.destroy(new Error('the peer is dead'))
    await settle()
    expect([resting.destroyed, peer.destroyed, sockets.size, answer.failure?.message]).to.deep.equal([true, true, 0, 'the peer is dead'])
  })
})

/** The other end of a socket: hears what is written, and says what a test wants. */
class Peer extends Duplex {
  readonly heard: Buffer[] = []
  /** Takes what is written only at `release`. */
  holds = false
  release: (() => void) | undefined

  constructor() {
    super({ allowHalfOpen: false })
  }

  say(bytes: string | Buffer): void {
    if (!this.destroyed && bytes.length > 0) this.push(bytes)
  }

  close(): void {
    this.push(null)
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.heard.push(chunk)
    if (this.holds) this.release = done
    else done()
  }
}

/** One socket in use, on which nothing was sent yet. */
function world(own?: Socket, peer = new Peer()) {
  let answered = 0
  let freed = 0
  let onFreed = () => {}
  const clock = new ManualClock()
  const sockets = new Http1Sockets('api.test:6443', clock, {
    answered: () => void answered++,
    freed() {
      freed++
      onFreed()
    },
  })
  const socket = sockets.add(own ?? (peer as unknown as Socket))
  const send = (outgoing: Partial<Outgoing>): Answer => new Answer(socket, outgoing)
  return {
    clock,
    sockets,
    socket,
    peer,
    send,
    answered: () => answered,
    freed: () => freed,
    onFreed(f: () => void) {
      onFreed = f
    },
  }
}

class Answer implements Receiver {
  readonly sent
  status: number | undefined
  headers: Readonly<Record<string, string>> = {}
  responses = 0
  ended = false
  failure: { readonly message: string; readonly untouched: boolean } | undefined
  onData: (() => void) | undefined
  readonly #chunks: Buffer[] = []

  constructor(socket: Http1Socket, outgoing: Partial<Outgoing>) {
    this.sent = socket.send({ ...plainRequest, ...outgoing }, this)
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString()
  }

  response(status: number, headers: Record<string, string>): void {
    this.responses++
    this.status = status
    this.headers = headers
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.onData?.()
  }

  end(): void {
    this.ended = true
  }

  fail({ message }: Error, untouched: boolean): void {
    this.failure = { message, untouched }
  }

  failed(): void {
    throw new Error('nobody waits here for a socket')
  }
}

function cut(bytes: string, at: readonly number[]): Buffer[] {
  const whole = Buffer.from(bytes)
  return [0, ...at].map((from, i) => whole.subarray(from, at[i] ?? whole.length))
}
