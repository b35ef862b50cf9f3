import { expect } from 'chai'
import { StatusError } from '../../../lib/api/status-error.ts'
import { EventRecorder, type EventRecorderOptions } from '../../../lib/observe/events.ts'
import type { KubeObject } from '../../../lib/resource/kind.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { ManualClock, settle } from '../manual-clock.ts'

interface Call {
  verb: 'create' | 'patch'
  namespace: string
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: the body is looked into at will
  body: any
}

/** A server that keeps what it is told, or answers what `answer` throws. */
function world() {
  const clock = new ManualClock(Date.UTC(2026, 0, 1, 12))
  const calls: Call[] = []
  const lines: { level: string; message: string }[] = []
  const server = { answer: (_call: Call): unknown => undefined }
  const handle = async (call: Call) => {
    calls.push(call)
    const answer = await server.answer(call)
    if (answer instanceof Error) throw answer
    return answer
  }
  const client = {
    create: (_kind: unknown, body: Call['body']) => handle({ verb: 'create', ...body.metadata, body }),
    patch: (_kind: unknown, ref: { name: string; namespace: string }, patch: { value: unknown }) =>
      handle({ verb: 'patch', ...ref, body: patch.value }),
  } as unknown as EventRecorderOptions['client']
  const line = (level: string) => (fields: object | string, message?: string) =>
    void lines.push({ level, message: message ?? String(fields) })
  const log: Log = {
    trace: line('trace'),
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: () => log,
  }
  const recorder = new EventRecorder({ client, clock, log, component: '@shop/operator', instance: 'pod-1' })
  return { clock, calls, lines, server, recorder }
}

function object(name = 'orders', namespace: string | undefined = 'shop'): KubeObject {
  return {
    apiVersion: 'db.example.com/v1',
    kind: 'Database',
    metadata: { name, uid: `uid-of-${name}`, resourceVersion: '7', ...(namespace !== '' && { namespace }) },
  }
}

const started = { regarding: object(), type: 'Normal', reason: 'Started', message: 'it runs' } as const

function status(code: number, reason: string) {
  return new StatusError({ status: code, reason, message: reason, request: 'POST /x' })
}

