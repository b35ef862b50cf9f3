import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Api, apiOf } from '../api.ts'

describe('a watch over WebSocket of the embedded API server', () => {
  let server: EmbeddedServer
  let api: Api
  const maps = '/api/v1/namespaces/default/configmaps'
  const map = (name: string, data: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
  const connect = (path: string) => new WebSocket(`${server.url?.replace('http', 'ws')}${path}`)
  const closed = (socket: WebSocket) => new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve))

  const upgradeRequest = (key: string) =>
    `GET ${maps}?watch=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`

  beforeEach(async () => {
    server = await createServer({ port: 0 })
    api = apiOf(server)
    await server.settled()
  })
  afterEach(() => server.close())

  it('sends a message an event, long ones too', async () => {
    const { body } = await api.get(maps)
    const socket = connect(`${maps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`)
    const seen: string[] = []
    const done = new Promise<void>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const { type, object } = JSON.parse(data)
        seen.push(`${type} ${object.metadata.name} ${Object.values<string>(object.data ?? {}).join('').length}`)
        if (type === 'DELETED') resolve()
      })
    })
    await api.post(maps, map('short', { a: 'x' }))
    await api.post(maps, map('middle', { a: 'x'.repeat(1_000) }))
    await api.post(maps, map('long', { a: 'é'.repeat(100_000) }))
    await api.delete(`${maps}/short`)
    await done
    expect(seen).to.deep.equal(['ADDED short 1', 'ADDED middle 1000', 'ADDED long 100000', 'DELETED short 1'])
    socket.close()
    expect(await closed(socket)).to.include({ code: 1000, wasClean: true })
  })

  it('ends in order when the watch does, and with the server', async () => {
    for (const end of [() => server.faults.dropWatches({ how: 'end' }), () => server.close()]) {
      const socket = connect(`${maps}?watch=1`)
      await new Promise((resolve) => socket.addEventListener('open', resolve))
      const ended = closed(socket)
      await end()
      expect((await ended).code).to.equal(1000)
    }
  })

  it('does no harm when its client goes without a word', async () => {
    const { connect: open } = process.getBuiltinModule('node:net')
    const socket = open(Number(new URL(server.url as string).port), '127.0.0.1')
    socket.write(upgradeRequest('dGhlIHNhbXBsZSBub25jZQ=='))
    const answer = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
    expect(answer.toString()).to.match(/^HTTP\/1\.1 101 /)
    // The example of RFC 6455, section 1.3.
    expect(answer.toString()).to.include('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    socket.destroy()
    await api.post(maps, map('after'))
    expect((await api.get(`${maps}/after`)).status).to.equal(200)
  })

  it('breaks off with a client that does not keep to the protocol', async () => {
    const { connect: open } = process.getBuiltinModule('node:net')
    const socket = open(Number(new URL(server.url as string).port), '127.0.0.1')
    const gone = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.write(upgradeRequest('AAAA'))
    await new Promise<Buffer>((resolve) => socket.once('data', resolve))
    // Not masked.
    socket.write(Buffer.of(0x81, 0x01, 0x61))
    socket.resume()
    await gone
  })

  it('is refused as any other request is', async () => {
    const failed = (path: string) => new Promise((resolve) => connect(path).addEventListener('error', resolve))
    await failed('/api/v1/nothing?watch=1')
    await failed(`${maps}/none`)
    const response = await fetch(`${server.url}${maps}`, { headers: { accept: 'application/json' } })
    expect(response.status).to.equal(200)
  })

  it('is not what other upgrades get: those are ignored, and their bodies read', async () => {
    const { request, Agent } = process.getBuiltinModule('node:http')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA' }
    const post = (name: string) =>
      new Promise((resolve, reject) => {
        const options = { method: 'POST', agent, headers: { ...headers, 'content-type': 'application/json' } }
        const asked = request(`${server.url}${maps}`, options, (response) => {
          response.resume()
          response.once('end', () => resolve(response.statusCode))
        })
        asked.once('error', reject)
        asked.end(JSON.stringify(map(name, { a: 'x'.repeat(100_000) })))
      })
    expect([await post('first'), await post('second')]).to.deep.equal([201, 201])
    agent.destroy()
  })
})
