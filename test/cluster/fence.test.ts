/** The fence at the API server: what it does when every check in the process is switched off. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { AuditedPlane } from './fixtures/audited-plane.ts'
import { brokenCopy } from './fixtures/broken-copy.ts'
import { LeaseProxy } from './fixtures/lease-proxy.ts'
import { Replicas } from './fixtures/replicas.ts'
import { until } from './until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A leader that notices that it has lost its lease, and goes on as if nothing had happened. */
const UNGATED = [
  {
    file: 'lib/leadership/elector.ts',
    from: '  #lose(why: string): void {\n',
    to: '  #lose(why: string): void {\n    this.#deadline = undefined\n    this.#end.abort(new Error(why))\n    if (why) return\n',
  },
  {
    file: 'lib/leadership/elector.ts',
    from: 'while (this.#holds()) {',
    to: 'while (this.#holds() && !this.#end.signal.aborted) {',
  },
  { file: 'lib/leadership/fenced-transport.ts', from: 'Math.floor(lead.remainingMs)', to: '30_000' },
  {
    file: 'lib/cli/election.ts',
    from: 'onDeadline: (deadline, othersFrom) => watchdog.watch(deadline, othersFrom)',
    to: 'onDeadline: () => {}',
  },
]

describe('the fence at the API server', function () {
  this.timeout(120_000)
  let plane: AuditedPlane
  let copy: ReturnType<typeof brokenCopy>

  before(async function () {
    if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    plane = await AuditedPlane.start()
    copy = brokenCopy(ROOT, UNGATED)
  })
  after(() => {
    copy?.remove()
    plane?.stop()
  })

  const withReplicas = (body: (r: Replicas) => Promise<void>) => async () => {
    const replicas = await Replicas.create(plane)
    try {
      await body(replicas)
    } finally {
      await replicas.end()
    }
  }

  /** As `tsop generate fence` makes it. */
  async function fenceOf(r: Replicas, change: 'apply' | 'delete' = 'apply'): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), 'fence-'))
    const args = [
      'generate',
      'fence',
      'test/cluster/fixtures/busy.ts',
      '--name',
      'busy',
      '--home',
      r.namespace,
      '-n',
      r.namespace,
      '-o',
      dir,
    ]
    execFileSync(process.execPath, ['--conditions=tsop-source', `${ROOT}lib/cli/tsop.ts`, ...args], { cwd: ROOT })
    await plane.plane.kubectl([change, '-f', join(dir, 'policy.yaml')])
    rmSync(dir, { recursive: true })
  }

  /** `a` of the broken copy leads, then its renewals fail; `b` takes over, and `a` goes on. */
  async function twoLeaders(r: Replicas): Promise<void> {
    const proxy = await LeaseProxy.start(plane.server)
    r.onEnd(() => proxy.stop())
    await r.start('a', { proxy, project: `${copy.path}/` })
    await r.leader(['a'])
    await r.start('b')
    await until(() => /standing by: a leads/.test(r.operator('b').log), 'b to stand by')
    proxy.treat = (_method, path) => (/\/leases\//.test(path) ? 'fail' : 'pass')
    await until(() => r.calls.some(({ pod }) => pod === 'b'), 'b to work')
    await pause(2_000)
    expect(r.operator('a').running).to.equal(true)
  }

  it(
    'is needed by a leader without any check of its own: it writes beside the next one',
    withReplicas(async (r) => {
      await twoLeaders(r)
      await until(() => {
        const { writes, calls } = r.overlap('a', 'b')
        return writes.length > 20 && calls > 20
      }, 'writes and calls of the former leader')
      expect(r.operator('b').log).to.not.contain('the API server fences')
    }),
  )

  it(
    'stops such a leader before the next one writes, and leaves everybody else alone',
    withReplicas(async (r) => {
      await fenceOf(r)
      await twoLeaders(r)
      const written = () => r.writes.filter(({ resource, dryRun }) => resource !== 'leases' && !dryRun)
      const refused = () =>
        written().filter(({ pod, code, message }) => pod === 'a' && code === 403 && message.includes('fenced by the lease: b holds it'))
      const firstOfNext = () => written().find(({ pod, code }) => pod === 'b' && code < 300)
      const first = await until(firstOfNext, 'b to write')
      await until(() => refused().length > 20, 'writes of the former leader')
      const taken = r.taking('b')
      const late = written().filter(({ pod, code, resource, at }) => pod === 'a' && code < 300 && resource !== 'events' && at > taken.end)
      const window = (late.at(-1)?.end ?? taken.end) - taken.end
      console.log(
        `      accepted after the take-over: ${late.length}, the last after ${window} ms; refused: ${refused().length}; b began after ${first.at - taken.end} ms`,
      )
      expect(
        late.filter(({ end }) => end >= first.at),
        'beside the next leader',
      ).to.deep.equal([])
      expect(
        r.calls.filter(({ pod, accepted, at }) => pod === 'a' && accepted && at > (r.calls.find((call) => call.pod === 'b')?.at ?? 0)),
      ).to.deep.equal([])
      expect(r.operator('b').log).to.contain('the API server fences')
      // Others, with the same rights and without.
      await plane.plane.kubectl(['-n', r.namespace, 'create', 'configmap', 'by-a-person'])
      await plane.plane.kubectl(['-n', r.namespace, 'delete', 'lease', 'busy'])
      await plane.plane.kubectl(['-n', r.namespace, 'create', 'configmap', 'by-a-person-without-the-lease'])
    }),
  )

  it(
    'is missed, or found to be in the way, where the API server does not follow Leases any more',
    withReplicas(async (r) => {
      await fenceOf(r)
      await r.start('a')
      await r.leader(['a'])
      // With the last policy about Leases the API server forgets to follow them, until it is restarted, and goes on with what it has seen.
      await plane.plane.kubectl(['delete', 'validatingadmissionpolicybindings,validatingadmissionpolicies', '--all'])
      await pause(3_000)
      const later = await Replicas.create(plane)
      r.onEnd(() => later.end())
      await fenceOf(later)
      await later.start('a')
      await later.leader(['a'])
      await later.start('b')
      await later.operator('b').logged(/the API server does not fence/)

      await plane.plane.kubectl(['delete', 'validatingadmissionpolicybindings,validatingadmissionpolicies', '--all'])
      await fenceOf(r)
      await r.start('b')
      r.operator('a').signal('SIGKILL')
      await r.operator('b').logged(/the fence of the API server refuses the holder of the lease/)
    }),
  )
})
