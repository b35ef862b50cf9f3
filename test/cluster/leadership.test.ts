/**
 * Promise 12, a lost lease means silence, and promise 13, SIGTERM drains: real processes on a real control plane, judged by its audit log and by
 * what an outside service was asked.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { Lease } from '../../lib/leadership/lease.ts'
import { AuditedPlane } from './fixtures/audited-plane.ts'
import { Busy } from './fixtures/busy.ts'
import { LeaseProxy } from './fixtures/lease-proxy.ts'
import { LEASE_SECONDS, Replicas } from './fixtures/replicas.ts'
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

  /** The exit code of a process, and how long it took from now. */
  async function exit(r: Replicas, pod: string): Promise<{ code: number; ms: number }> {
    const began = performance.now()
    const late = pause(20_000).then(() => -99)
    const code = await Promise.race([r.operator(pod).exited, late])
    return { code, ms: performance.now() - began }
  }

  it(
    'a leader that was stopped for longer than its lease gets nothing done beside the next one, and ends at once',
    withReplicas(async (r) => {
      await aLeads(r)
      r.operator('a').signal('SIGSTOP')
      await r.leader(['b'])
      await pause(1_000)
      r.operator('a').signal('SIGCONT')
      const { code, ms } = await exit(r, 'a')
      expect(code).to.not.equal(0)
      expect(ms).to.be.lessThan(1_000)
      await pause(1_500)
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
      expect(await r.holder).to.equal('b')
      // The caches were warm: work began as soon as the lease allowed it.
      const taken = r.writes.find(({ pod, resource, code }) => pod === 'b' && resource === 'leases' && code < 300)
      const first = r.writes.find(({ pod, resource, dryRun }) => pod === 'b' && resource !== 'leases' && !dryRun)
      expect((first?.at ?? 0) - (taken?.end ?? 0), 'from taking the lease to the first write').to.be.within(900, 2_500)
    }),
  )

  it(
    'a handler that blocks the process past the lease ends it, and nothing of it comes after',
    withReplicas(async (r) => {
      await aLeads(r)
      await plane.client.patch(Busy, { name: 'busy-0', namespace: r.namespace }, { type: 'merge', value: { spec: { blockMs: 12_000 } } })
      const { code } = await exit(r, 'a')
      expect(code).to.not.equal(0)
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
      await r.start('a')
      await r.leader(['a'])
      await plane.client.patch(Busy, { name: 'busy-0', namespace: r.namespace }, { type: 'merge', value: { spec: { blockMs: 1_600 } } })
      await r.operator('a').logged(/the event loop stood still for 1\d\d\d ms: .*BusyHandler/)
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
      proxy.treat = (_method, path) => (LEASES.test(path) ? 'fail' : 'pass')
      const { code, ms } = await exit(r, 'a')
      expect(code).to.equal(1)
      expect(ms).to.be.lessThan(LEASE_SECONDS * 1000)
      await r.leader(['b'])
      await pause(1_000)
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
    }),
  )

  it(
    'a renewal that is answered late is worth only what it was when it was sent',
    withReplicas(async (r) => {
      const proxy = await LeaseProxy.start(plane.server)
      r.onEnd(() => proxy.stop())
      await r.start('a', { proxy })
      await r.leader(['a'])
      await r.start('b')
      await until(() => /standing by: a leads/.test(r.operator('b').log), 'b to stand by')
      // The last renewal arrives, its answer just before the deadline; nothing arrives after it.
      let puts = 0
      proxy.treat = (method, path) => (!LEASES.test(path) ? 'pass' : method === 'PUT' && ++puts === 1 ? { answerAfterMs: 1_300 } : 'fail')
      await exit(r, 'a')
      await r.leader(['b'])
      await pause(1_000)
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
    }),
  )

  it(
    'a lease that is deleted is made anew by its holder, and nobody else leads',
    withReplicas(async (r) => {
      await aLeads(r)
      await plane.client.delete(Lease, r.lease)
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
      r.operator('a').signal('SIGCONT')
      const { code, ms } = await exit(r, 'a')
      expect(code).to.not.equal(0)
      expect(ms).to.be.lessThan(1_000)
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
      await pause(1_000)
      r.operator('a').signal('SIGCONT')
      expect((await exit(r, 'a')).code).to.not.equal(0)
      await pause(2_000)
      expect(r.overlap('a', next)).to.deep.equal(NOTHING)
      const writers = new Set(
        r.writes.filter(({ resource, code, dryRun }) => resource !== 'leases' && code < 300 && !dryRun).map(({ pod }) => pod),
      )
      expect([...writers]).to.have.members(['a', next])
      for (const pod of others) expect(r.operator(pod).running).to.equal(true)
    }),
  )

  it(
    'steps of the wall clock do not matter',
    withReplicas(async (r) => {
      const step =
        'let by = 0; setInterval(() => { by = by > 0 ? -7200e3 : by + 3600e3 }, 700).unref(); const now = Date.now; Date.now = () => now() + by'
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
      const ended = Date.now()
      await r.leader(['b'])
      expect(Date.now() - ended, 'until b works').to.be.lessThan(LEASE_SECONDS * 1000)
      expect(r.overlap('a', 'b')).to.deep.equal(NOTHING)
      const own = r.writes.filter(({ pod, code }) => pod === 'a' && code < 300)
      expect(own.at(-1), 'its last write').to.include({ resource: 'leases', holder: '' })
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
      const failed = await r.start('a').catch((error: Error) => error.message)
      expect(failed).to.contain(
        `leader election needs to update leases.coordination.k8s.io in namespace ${r.namespace} (Lease busy), and may not`,
      )
    }),
  )
})
