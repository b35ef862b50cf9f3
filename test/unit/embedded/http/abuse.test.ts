/** Clients that go in the middle, say nonsense, or do not listen: the server goes on, and keeps nothing of them. */
import type { Socket } from 'node:net'
import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Api, apiOf } from '../api.ts'

describe('clients that misbehave', function () {
  this.timeout(60_000)
  let server: EmbeddedServer
  let api: Api
  const faults: unknown[] = []
  const maps = '/api/v1/namespaces/default/configmaps'
  const map = (name: string, data: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
  const { connect } = process.getBuiltinModule('node:net')

  const open = (text: string | Buffer): Socket => {
    const socket = connect(Number(new URL(server.url as string).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(text)
    return socket
  }
  const answered = (socket: Socket) => new Promise<Buffer>((resolve) => socket.once('data', resolve))
  const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const sockets = () => process.getActiveResourcesInfo().filter((each) => each === 'TCPSocketWrap').length
  const until = async (met: () => boolean) => {
    while (!met()) await new Promise((resolve) => setImmediate(resolve))
  }
  const watch = `GET ${maps}?watch=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`

  beforeEach(async () => {
    server = await createServer({ port: 0, report: (fault) => faults.push(fault) })
    api = apiOf(server)
    await server.settled()
  })
  afterEach(async () => {
    await server.close()
    expect(faults.splice(0)).to.deep.equal([])
  })

  it('leave no connection behind, whether they break off a watch, a WebSocket, a body or a head', async () => {
    await api.post(maps, map('kept', { a: '1' }))
    const before = sockets()
    const upgrade = watch.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAA\r\n\r\n')
    for (let i = 0; i < 100; i++) {
      const watches = [open(watch), open(upgrade)]
      const halves = [open(`POST ${maps} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n{"metadata":`), open('GET /api HT')]
      await Promise.all(watches.map(answered))
      for (const socket of [...watches, ...halves]) socket.destroy()
    }
    await until(() => sockets() <= before)
    // Whoever watched would be dropped here.
    await until(() => server.faults.dropWatches() === 0)
    expect((await api.get(`${maps}/kept`)).body.data).to.deep.equal({ a: '1' })
  })

  it('are told so or left alone when they say nonsense', async () => {
    for (const nonsense of [
      '\x16\x03\x01\x02\x00\x01',
      '\r\n\r\n\r\n\r\n',
      `POST ${maps} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      `GET ${maps} HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(2_000_000)}\r\n\r\n`,
      `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'garbage'.repeat(50)}`,
      Buffer.alloc(10_000, 0xff),
    ]) {
      const socket = open(nonsense)
      socket.resume()
      socket.end()
      await closed(socket)
    }
    expect((await api.get(maps)).status).to.equal(200)
  })

  it('get what others get when they do not read, up to a point, and do not hold others up', async () => {
    const slow = open(watch)
    const quick = open(watch)
    await Promise.all([answered(slow), answered(quick)])
    slow.pause()
    let read = 0
    quick.on('data', (chunk) => {
      read += chunk.length
    })
    await api.post(maps, map('big'))
    const body = (i: number) => ({ ...map('big', { i: String(i), text: 'x'.repeat(500_000) }) })
    for (let i = 0; i < 20; i++) expect((await api.put(`${maps}/big`, body(i))).status).to.equal(200)
    await until(() => read > 20 * 500_000)
    slow.destroy()
  })

  it('make objects that have odd members, which are members and nothing else', async () => {
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"},"data":{"__proto__":"a","constructor":"b"}}'
    const socket = open(
      `POST ${maps} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect((await answered(socket)).toString()).to.match(/^HTTP\/1\.1 201 /)
    socket.destroy()
    const { data } = (await api.get(`${maps}/odd`)).body
    expect(Object.entries(data)).to.have.deep.members([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
    expect(({} as { polluted?: unknown }).polluted).to.equal(undefined)
  })
})
