/**
 * Promise 12, a lost lease means silence, and promise 13, SIGTERM drains: real processes on a real control plane, judged by its audit log and by
 * what an outside service was asked.
 *
 * Judged by order wherever that is what was promised. Where a duration is, the time in which the machine did not let a process run does not count
 * (`Starvation`). What a busy machine may falsify is not expected.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { Lease } from '../../lib/leadership/lease.ts'
import { AuditedPlane, type Write } from './fixtures/audited-plane.ts'
import { Busy } from './fixtures/busy.ts'
import { LeaseProxy } from './fixtures/lease-proxy.ts'
import { LEASE_SECONDS, Replicas } from './fixtures/replicas.ts'
import { SilentProxy } from './fixtures/silent-proxy.ts'
import { Starvation } from './fixtures/starvation.ts'
import { until } from './until.ts'

const NOTHING = { writes: [], leaseWrites: [], calls: 0, acceptedCalls: 0 }
const LEASES = /\/leases\//

describe('leadership', function () {
  this.timeout(120_000)
  let plane: AuditedPlane

  before(async function () {
    if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    plane = await AuditedPlane.start()
  })
  after(() => plane?.stop())

  const withReplicas = (body: (r: Replicas) => Promise<void>) => async () => {
    const replicas = await Replicas.create(plane)
    try {
      await body(replicas)
      expect(replicas.strays()).to.deep.equal([])
    } finally {
      await replicas.end()
    }
  }

  /** Starts `a`, waits until it works, then starts `b`. */
  async function aLeads(r: Replicas): Promise<void> {
    await r.start('a')
    await r.leader(['a'])
    await r.start('b')
    await until(() => /standing by: a leads/.test(r.operator('b').log), 'b to stand by')
  }

  /** The exit code of a process, and how long it took from now, without the time in which the machine did not let it run. */
  async function exit(r: Replicas, pod: string): Promise<{ code: number; ms: number }> {
    const starvation = new Starvation(r.operator(pod).pid)
    const over = new AbortController()
    const late = pause(30_000, undefined, { signal: over.signal }).then(() => undefined)
    late.catch(() => {})
    try {
      const code = await Promise.race([r.operator(pod).exited, late])
      if (code === undefined) throw new Error(`${pod} goes on; it said:\n${r.operator(pod).log.slice(-2_000)}`)
      return { code, ms: starvation.end() }
    } finally {
      starvation.end()
      over.abort()
    }
  }

  /** Lets a process that was stopped go on, and sees it end at once without another word to the API server. */
  async function goesOnToEnd(r: Replicas, pod: string): Promise<void> {
    const ended = exit(r, pod)
    const now = Date.now()
    r.operator(pod).signal('SIGCONT')
    const { code, ms } = await ended
    expect(code, 'exit code').to.not.equal(0)
    expect(ms, 'until it ended').to.be.lessThan(1_000)
    await pause(500)
    expect(r.sentSince(pod, now), 'asked for since it goes on').to.deep.equal([])
  }

  it(
    'a leader that was stopped for longer than its lease gets nothing done beside the next one, and ends at once',
    withReplicas(async (r) => {
      await aLeads(r)
      r.operator('a').signal('SIGSTOP')
      await r.leader(['b'])
      await goesOnToEnd(r, 'a')
      await pause(1_500)
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
      expect(await r.holder).to.equal('b')
    }),
  )

  it(
    'the next leader writes no sooner than a second after it took the lease, and lists nothing before',
    withReplicas(async (r) => {
      await aLeads(r)
      const log = r.operator('b').log.length
      r.operator('a').signal('SIGKILL')
      await r.leader(['b'])
      await until(() => firstWrite(r, 'b'), 'b to write')
      const taken = r.taking('b')
      const first = firstWrite(r, 'b') as Write
      // From when it asked for the lease: it heard of it later, and only then the second begins. A timer counts whole milliseconds. A run begins with a call.
      const began = Math.min(first.at, ...r.calls.filter(({ pod }) => pod === 'b').map(({ at }) => at))
      expect(began - taken.at, 'from asking for the lease to the first deed').to.be.at.least(998)
      const listed = r.reads.filter(({ pod, all, at }) => pod === 'b' && all && at > taken.at && at < first.at)
      expect(listed).to.deep.equal([])
      expect(r.operator('b').log.slice(log)).to.match(/took the lease of a; leading in 1 s/)
    }),
  )

  it(
    'a handler that blocks the process past the lease ends it, and nothing of it comes after',
    withReplicas(async (r) => {
      await aLeads(r)
      await plane.client.patch(Busy, { name: 'busy-0', namespace: r.namespace }, { type: 'merge', value: { spec: { blockMs: 12_000 } } })
      expect((await exit(r, 'a')).code).to.not.equal(0)
      expect(r.operator('a').log).to.match(
        /the process was blocked or stopped until its lease could not be relied on any more.*BusyHandler\.reconcile/,
      )
      await plane.client.patch(Busy, { name: 'busy-0', namespace: r.namespace }, { type: 'merge', value: { spec: { blockMs: 0 } } })
      await r.leader(['b'])
      await pause(1_000)
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
    }),
  )

  it(
    'warns of a handler that blocks the process for more than a second, and names it',
    withReplicas(async (r) => {
      // It blocks again and again: not long enough to lose this lease.
      await r.start('a', { seconds: { lease: 60, renew: 50 } })
      await r.leader(['a'])
      await plane.client.patch(Busy, { name: 'busy-0', namespace: r.namespace }, { type: 'merge', value: { spec: { blockMs: 1_600 } } })
      const [, ms] = await r.operator('a').logged(/the event loop stood still for (\d+) ms: [^\n]*BusyHandler\.reconcile/)
      expect(Number(ms)).to.be.at.least(1_000)
    }),
  )

  it(
    'a leader whose renewals fail while all else works is silent before the next one leads',
    withReplicas(async (r) => {
      const proxy = await LeaseProxy.start(plane.server)
      r.onEnd(() => proxy.stop())
      await r.start('a', { proxy })
      await r.leader(['a'])
      await r.start('b')
      await until(() => /standing by: a leads/.test(r.operator('b').log), 'b to stand by')
      proxy.treat = (_method, path) => (LEASES.test(path) ? 'fail' : 'pass')
      const { code, ms } = await exit(r, 'a')
      expect(code).to.not.equal(0)
      expect(ms, 'until it ended').to.be.lessThan(LEASE_SECONDS * 1000)
      expect(r.operator('a').log).to.match(/the last renewal that was answered was sent \d+ ms ago|ended by the watchdog/)
      await r.leader(['b'])
      await pause(1_000)
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
    }),
  )

  it(
    'a leader whose connections die without a word goes on leading over others',
    withReplicas(async (r) => {
      const proxy = await SilentProxy.start(plane.server)
      r.onEnd(() => proxy.stop())
      const seconds = { lease: 12, renew: 10 }
      await r.start('a', { proxy, seconds })
      await r.leader(['a'])
      proxy.silence()
      const before = await plane.client.get(Lease, r.lease)
      const renewed = async () => (await plane.client.get(Lease, r.lease)).metadata.resourceVersion !== before.metadata.resourceVersion
      await until(renewed, () => `a to renew its lease; it said:\n${r.operator('a').log.slice(-2_000)}`, {
        check: () => expect(r.operator('a').running, 'a runs').to.equal(true),
      })
      const calls = r.calls.length
      // The other connections find out by PING.
      await until(() => r.calls.length > calls + 10, 'a to work again', { withinMs: 60_000 })
      expect(r.operator('a').running).to.equal(true)
    }),
  )

  it(
    'a renewal that is answered late is worth only what it was when it was sent',
    withReplicas(async (r) => {
      const proxy = await LeaseProxy.start(plane.server)
      r.onEnd(() => proxy.stop())
      // Counted from its answer it would be good for 8.7 s, and others wait 7 s.
      const seconds = { lease: 7, renew: 6 }
      await r.start('a', { proxy, seconds })
      await r.leader(['a'])
      await r.start('b', { seconds })
      await until(() => /standing by: a leads/.test(r.operator('b').log), 'b to stand by')
      // The last renewal arrives, its answer just before it is given up; nothing arrives after it.
      let puts = 0
      proxy.treat = (method, path) => (!LEASES.test(path) ? 'pass' : method === 'PUT' && ++puts === 1 ? { answerAfterMs: 2_700 } : 'fail')
      expect((await exit(r, 'a')).code).to.not.equal(0)
      await r.leader(['b'])
      await pause(1_000)
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
    }),
  )

  it(
    'a lease that is deleted is made anew by its holder, and nobody else leads',
    withReplicas(async (r) => {
      await aLeads(r)
      // Whoever is faster makes it; here that is its holder, on any machine.
      r.operator('b').signal('SIGSTOP')
      await plane.client.delete(Lease, r.lease)
      await until(async () => (await r.holder) === 'a', 'a to make it anew')
      r.operator('b').signal('SIGCONT')
      await pause(LEASE_SECONDS * 1_000 + 2_000)
      expect(await r.holder).to.equal('a')
      expect(r.operator('a').running).to.equal(true)
      expect(r.calls.every(({ pod }) => pod === 'a')).to.equal(true)
    }),
  )

  it(
    'a leader that is stopped while its lease is deleted gets nothing done beside the next one',
    withReplicas(async (r) => {
      await aLeads(r)
      r.operator('a').signal('SIGSTOP')
      await plane.client.delete(Lease, r.lease)
      await pause(1_000)
      // Still within its deadline.
      r.operator('a').signal('SIGCONT')
      await pause(500)
      r.operator('a').signal('SIGSTOP')
      await plane.client.delete(Lease, r.lease).catch(() => {})
      await r.leader(['b'])
      await goesOnToEnd(r, 'a')
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
    }),
  )

  it(
    'of six standbys one takes over, and the leader of before is silent',
    withReplicas(async (r) => {
      await r.start('a')
      await r.leader(['a'])
      const others = ['b', 'c', 'd', 'e', 'f', 'g']
      for (const pod of others) await r.start(pod)
      r.operator('a').signal('SIGSTOP')
      const next = await r.leader(others)
      await goesOnToEnd(r, 'a')
      await pause(2_000)
      expect(r.overlap('a', next)).to.deep.equal(NOTHING)
      // What a standby sends to see whether it is refused is not kept, and no write.
      expect(others.filter((pod) => pod !== next && firstWrite(r, pod) !== undefined)).to.deep.equal([])
      expect(others.filter((pod) => pod !== next && r.calls.some((call) => call.pod === pod))).to.deep.equal([])
      for (const pod of others) expect(r.operator(pod).running).to.equal(true)
    }),
  )

  it(
    'steps of the wall clock do not matter',
    withReplicas(async (r) => {
      // An hour forth, two back, three forth …: each step leads where the clock has never been.
      const step =
        'let by = 0; let n = 0; setInterval(() => { n++; by = n * (n % 2 === 0 ? -3600e3 : 3600e3) }, 700).unref(); const now = Date.now; Date.now = () => now() + by'
      await r.start('a', { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(step)}` } })
      await r.leader(['a'])
      await r.start('b', { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`Date.now = () => 4e12`)}` } })
      await pause(LEASE_SECONDS * 1_000 + 4_000)
      expect(r.operator('a').running).to.equal(true)
      expect(await r.holder).to.equal('a')
      expect(r.calls.every(({ pod }) => pod === 'a')).to.equal(true)
    }),
  )

  it(
    'SIGTERM drains, then gives the lease up, and the next one leads at once',
    withReplicas(async (r) => {
      await aLeads(r)
      const code = await r.operator('a').stop('SIGTERM')
      expect(code).to.equal(0)
      await r.leader(['b'])
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
      const own = r.writes.filter(({ pod, code }) => pod === 'a' && code < 300)
      expect(own.at(-1), 'its last write').to.include({ resource: 'leases', holder: '' })
      // At its first look that finds the lease free, whenever the machine lets it look.
      const released = own.at(-1)?.end ?? 0
      const looks = r.reads.filter(
        (read) => read.pod === 'b' && read.resource === 'leases' && read.at > released && read.at < r.taking('b').at,
      )
      expect(looks.length, 'looks of b at the free lease').to.be.at.most(1)
    }),
  )

  it(
    'an operator that may not work with its lease says so at start, and which verb is missing',
    withReplicas(async (r) => {
      await plane.plane.kubectl(['delete', 'clusterrolebinding', r.namespace])
      const rules = [
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create'] },
        { apiGroups: ['test.tsop.dev', ''], resources: ['*'], verbs: ['*'] },
      ]
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'busy', namespace: r.namespace }, rules }
      const subjects = [{ kind: 'ServiceAccount', name: 'busy', namespace: r.namespace }]
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'busy' }
      const binding = { ...role, kind: 'RoleBinding', rules: undefined, roleRef, subjects }
      await plane.plane.kubectl(['apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [role, binding] }) })
      // The API server goes by the rights that it has last heard of.
      const may = async (verb: string) =>
        (await plane.plane
          .kubectl(['auth', 'can-i', verb, 'leases/busy', '-n', r.namespace, '--as', `system:serviceaccount:${r.namespace}:busy`])
          .catch((error: Error) => error.message)) === 'yes\n'
      await until(async () => (await may('get')) && (await may('create')) && !(await may('update')), 'the new rights to count')
      const failed = await r.start('a').catch((error: Error) => error.message)
      expect(failed).to.contain(
        `leader election needs to update leases.coordination.k8s.io in namespace ${r.namespace} (Lease busy), and may not`,
      )
    }),
  )
})

function firstWrite(r: Replicas, of: string): Write | undefined {
  return r.writes.find(({ pod, resource, dryRun }) => pod === of && resource !== 'leases' && !dryRun)
}
