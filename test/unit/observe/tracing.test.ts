import { AsyncLocalStorage } from 'node:async_hooks'
import { type Attributes, type Context, context, propagation, ROOT_CONTEXT, type SpanOptions, trace } from '@opentelemetry/api'
import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { observed } from '../../../lib/observe/observed-transport.ts'
import { requestFacts } from '../../../lib/observe/request-facts.ts'
import { createTracing } from '../../../lib/observe/tracing.ts'
import { ConfigMap, Database, handler, settle, stopAll, World } from '../engine/world.ts'

interface Seen {
  readonly name: string
  readonly parent: string | undefined
  readonly attributes: Attributes
  status: string | undefined
  ended: boolean
}

/** As much of an SDK as spans need. */
function registerSdk(): Seen[] {
  const spans: Seen[] = []
  const store = new AsyncLocalStorage<Context>()
  context.setGlobalContextManager({
    active: () => store.getStore() ?? ROOT_CONTEXT,
    with: (current, f, self, ...args) => store.run(current, () => f.call(self as never, ...args)),
    bind: (_, target) => target,
    enable() {
      return this
    },
    disable() {
      return this
    },
  })
  propagation.setGlobalPropagator({
    inject: (current, carrier, setter) => setter.set(carrier, 'traceparent', String(nameOf(current))),
    extract: (current) => current,
    fields: () => ['traceparent'],
  })
  const nameOf = (current: Context) => (trace.getSpan(current) as { seen?: Seen } | undefined)?.seen?.name
  const tracer = {
    startSpan(name: string, options: SpanOptions = {}, parent: Context = context.active()) {
      const seen: Seen = { name, parent: nameOf(parent), attributes: { ...options.attributes }, status: undefined, ended: false }
      spans.push(seen)
      const span = {
        seen,
        setAttribute: (key: string, value: string) => Object.assign(seen.attributes, { [key]: value }),
        setAttributes: (more: Attributes) => Object.assign(seen.attributes, more),
        setStatus: ({ message }: { message?: string }) => {
          seen.status = message
        },
        end: () => {
          seen.ended = true
        },
      }
      return span as never
    },
    startActiveSpan: () => {
      throw new Error('not used')
    },
  }
  trace.setGlobalTracerProvider({ getTracer: () => tracer as never })
  return spans
}

