/** An operator as Prometheus, the kubelet and whoever reads its log see it. */
import http from 'node:http'
import https from 'node:https'
import { expect } from 'chai'
import { sampleValue } from '../unit/observe/exposition.ts'
import { inNamespace, type Operator } from './cluster.ts'
import { Basket } from './fixtures/basket.ts'
import { Gate } from './fixtures/gate.ts'
import { logLines } from './fixtures/log-lines.ts'
import { isReady, manifest } from './fixtures/objects.ts'
import { primaryRules, restrictedTo } from './fixtures/restricted.ts'
import { Script } from './fixtures/script.ts'

const script = 'test/cluster/fixtures/script.ts'
const basket = 'test/cluster/fixtures/basket.ts'
const METRICS = ['--metrics-bind-address', '127.0.0.1:0']
const PROBES = ['--health-probe-bind-address', '127.0.0.1:0']
const EVENTS = { apiGroups: ['events.k8s.io', ''], resources: ['events'], verbs: ['create', 'patch'] }

interface Answer {
  readonly status: number
  readonly body: string
}

function get(url: string, token?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = {
      agent: false,
      rejectUnauthorized: false,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    } as const
    const request = (url.startsWith('https') ? https : http).get(url, options, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    request.on('error', reject)
  })
}

async function urlOf(operator: Operator, what: 'metrics' | 'probes'): Promise<string> {
  await operator.logged(new RegExp(`serving ${what}`))
  return String(logLines(operator, { msg: `serving ${what}` })[0]?.['url'])
}

