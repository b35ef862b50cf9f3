import { expect } from 'chai'
import type { Transport } from '../../../../lib/api/transport.ts'
import { createFaults } from '../../../../lib/embedded/faults.ts'
import { inProcess } from '../../../../lib/embedded/http/in-process.ts'
import type { ApiRequest, ApiResponse, StreamSink } from '../../../../lib/embedded/types.ts'
import { ManualClock } from '../../manual-clock.ts'

const ok = (body: string): ApiResponse => ({ status: 200, headers: { 'content-type': 'application/json', warning: ['a', 'b'] }, body })
const GET = { method: 'GET', path: '/api/v1/namespaces/n/configmaps', timeoutMs: 1000 } as const
const POST = { ...GET, method: 'POST', body: '{}' } as const

function world(handle: (request: ApiRequest) => Promise<ApiResponse>) {
  const clock = new ManualClock()
  const faults = createFaults(clock)
  const transport: Transport = inProcess(faults.wrap(handle), { clock, headers: { 'user-agent': 'test' } })
  return { clock, faults, transport }
}

function streams() {
  const sinks: StreamSink[] = []
  let stops = 0
  const made = world(async () => ({
    status: 200,
    headers: {},
    body: {
      start(sink) {
        sinks.push(sink)
        return { stop: () => void stops++ }
      },
    },
  }))
  const open = async (path = `${GET.path}?watch=1`) => {
    const stream = await made.transport.stream({ ...GET, path })
    const seen: string[] = []
    stream.read(
      (chunk) => seen.push(chunk.toString()),
      (error) => seen.push(error === undefined ? 'end' : `${error.name}: ${error.message}`),
    )
    expect(seen).to.deep.equal([])
    await made.clock.advance(0)
    return { stream, seen }
  }
  return { ...made, sinks, open, stops: () => stops }
}

const nameOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: Error) => error.name,
  )

