import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { expect } from 'chai'
import { type Listening, listen } from '../../../../lib/embedded/http/listener.ts'
import { LostConnection } from '../../../../lib/embedded/http/lost-connection.ts'
import type { ApiRequest, ApiResponse, StreamSink } from '../../../../lib/embedded/types.ts'

type Handle = (request: ApiRequest) => Promise<ApiResponse>

const text = (body: string, status = 200): ApiResponse => ({ status, headers: { 'content-type': 'text/plain' }, body })
const echo: Handle = async ({ method, url, headers, body }) =>
  text(JSON.stringify({ method, url, body: body?.toString(), agent: headers['user-agent'], host: headers.host }))

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

function ask(port: number, options: http.RequestOptions & { body?: string | Buffer } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, ...options }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() }))
    })
    request.on('error', reject)
    request.end(options.body)
  })
}

describe('the listener', () => {
  let listening: Listening | undefined
  const start = async (handle: Handle, options: object = {}) => {
    listening = await listen(handle, { port: 0, ...options })
    return listening.port
  }
  afterEach(async () => {
    await listening?.close()
    listening = undefined
  })

  it('hands over method, path with query, headers and body, and keeps the connection for the next request', async () => {
    const port = await start(echo)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const bodies = []
    for (const body of ['', '{"a":"ü"}']) {
      const answer = await ask(port, { agent, method: 'POST', path: '/api/v1/x?a=b', headers: { 'user-agent': 'me' }, body })
      expect(answer.headers).to.include({ 'content-type': 'text/plain', connection: 'keep-alive' })
      bodies.push(JSON.parse(answer.body).body)
    }
    expect(bodies).to.deep.equal([undefined, '{"a":"ü"}'])
    expect(Object.values(agent.freeSockets).flat()).to.have.length(1)
    agent.destroy()
  })

  it('speaks HTTP/2 to a client that begins with it', async () => {
    const port = await start(echo)
    const session = http2.connect(`http://127.0.0.1:${port}`)
    const answers = await Promise.all(
      ['/a', '/b'].map(
        (path) =>
          new Promise<string>((resolve, reject) => {
            const stream = session.request({ ':path': path, ':method': 'PUT' })
            let body = ''
            stream.setEncoding('utf8').on('data', (chunk) => (body += chunk))
            stream.on('error', reject).on('end', () => resolve(body))
            stream.end('hello')
          }),
      ),
    )
    expect(answers.map((each) => JSON.parse(each))).to.deep.equal([
      { method: 'PUT', url: '/a', body: 'hello', host: `127.0.0.1:${port}` },
      { method: 'PUT', url: '/b', body: 'hello', host: `127.0.0.1:${port}` },
    ])
    session.close()
  })

  it('answers a body of more than 3 MiB with 413 and does not ask the handler', async () => {
    let asked = 0
    const port = await start(async (request) => {
      asked++
      return echo(request)
    })
    const answer = await ask(port, { method: 'POST', body: Buffer.alloc(3 * 1024 * 1024 + 1, 32) })
    expect(answer.status).to.equal(413)
    expect(JSON.parse(answer.body)).to.deep.equal({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Request entity too large: limit is 3145728',
      reason: 'RequestEntityTooLarge',
      code: 413,
    })
    expect((await ask(port, { method: 'POST', body: Buffer.alloc(3 * 1024 * 1024, 32) })).status).to.equal(200)
    expect(asked).to.equal(1)
  })

  it('refuses requests under a foreign host name and from pages of other sites', async () => {
    const port = await start(echo)
    const statuses = async (headers: http.OutgoingHttpHeaders) => (await ask(port, { headers })).status
    expect(await statuses({ host: 'evil.example' })).to.equal(403)
    expect(await statuses({ host: 'localhost.evil.example:80' })).to.equal(403)
    expect(await statuses({ origin: 'https://evil.example' })).to.equal(403)
    expect(await statuses({ origin: 'null' })).to.equal(403)
    expect(await statuses({ host: `localhost:${port}`, origin: 'http://localhost:3000' })).to.equal(200)
    expect(await statuses({ host: `[::1]:${port}` })).to.equal(200)
  })

  it('will not listen for other machines unless told', async () => {
    const error = await listen(echo, { host: '0.0.0.0', port: 0 }).catch((reason: Error) => reason)
    expect(error)
      .to.be.an('error')
      .with.property(
        'message',
        'will not listen on 0.0.0.0: without TLS everybody who reaches it is admin; use a loopback address, TLS, or allowRemote',
      )
  })

  it('writes a stream as it comes, its headers at once, and tells it when the client goes', async () => {
    let sink: StreamSink | undefined
    let stopped = () => {}
    const gone = new Promise<void>((resolve) => (stopped = resolve))
    const port = await start(async () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: {
        start(given) {
          sink = given
          return { stop: stopped }
        },
      },
    }))
    const response = await new Promise<http.IncomingMessage>((resolve) => http.get({ host: '127.0.0.1', port, agent: false }, resolve))
    expect(response.headers['transfer-encoding']).to.equal('chunked')
    const chunk = new Promise((resolve) => response.once('data', resolve))
    sink!.write('one\n')
    expect(String(await chunk)).to.equal('one\n')
    response.destroy()
    await gone
  })

  it('aborts the signal of a request whose client has gone, and that of no other', async () => {
    const aborted: string[] = []
    let asked = () => {}
    const arrived = new Promise<void>((resolve) => (asked = resolve))
    let told = () => {}
    const done = new Promise<void>((resolve) => (told = resolve))
    const port = await start(async ({ url, signal }) => {
      signal.addEventListener('abort', () => {
        aborted.push(url)
        told()
      })
      if (url === '/fast') return text('ok')
      asked()
      return new Promise(() => {})
    })
    await ask(port, { path: '/fast' })
    const request = http.get({ host: '127.0.0.1', port, path: '/slow' }).on('error', () => {})
    await arrived
    request.destroy()
    await done
    expect(aborted).to.deep.equal(['/slow'])
  })

  it('breaks the connection of an answer that is to be lost', async () => {
    const port = await start(async () => {
      throw new LostConnection('lost')
    })
    const error = await ask(port).catch((reason: NodeJS.ErrnoException) => reason)
    expect(error).to.have.property('code', 'ECONNRESET')
  })

  it('survives what is no HTTP, a body that never ends, and connections that come and go', async () => {
    const port = await start(echo)
    for (const garbage of [
      '\0\0\0\0\r\n\r\n',
      'GET / HTTP/9\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense of more than nine bytes',
      'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc',
      '',
    ]) {
      await new Promise<void>((resolve) => {
        const socket = net.connect(port, '127.0.0.1', () =>
          garbage.startsWith('POST') || garbage === '' ? socket.end(garbage) : socket.write(garbage),
        )
        socket
          .on('error', () => {})
          .on('data', () => {})
          .on('close', () => resolve())
      })
    }
    expect((await ask(port)).status).to.equal(200)
  })

  it('reports a slow reader by `pending`, and calls back when it has read', async () => {
    let drained = () => {}
    const wasDrained = new Promise<void>((resolve) => (drained = resolve))
    let sink: StreamSink | undefined
    const port = await start(async () => ({
      status: 200,
      headers: {},
      body: {
        start(given) {
          sink = given
          for (let i = 0; i < 400; i++) given.write('x'.repeat(64 * 1024))
          given.drained(drained)
          return { stop() {} }
        },
      },
    }))
    const response = await new Promise<http.IncomingMessage>((resolve) => http.get({ host: '127.0.0.1', port, agent: false }, resolve))
    expect(sink!.pending).to.be.greaterThan(0)
    response.resume()
    await wasDrained
    response.destroy()
  })

  it('closes with watches and idle connections open, and refuses new ones', async () => {
    let stops = 0
    const port = await start(async () => ({ status: 200, headers: {}, body: { start: () => ({ stop: () => stops++ }) } }) as ApiResponse)
    const response = await new Promise<http.IncomingMessage>((resolve) => http.get({ host: '127.0.0.1', port, agent: false }, resolve))
    const ended = new Promise((resolve) =>
      response
        .resume()
        .on('end', () => resolve('end'))
        .on('error', () => resolve('error')),
    )
    const idle = net.connect(port, '127.0.0.1')
    await new Promise((resolve) => idle.once('connect', resolve))
    await listening!.close()
    expect(await ended).to.equal('end')
    expect(stops).to.be.greaterThan(0)
    const error = await ask(port, { agent: false }).catch((reason: NodeJS.ErrnoException) => reason)
    expect(error).to.have.property('code', 'ECONNREFUSED')
    idle.destroy()
  })
})