describe('traces', () => {
  afterEach(async () => {
    await stopAll()
    trace.disable()
    context.disable()
    propagation.disable()
  })

  it('are not made without an SDK, and nothing stands between the operator and its transport', async () => {
    expect(await createTracing('1')).to.equal(undefined)
    const { api, clock } = new World()
    expect(observed(api, { clock, host: 'h:1' })).to.equal(api)
  })

  async function traced(methods: Parameters<typeof handler>[0]) {
    const spans = registerSdk()
    const world = new World()
    const tracing = await createTracing('1')
    const transport = observed(world.api, { clock: world.clock, host: '10.0.0.1:443', tracing })
    const client = new Client({ transport, clock: world.clock, random: () => 0.5 })
    world.api.create(Database, 'a')
    await world.startWith(
      { client, tracing },
      handler(methods, { owns: 'config' in methods ? { config: ConfigMap } : {}, options: { concurrency: 2 } }),
    )
    return { spans, world }
  }

  it('have a span for a run, one for each method in it, and one for each request of it', async () => {
    const { spans } = await traced({
      config: () => ({ data: {} }),
      reconcile: (_, ctx) => ctx.client.find(ConfigMap, { name: 'other', namespace: 'shop' }),
    })
    expect(spans.map(({ name, parent, ended }) => ({ name, parent, ended }))).to.deep.equal([
      { name: 'reconcile Database', parent: undefined, ended: true },
      { name: 'DatabaseHandler.config', parent: 'reconcile Database', ended: true },
      { name: 'PATCH configmaps', parent: 'reconcile Database', ended: true },
      { name: 'DatabaseHandler.reconcile', parent: 'reconcile Database', ended: true },
      { name: 'GET configmaps', parent: 'DatabaseHandler.reconcile', ended: true },
      { name: 'PATCH databases/status', parent: 'reconcile Database', ended: true },
    ])
    expect(spans[0]?.attributes).to.include({
      'tsop.object.name': 'a',
      'k8s.namespace.name': 'shop',
      'tsop.object.kind': 'Database.db.example.com',
      'tsop.outcome': 'done',
    })
    // Not there is an answer, not a failure.
    expect(spans[4]).to.deep.include({ status: undefined })
    expect(spans[4]?.attributes).to.include({ 'http.response.status_code': 404, 'server.address': '10.0.0.1', 'server.port': 443 })
  })

  it('begin with each run, also with one that another run has woken', async () => {
    const { spans, world } = await traced({
      async reconcile(db, ctx) {
        if (db.metadata.annotations?.wake !== 'b') return
        world.api.edit(Database, 'b', (object) => {
          object.metadata.labels = { woken: 'yes' }
        })
        const value = { metadata: { labels: { woken: 'twice' } } }
        await ctx.client.patch(Database, { name: 'b', namespace: 'shop' }, { type: 'merge', value })
      },
    })
    world.api.create(Database, 'b')
    await settle()
    spans.length = 0
    world.api.edit(Database, 'a', (object) => {
      object.metadata.annotations = { wake: 'b' }
    })
    await settle()
    const runs = spans.filter(({ name }) => name === 'reconcile Database')
    expect(runs.map(({ attributes }) => attributes['tsop.object.name'])).to.include.members(['a', 'b'])
    for (const { parent } of runs) expect(parent).to.equal(undefined)
  })

  it('tell of a run that failed, without what looks like a credential', async () => {
    const { spans } = await traced({ reconcile: () => Promise.reject(new Error('refused: password="hunter2"')) })
    const [run, method] = spans
    for (const span of [run, method]) expect(span?.status).to.equal('refused: password="[redacted]"')
    expect(run?.attributes).to.include({ 'tsop.outcome': 'error', 'error.type': 'Error' })
  })

  it('go on at the API server', async () => {
    registerSdk()
    const { api, clock } = new World()
    const sent: unknown[] = []
    const spy = {
      ...api,
      request: async (request: { headers?: object }) => {
        sent.push(request.headers)
        return { status: 200, headers: {}, body: Buffer.from('{}') }
      },
    }
    const transport = observed(spy as never, { clock, host: 'h:1', tracing: await createTracing('1') })
    await transport.request({ method: 'GET', path: '/api/v1/pods', headers: { accept: 'x' }, timeoutMs: 1 })
    expect(sent).to.deep.equal([{ accept: 'x', traceparent: 'GET pods' }])
  })

  const names: [string, string][] = [
    ['/api/v1/namespaces/shop/pods/a', 'GET pods'],
    ['/api/v1/namespaces/shop/pods/a/log?follow=1', 'GET pods/log'],
    ['/api/v1/namespaces/shop', 'GET namespaces'],
    ['/apis/apps/v1/deployments?limit=5', 'GET deployments'],
    ['/apis/db.example.com/v1/namespaces/shop/databases/a/status', 'GET databases/status'],
    ['/apis/apps/v1', 'GET discovery'],
    ['/api/v1', 'GET discovery'],
    ['/version', 'GET /version'],
  ]
  for (const [path, name] of names)
    it(`call a request for ${path} ${name}`, () => expect(requestFacts({ method: 'GET', path, timeoutMs: 1 }, 'h').name).to.equal(name))
})

describe('requests', () => {
  it('are counted with their code, those without an answer as <error>, and watches without a duration', async () => {
    const { api, clock } = new World()
    const counted: unknown[] = []
    const metrics = { request: (...args: unknown[]) => counted.push(args) }
    const transport = observed(api, { clock, host: 'h:1', metrics: metrics as never })
    api.loseAnswer('get databases/b')
    await transport.request({ method: 'GET', path: '/apis/db.example.com/v1/namespaces/shop/databases/a', timeoutMs: 1000 })
    await transport.request({ method: 'GET', path: '/apis/db.example.com/v1/namespaces/shop/databases/b', timeoutMs: 1000 }).catch(() => {})
    ;(await transport.stream({ method: 'GET', path: '/apis/db.example.com/v1/databases?watch=1', timeoutMs: 1000 })).close()
    expect(counted).to.deep.equal([
      ['GET', 'h:1', '404', 0],
      ['GET', 'h:1', '<error>', 0],
      ['GET', 'h:1', '200', undefined],
    ])
  })
})