describe('EventRecorder', () => {
  it('creates an Event that the API server accepts', async () => {
    const { recorder, calls } = world()
    recorder.record(started)
    await settle()
    expect(calls).to.have.lengthOf(1)
    const { body } = calls[0]!
    expect(body).to.deep.include({
      type: 'Normal',
      reason: 'Started',
      note: 'it runs',
      reportingController: 'shop-operator',
      reportingInstance: 'pod-1',
      regarding: {
        apiVersion: 'db.example.com/v1',
        kind: 'Database',
        namespace: 'shop',
        name: 'orders',
        uid: 'uid-of-orders',
        resourceVersion: '7',
      },
    })
    expect(body.eventTime).to.equal('2026-01-01T12:00:00.000000Z')
    expect(body.action).to.be.a('string').and.not.equal('')
    expect(body.series).to.equal(undefined)
    expect(body.metadata.namespace).to.equal('shop')
    expect(body.metadata.name).to.match(/^orders\.[0-9a-f]{16}$/)
  })

  it('writes what is recorded in whichever moment the one before it ends', async () => {
    for (let turns = 0; turns < 20; turns++) {
      const { recorder, calls } = world()
      recorder.record(started)
      for (let i = 0; i < turns; i++) await undefined
      recorder.record({ ...started, reason: 'Grown' })
      await settle()
      expect(
        calls.map(({ body }) => body.reason),
        `after ${turns} turns`,
      ).to.deep.equal(['Started', 'Grown'])
    }
  })

  it('does nothing in the turn of the caller', () => {
    const { recorder, calls } = world()
    recorder.record(started)
    expect(calls).to.have.lengthOf(0)
  })

  it('puts Events about cluster-scoped objects into default', async () => {
    const { recorder, calls } = world()
    recorder.record({ ...started, regarding: object('big', '') })
    await settle()
    expect(calls[0]!.namespace).to.equal('default')
    expect(calls[0]!.body.regarding).to.not.have.property('namespace')
  })

  it('gives a valid name to an Event about an object whose name is none', async () => {
    const { recorder, calls } = world()
    for (const name of ['system:node', 'a'.repeat(253), `${'a'.repeat(235)}.b`, 'a.-b', '::'])
      recorder.record({ ...started, regarding: object(name) })
    await settle()
    expect(calls).to.have.lengthOf(5)
    for (const { name } of calls) {
      expect(name.length).to.be.at.most(253)
      expect(name).to.match(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
    }
  })

  it('cuts note and reason to what the API server takes, in bytes and between characters', async () => {
    const { recorder, calls } = world()
    recorder.record({ ...started, reason: 'R'.repeat(500), message: 'é'.repeat(2000) })
    await settle()
    const { note, reason } = calls[0]!.body
    expect(Buffer.byteLength(note)).to.be.within(1020, 1024)
    expect(note).to.match(/^é+…$/)
    expect(Buffer.byteLength(reason)).to.be.at.most(128)
  })

  it('counts the same observation in one Event, written at most every 30 s', async () => {
    const { recorder, calls, clock } = world()
    recorder.record(started)
    await settle()
    for (let i = 0; i < 5; i++) {
      await clock.advance(1000)
      recorder.record(started)
    }
    expect(calls).to.have.lengthOf(1)
    await clock.advance(60_000)
    expect(calls).to.have.lengthOf(2)
    expect(calls[1]).to.deep.include({
      verb: 'patch',
      name: calls[0]!.name,
      namespace: 'shop',
      body: { series: { count: 6, lastObservedTime: '2026-01-01T12:00:05.000000Z' } },
    })
    await clock.advance(600_000)
    expect(calls).to.have.lengthOf(2)
  })

  it('creates one Event with its count for a burst that came before it was sent', async () => {
    const { recorder, calls } = world()
    for (let i = 0; i < 3; i++) recorder.record(started)
    await settle()
    expect(calls).to.have.lengthOf(1)
    expect(calls[0]!.body.series.count).to.equal(3)
  })

  it('begins a new Event ten minutes after the last one, and for every other message', async () => {
    const { recorder, calls, clock } = world()
    recorder.record(started)
    recorder.record({ ...started, message: 'other' })
    await clock.advance(599_000)
    recorder.record(started)
    await clock.advance(60_000)
    expect(calls.map((c) => c.verb)).to.deep.equal(['create', 'create', 'patch'])
    await clock.advance(600_000)
    recorder.record(started)
    await settle()
    expect(calls.at(-1)!.verb).to.equal('create')
    expect(new Set(calls.map((c) => c.name)).size).to.equal(3)
  })

  it('drops the oldest of more than 256 that wait, and can tell them again later', async () => {
    const { recorder, calls, lines } = world()
    for (let i = 0; i < 300; i++) recorder.record({ ...started, message: `message ${i}` })
    await settle()
    expect(calls).to.have.lengthOf(256)
    expect(calls[0]!.body.note).to.equal('message 44')
    expect(lines.every((l) => l.level === 'debug')).to.equal(true)
    recorder.record({ ...started, message: 'message 0' })
    await settle()
    expect(calls.at(-1)!.body.note).to.equal('message 0')
  })

  it('does not remember without limit', async () => {
    const { recorder, calls } = world()
    for (let i = 0; i < 1100; i++) {
      recorder.record({ ...started, message: `message ${i}` })
      if (i % 200 === 0) await settle()
    }
    await settle()
    const before = calls.length
    recorder.record({ ...started, message: 'message 0' })
    await settle()
    expect(calls.length).to.equal(before + 1)
  })

  it('warns once where Events are forbidden, names the verb, and is silent for ten minutes in that namespace', async () => {
    const { recorder, calls, lines, server, clock } = world()
    server.answer = (call) => (call.namespace === 'shop' ? status(403, 'Forbidden') : undefined)
    recorder.record(started)
    recorder.record({ ...started, message: 'two' })
    await settle()
    expect(calls).to.have.lengthOf(1)
    expect(lines.filter((l) => l.level === 'warn')).to.have.lengthOf(1)
    expect(lines.find((l) => l.level === 'warn')!.message)
      .to.contain('create')
      .and.to.contain('events')
    recorder.record({ ...started, regarding: object('b', 'elsewhere') })
    await settle()
    expect(calls).to.have.lengthOf(2)
    await clock.advance(600_000)
    server.answer = () => undefined
    recorder.record(started)
    await settle()
    expect(calls).to.have.lengthOf(3)
  })

  it('keeps quiet about a namespace that goes away', async () => {
    const { recorder, lines, server } = world()
    const terminating = new StatusError({
      status: 403,
      reason: 'Forbidden',
      message: 'terminating',
      request: 'POST /x',
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    })
    server.answer = () => terminating
    recorder.record(started)
    await settle()
    server.answer = () => status(404, 'NotFound')
    recorder.record({ ...started, message: 'two' })
    await settle()
    expect(lines).to.deep.equal([])
  })

  it('tries again when the server is down, and takes an Event that is there already for its own', async () => {
    const { recorder, calls, server, clock } = world()
    server.answer = () => status(503, 'ServiceUnavailable')
    recorder.record(started)
    await settle()
    server.answer = () => status(409, 'AlreadyExists')
    await clock.advance(5000)
    expect(calls.map((c) => c.name)).to.deep.equal([calls[0]!.name, calls[0]!.name])
    server.answer = () => undefined
    recorder.record(started)
    await clock.advance(60_000)
    expect(calls.at(-1)!.verb).to.equal('patch')
  })

  it('gives an Event up after three tries', async () => {
    const { recorder, calls, server, clock } = world()
    server.answer = () => status(503, 'ServiceUnavailable')
    recorder.record(started)
    await clock.advance(600_000)
    expect(calls).to.have.lengthOf(3)
  })

  it('sends what waits when it stops, with the counts, and takes nothing more', async () => {
    const { recorder, calls, clock } = world()
    recorder.record(started)
    await settle()
    recorder.record(started)
    recorder.record({ ...started, message: 'two' })
    await recorder.stop()
    expect(calls.map((c) => c.verb).sort()).to.deep.equal(['create', 'create', 'patch'])
    recorder.record({ ...started, message: 'late' })
    await settle()
    expect(calls).to.have.lengthOf(3)
    expect(clock.pending).to.equal(0)
  })

  it('sends an Event that is on its way when it stops only once', async () => {
    const { recorder, calls, server } = world()
    let answered = () => {}
    server.answer = () => new Promise<void>((resolve) => (answered = resolve))
    recorder.record(started)
    await settle()
    const stopped = recorder.stop()
    answered()
    await stopped
    expect(calls.map(({ verb }) => verb)).to.deep.equal(['create'])
  })

  it('stops after two seconds though the server hangs', async () => {
    const { recorder, clock } = world()
    const hung = world()
    hung.server.answer = () => new Promise(() => {})
    recorder.record(started)
    await recorder.stop()
    hung.recorder.record(started)
    await settle()
    let stopped = false
    const stopping = hung.recorder.stop().then(() => {
      stopped = true
    })
    await hung.clock.advance(1999)
    expect(stopped).to.equal(false)
    await hung.clock.advance(1)
    await stopping
    expect(clock.pending + hung.clock.pending).to.equal(0)
  })

  it('never throws, whatever it is given', () => {
    const { recorder, lines } = world()
    recorder.record({ ...started, regarding: {} as KubeObject })
    recorder.record({ ...started, message: undefined as unknown as string })
    expect(lines.map((l) => l.level)).to.include('debug')
  })
})