describe('the in-process transport', () => {
  it('asks the handler with lower-case headers and gives its answer as bytes', async () => {
    const { transport, clock } = world(async ({ method, url, headers, body }) => ok(JSON.stringify({ method, url, headers, body })))
    const { status, headers, body } = await transport.request({ ...POST, headers: { Accept: 'application/json' } })
    expect(status).to.equal(200)
    expect(headers).to.deep.equal({ 'content-type': 'application/json', warning: 'a, b' })
    expect(JSON.parse(body.toString())).to.deep.equal({
      method: 'POST',
      url: GET.path,
      headers: { 'user-agent': 'test', accept: 'application/json' },
      body: '{}',
    })
    expect(clock.pending).to.equal(0)
  })

  it('gives a request up at its timeout or its signal, and tells the server so', async () => {
    const signals: AbortSignal[] = []
    const { transport, clock } = world(({ signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    const late = nameOf(transport.request(GET))
    await clock.advance(1000)
    expect(await late).to.equal('TimeoutError')
    const abort = new AbortController()
    const aborted = transport.request({ ...GET, signal: abort.signal }).catch((reason: unknown) => reason)
    abort.abort('enough')
    expect(await aborted).to.equal('enough')
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true])
    expect(clock.pending).to.equal(0)
  })

  it('sends nothing that `beforeSend` forbids', async () => {
    let asked = 0
    const { transport, clock } = world(async () => ok(String(asked++)))
    const refuse = () => {
      throw new RangeError('no lease')
    }
    expect(await nameOf(transport.request({ ...POST, beforeSend: refuse }))).to.equal('RangeError')
    expect(asked).to.equal(0)
    expect(clock.pending).to.equal(0)
  })

  it('answers a body of more than 3 MiB with 413', async () => {
    const { transport } = world(async () => ok(''))
    expect((await transport.request({ ...POST, body: 'ü'.repeat(1.5 * 1024 * 1024 + 1) })).status).to.equal(413)
    expect((await transport.request({ ...POST, body: 'ü'.repeat(1.5 * 1024 * 1024) })).status).to.equal(200)
  })

  it('hands over a stream as it comes, until either side ends it', async () => {
    const { open, sinks, stops } = streams()
    const first = await open()
    sinks[0]!.write('one\n')
    sinks[0]!.end()
    expect(first.seen).to.deep.equal(['one\n', 'end'])
    const second = await open()
    second.stream.close()
    sinks[1]!.write('late')
    expect(second.seen).to.deep.equal(['end'])
    const third = await open()
    sinks[2]!.destroy()
    expect(third.seen).to.deep.equal(['ConnectionError: the connection broke'])
    expect(stops()).to.equal(3)
  })

  it('closes with streams open, and asks nothing afterwards', async () => {
    const { open, transport, stops, clock } = streams()
    const { seen } = await open()
    await transport.close()
    expect(seen).to.deep.equal(['ConnectionError: the transport was closed'])
    expect(stops()).to.equal(1)
    expect(await nameOf(transport.request(GET))).to.equal('ConnectionError')
    expect(clock.pending).to.equal(0)
  })
})

describe('faults', () => {
  const counting = () => {
    const asked: string[] = []
    const made = world(async ({ method, url }) => {
      asked.push(`${method} ${url}`)
      return ok('{}')
    })
    const status = async (request: Parameters<Transport['request']>[0]) => (await made.transport.request(request)).status
    return { ...made, asked, status }
  }

  it('answer with a status instead of asking the server: so many times, after so many', async () => {
    const { faults, status, asked } = counting()
    const fault = faults.fail(409, { verb: 'create', resource: 'configmaps', namespace: 'n', times: 2, after: 1 })
    const statuses = []
    for (const request of [GET, POST, POST, { ...POST, path: '/api/v1/namespaces/m/configmaps' }, POST, POST])
      statuses.push(await status(request))
    expect(statuses).to.deep.equal([200, 200, 409, 200, 409, 200])
    expect(fault.hits).to.equal(2)
    expect(asked).to.have.length(4)
  })

  it('have the bodies of a real server', async () => {
    const { faults, transport } = counting()
    const bodyOf = async (status: Parameters<typeof faults.fail>[0]) => {
      faults.clear()
      faults.fail(status)
      const { headers, body } = await transport.request({ ...GET, path: '/apis/apps/v1/namespaces/n/deployments/d' })
      return { ...JSON.parse(body.toString()), retry: headers['retry-after'] }
    }
    expect(await bodyOf(409)).to.deep.include({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on deployments.apps "d": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'd', group: 'apps', kind: 'deployments' },
    })
    expect(await bodyOf(429)).to.deep.include({ reason: 'TooManyRequests', details: { retryAfterSeconds: 1 }, retry: '1' })
    expect(await bodyOf(410)).to.include({ reason: 'Expired', code: 410 })
    expect(await bodyOf(500)).to.include({ reason: 'InternalError', message: 'Internal error occurred: asked for by a fault' })
    expect(await bodyOf(404)).to.include({ message: 'deployments.apps "d" not found' })
  })

  it('delay the answer of what has happened, or what is to happen', async () => {
    const { faults, transport, clock, asked } = counting()
    faults.delay(500, { times: 1 })
    const first = transport.request(POST)
    await clock.advance(499)
    expect(asked).to.have.length(1)
    await clock.advance(1)
    expect((await first).status).to.equal(200)
    faults.delay(500, { when: 'before' })
    const second = transport.request(POST)
    await clock.advance(499)
    expect(asked).to.have.length(1)
    await clock.advance(1)
    expect((await second).status).to.equal(200)
  })

  it('lose the answer to a write that happens, or the request of one that does not', async () => {
    const { faults, transport, asked } = counting()
    faults.loseResponses({ verb: 'create', times: 1 })
    expect(await nameOf(transport.request(POST))).to.equal('ConnectionError')
    expect(asked).to.have.length(1)
    faults.loseRequests({ times: 1 })
    expect(await nameOf(transport.request(POST))).to.equal('ConnectionError')
    expect(asked).to.have.length(1)
    expect(await nameOf(transport.request(POST))).to.equal('answered')
  })

  it('drop the watches that are meant, in the way that is meant', async () => {
    const { faults, open, stops } = streams()
    const broken = await open()
    const other = await open('/api/v1/secrets?watch=true')
    expect(faults.dropWatches({ resource: 'configmaps' })).to.equal(1)
    expect(broken.seen).to.deep.equal(['ConnectionError: the connection broke'])
    expect(other.seen).to.deep.equal([])
    expect(faults.dropWatches({ how: 'expire' })).to.equal(1)
    expect(JSON.parse(other.seen[0]!)).to.deep.include({ type: 'ERROR' })
    expect(other.seen[1]).to.equal('end')
    expect(faults.dropWatches()).to.equal(0)
    expect(stops()).to.be.at.least(2)
  })

  it('hold watches back and then tell them all of it, in order', async () => {
    const { faults, open, sinks } = streams()
    const { seen } = await open()
    const hold = faults.holdWatches({ resource: 'configmaps' })
    sinks[0]!.write('one\n')
    sinks[0]!.write('two\n')
    expect(seen).to.deep.equal([])
    hold.remove()
    sinks[0]!.write('three\n')
    expect(seen.join('')).to.equal('one\ntwo\nthree\n')
    expect(hold.hits).to.be.greaterThan(0)
  })
})