describe('operations', () => {
  it(
    'counts what an operator does, with few labels',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers: script, args: METRICS })
      await t.apply(
        manifest('Script', 'good'),
        manifest('Script', 'fails', { outcome: 'error' }),
        manifest('Script', 'stalls', { outcome: 'terminal' }),
      )
      await isReady(t, Script, 'good')
      const url = await urlOf(operator, 'metrics')
      const controller = 'Script.test.tsop.dev'
      await t.until(async () => {
        const { body } = await get(url)
        const read = (name: string, labels = {}) => sampleValue(body, name, { controller, ...labels }) ?? 0
        return (
          read('controller_runtime_reconcile_total', { result: 'success' }) === 1 &&
          read('controller_runtime_reconcile_errors_total') >= 2 &&
          read('controller_runtime_terminal_reconcile_errors_total') === 1 &&
          read('tsop_objects_unfinished', { state: 'failing' }) === 1 &&
          read('tsop_objects_unfinished', { state: 'stalled' }) === 1
        )
      }, 'the numbers')
      const { body } = await get(url)
      expect(sampleValue(body, 'tsop_watch_objects', { kind: controller })).to.equal(3)
      expect(sampleValue(body, 'rest_client_requests_total', { method: 'PATCH', code: '200' })).to.be.greaterThan(2)
      expect(sampleValue(body, 'process_resident_memory_bytes', {})).to.be.greaterThan(1e7)
      expect(body).to.not.match(/"(good|fails|stalls)"/)
      expect((await get(new URL('/', url).href)).status).to.equal(404)
    }),
  )

  it(
    'is ready once everything has been seen, names a kind that is forbidden, and is ready nevertheless',
    inNamespace(async (t) => {
      await t.install(Script, Basket)
      const { kubeconfig } = await restrictedTo(t, [...primaryRules('scripts'), EVENTS])
      const env = { KUBECONFIG: kubeconfig }
      const operator = await t.startOperator({ handlers: [script, basket], args: [...PROBES, ...METRICS], env })
      const probes = await urlOf(operator, 'probes')
      expect(await get(`${probes}/livez`)).to.deep.equal({ status: 200, body: 'ok' })
      const { status, body } = await get(`${probes}/readyz?verbose`)
      expect(status).to.equal(200)
      expect(body).to.contain('[+]kind/Script.test.tsop.dev ok\n')
      expect(body).to.match(/\[\+\]kind\/Basket\.test\.tsop\.dev ok: degraded: .*verb watch is missing/)
      const { body: metrics } = await get(await urlOf(operator, 'metrics'))
      expect(sampleValue(metrics, 'tsop_watch_degraded', { kind: 'Basket.test.tsop.dev', missing: 'watch' })).to.equal(1)
      expect(sampleValue(metrics, 'tsop_controller_degraded', { controller: 'Basket.test.tsop.dev' })).to.equal(1)
      expect(sampleValue(metrics, 'tsop_controller_degraded', { controller: 'Script.test.tsop.dev' })).to.equal(0)
    }),
  )

  it(
    'is alive and not ready while the API server is away',
    inNamespace(async (t) => {
      const operator = await t.startOperator({
        handlers: script,
        args: PROBES,
        ready: false,
        env: { KUBECONFIG: await nowhere(t.kubeconfig, t.onEnd) },
      })
      const probes = await urlOf(operator, 'probes')
      expect((await get(`${probes}/livez`)).status).to.equal(200)
      expect(await get(`${probes}/readyz`)).to.deep.include({ status: 500 })
      expect((await get(`${probes}/readyz`)).body).to.contain('[-]startup failed: waiting for the API server')
    }),
  )

  it(
    'is alive and not ready while it drains, and cuts off what does not end in its time',
    inNamespace(async (t) => {
      await t.install(Script)
      const gate = await Gate.start(t, 'a')
      const args = [...PROBES, '--graceful-shutdown-timeout', '3s']
      const operator = await t.startOperator({ handlers: script, args, env: gate.env })
      const probes = await urlOf(operator, 'probes')
      await t.apply(manifest('Script', 'a'))
      await gate.arrival('a')
      const before = performance.now()
      operator.signal('SIGTERM')
      await operator.logged(/stopping/)
      expect((await get(`${probes}/readyz/shutdown`)).status).to.equal(500)
      expect((await get(`${probes}/livez`)).status).to.equal(200)
      expect(await operator.exited).to.equal(0)
      expect(performance.now() - before)
        .to.be.greaterThan(2_500)
        .and.lessThan(15_000)
      expect(operator.log).to.contain('the grace period is over')
    }),
  )

  it(
    'says who leads, and that who stands by is ready',
    inNamespace(async (t) => {
      await t.install(Script)
      const args = [...PROBES, ...METRICS, '--leader-elect', '--lease-name', 'observed', '--lease-namespace', t.namespace]
      const leader = await t.startOperator({ handlers: script, args })
      await leader.logged(/"msg":"leading"/)
      const standby = await t.startOperator({ handlers: script, args })
      const status = async (operator: Operator) =>
        sampleValue((await get(await urlOf(operator, 'metrics'))).body, 'leader_election_master_status', { name: 'observed' })
      const lease = async (operator: Operator) => (await get(`${await urlOf(operator, 'probes')}/livez/leaderElection?verbose`)).body
      await t.until(async () => /ok: standing by for \S+\n/.test(await lease(standby)), 'the standby to know of the leader')
      expect(await lease(leader)).to.contain('[+]leaderElection ok: leading\n')
      expect([await status(leader), await status(standby)]).to.deep.equal([1, 0])
      expect((await get(`${await urlOf(standby, 'probes')}/readyz`)).status).to.equal(200)
      expect(await leader.stop()).to.equal(0)
      await t.until(async () => (await status(standby)) === 1, 'the standby to lead')
    }),
  )

  it(
    'shows metrics over TLS to those alone who may get them',
    inNamespace(async (t) => {
      await t.install(Script)
      const name = `metrics-${t.id}`
      for (const account of ['prometheus', 'somebody']) await t.kubectl('create', 'serviceaccount', account)
      await t.kubectl('create', 'clusterrole', name, '--verb=get', '--non-resource-url=/metrics')
      await t.kubectl('create', 'clusterrolebinding', name, `--clusterrole=${name}`, `--serviceaccount=${t.namespace}:prometheus`)
      t.onEnd(() => t.kubectl('delete', 'clusterrole,clusterrolebinding', name))
      const token = async (account: string) => (await t.kubectl('create', 'token', account)).trim()
      const operator = await t.startOperator({ handlers: script, args: [...METRICS, '--metrics-secure'] })
      const url = await urlOf(operator, 'metrics')
      expect(url).to.match(/^https:/)
      const prometheus = await token('prometheus')
      // The API server learns of a new role a moment later, and a no is remembered for half a minute.
      await t.until(
        async () =>
          (await t.kubectl('auth', 'can-i', 'get', '/metrics', `--as=system:serviceaccount:${t.namespace}:prometheus`)).startsWith('yes'),
        'the right',
      )
      const allowed = await get(url, prometheus)
      expect(allowed.status).to.equal(200)
      expect(allowed.body).to.contain('tsop_info{')
      expect((await get(url)).status).to.equal(401)
      expect((await get(url, 'nonsense')).status).to.equal(401)
      expect(await get(url, await token('somebody'))).to.deep.equal({
        status: 403,
        body: 'forbidden: the verb get on the nonResourceURL /metrics is needed\n',
      })
      expect(operator.log).to.not.contain(prometheus)
    }),
  )

  it(
    'says in one line where an address cannot be had',
    inNamespace(async (t) => {
      const taken = http.createServer()
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
      t.onEnd(() => taken.close())
      const { port } = taken.address() as { port: number }
      const operator = await t.startOperator({ handlers: script, args: ['--metrics-bind-address', `127.0.0.1:${port}`], ready: false })
      expect(await operator.exited).to.equal(3)
      expect(operator.log).to.equal(
        `tsop-run: --metrics-bind-address 127.0.0.1:${port}: the port is taken; name another one, or 0 for none\n`,
      )
    }),
  )
})

/** A kubeconfig that leads to a port where nobody listens. */
async function nowhere(kubeconfig: string, onEnd: (f: () => unknown) => void): Promise<string> {
  const { mkdtempSync, readFileSync, rmSync, writeFileSync } = await import('node:fs')
  const folder = mkdtempSync('/tmp/nowhere-')
  onEnd(() => rmSync(folder, { recursive: true }))
  writeFileSync(`${folder}/kubeconfig`, readFileSync(kubeconfig, 'utf8').replace(/https:\/\/[\w.]+:\d+/, 'https://127.0.0.1:9'))
  return `${folder}/kubeconfig`
}
