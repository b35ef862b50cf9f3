import { expect } from 'chai'
import type { Client } from '../../../lib/api/client.ts'
import { StatusError } from '../../../lib/api/status-error.ts'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { definitions, installCrds } from '../../../lib/cli/install-crds.ts'
import type { HandlerSpec } from '../../../lib/resource/handler-spec.ts'
import type { CustomResourceDefinition, KindRef } from '../../../lib/resource/kind.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { ManualClock, settle } from '../manual-clock.ts'

const crd = (name: string) => ({ metadata: { name } }) as CustomResourceDefinition
const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const status = (code: number, reason: string) => new StatusError({ status: code, reason, message: 'no', request: 'PATCH /x' })

/** `conditions`: what the n-th read of the definition says; `probe`: how the n-th list is answered. */
function world(
  conditions: (reads: number) => object[],
  refuse: (tries: number) => Error | undefined = () => undefined,
  probe: (probes: number) => number = () => 200,
) {
  const clock = new ManualClock()
  const stop = new AbortController()
  const done = { value: false, error: undefined as unknown }
  const counts = { applied: 0, reads: 0 }
  const probes: string[] = []
  const client = {
    apply: async () => {
      const error = refuse(++counts.applied)
      if (error !== undefined) throw error
    },
    get: async () => ({ spec, status: { conditions: conditions(++counts.reads) } }),
    transport: {
      request: async ({ path }: { path: string }) => ({ status: probe(probes.push(path)), headers: {}, body: Buffer.from('{}') }),
    },
  } as unknown as Client
  void installCrds([crd('widgets.example.com')], { client, clock, signal: stop.signal, log }).then(
    () => {
      done.value = true
    },
    (error) => {
      done.error = error
    },
  )
  return { clock, stop, done, counts, probes }
}

const spec = {
  group: 'example.com',
  names: { plural: 'widgets' },
  versions: [
    { name: 'v0', served: false },
    { name: 'v1', served: true },
  ],
}
const established = [{ type: 'Established', status: 'True' }]

describe('--install-crds', () => {
  it('takes each definition of primary, owned and watched kinds once, and leaves foreign ones', () => {
    const kind = (name: string, foreign?: true) =>
      ({ apiVersion: 'a/v1', kind: name, crd: crd(name), ...(foreign && { foreign }) }) as KindRef
    const plain = { apiVersion: 'v1', kind: 'Pod' }
    const specs = [
      { kind: kind('a'), owns: [{ kind: kind('b') }, { kind: plain }], watches: [{ kind: kind('c') }, { kind: kind('d', true) }] },
      { kind: kind('b'), owns: [], watches: [] },
    ] as unknown as HandlerSpec[]
    expect(definitions(specs).map(({ metadata }) => metadata.name)).to.deep.equal(['a', 'b', 'c'])
  })

  it('waits until the kind is served', async () => {
    const { clock, done, counts } = world((reads) => (reads < 4 ? [{ type: 'Established', status: 'False' }] : established))
    await settle()
    expect(done.value).to.equal(false)
    await clock.advance(1500)
    expect(done.value).to.equal(true)
    expect(counts).to.deep.equal({ applied: 1, reads: 4 })
    expect(clock.pending).to.equal(0)
  })

  it('waits until the kind can be listed, which comes later', async () => {
    const answers = [404, 429, 200]
    const { clock, done, probes } = world(
      () => established,
      () => undefined,
      (n) => answers[n - 1] ?? 200,
    )
    await settle()
    expect(done.value).to.equal(false)
    await clock.advance(1000)
    expect(done.value).to.equal(true)
    expect(probes).to.deep.equal(Array(3).fill('/apis/example.com/v1/widgets?limit=1'))
  })

  it('takes a list that is forbidden for one that is served', async () => {
    const { done } = world(
      () => established,
      () => undefined,
      () => 403,
    )
    await settle()
    expect(done.value).to.equal(true)
  })

  it('tries again while the server is overloaded, not while it refuses', async () => {
    const busy = world(
      () => established,
      (tries) => (tries < 3 ? status(503, '') : undefined),
    )
    await busy.clock.advance(1000)
    expect(busy.done.value).to.equal(true)
    const refused = world(
      () => established,
      () => status(403, 'Forbidden'),
    )
    await settle()
    expect(refused.done.error).to.be.instanceOf(CliError).with.property('exitCode', 4)
    expect((refused.done.error as Error).message).to.match(/widgets\.example\.com.*create and patch/)
    expect(refused.counts.applied).to.equal(1)
  })

  it('gives up after half a minute, and at once on names that are taken', async () => {
    const never = world(() => [])
    await never.clock.advance(31_000)
    expect((never.done.error as Error).message).to.match(/is not served: it is not established after 30 s/)
    const taken = world(() => [{ type: 'NamesAccepted', status: 'False', message: 'wd is in use' }])
    await settle()
    expect((taken.done.error as Error).message).to.match(/is not served: its names are taken: wd is in use/)
  })

  it('ends with the signal', async () => {
    const { stop, done, clock } = world(() => [])
    await settle()
    const reason = new Error('stopped')
    stop.abort(reason)
    await settle()
    expect(done.error).to.equal(reason)
    expect(clock.pending).to.equal(0)
  })
})
