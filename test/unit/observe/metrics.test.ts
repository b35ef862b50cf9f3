import { expect } from 'chai'
import { StaleError, TerminalError, TsopError } from '../../../lib/engine/errors.ts'
import { requeueAfter } from '../../../lib/engine/outcome.ts'
import { METRICS, type MetricName } from '../../../lib/observe/metric-table.ts'
import { Metrics } from '../../../lib/observe/metrics.ts'
import { ConfigMap, Database, deferred, handler, Secret, settle, stopAll, World } from '../engine/world.ts'
import { samplesOf, sampleValue } from './exposition.ts'

const controller = 'Database.db.example.com'

describe('metrics', () => {
  afterEach(stopAll)

  function observed() {
    const world = new World()
    const metrics = new Metrics({ clock: world.clock, name: 'shop', version: '1' })
    const read = async (name: MetricName | `${MetricName}_${'count' | 'sum'}`, labels: Record<string, string> = { controller }) =>
      sampleValue(await metrics.text(), name, labels)
    return { world, metrics, read }
  }

  it('count runs by how they end', async () => {
    const { world, metrics, read } = observed()
    const ends: Record<string, () => unknown> = {
      done: () => undefined,
      wait: () => requeueAfter('1h'),
      error: () => {
        throw new Error('no')
      },
      terminal: () => {
        throw new TerminalError('Bad', 'bad')
      },
    }
    for (const name of Object.keys(ends)) world.api.create(Database, name)
    await world.startWith(
      { observer: metrics },
      handler({ reconcile: (object) => ends[object.metadata.name]?.() }, { options: { concurrency: 4 } }),
    )
    const total = 'controller_runtime_reconcile_total'
    expect(await read(total, { controller, result: 'success' })).to.equal(1)
    expect(await read(total, { controller, result: 'requeue_after' })).to.equal(1)
    expect(await read(total, { controller, result: 'error' })).to.equal(2)
    expect(await read(total, { controller, result: 'requeue' })).to.equal(0)
    expect(await read('controller_runtime_reconcile_errors_total')).to.equal(2)
    expect(await read('controller_runtime_terminal_reconcile_errors_total')).to.equal(1)
    expect(await read('controller_runtime_reconcile_time_seconds_count')).to.equal(4)
    expect(await read('workqueue_retries_total')).to.equal(1)
    expect(await read('workqueue_adds_total')).to.equal(4)
    for (const [state, count] of Object.entries({ waiting: 1, failing: 1, stalled: 1 }))
      expect(await read('tsop_objects_unfinished', { controller, state })).to.equal(count)
    await world.ms(60_000)
    expect(await read(total, { controller, result: 'error' })).to.be.greaterThan(2)
  })

  it('show what is under way and what waits, with how long', async () => {
    const { world, metrics, read } = observed()
    const held = deferred()
    for (const name of ['a', 'b', 'c']) world.api.create(Database, name)
    await world.startWith({ observer: metrics }, handler({ reconcile: () => held.promise }, { options: { concurrency: 2 } }))
    await world.ms(4000)
    expect(await read('controller_runtime_active_workers')).to.equal(2)
    expect(await read('controller_runtime_max_concurrent_reconciles')).to.equal(2)
    expect(await read('workqueue_depth', { controller, priority: 'change' })).to.equal(1)
    expect(await read('workqueue_unfinished_work_seconds')).to.equal(8)
    expect(await read('workqueue_longest_running_processor_seconds')).to.equal(4)
    held.resolve()
    await settle()
    expect(await read('workqueue_depth', { controller, priority: 'change' })).to.equal(0)
    expect(await read('workqueue_unfinished_work_seconds')).to.equal(0)
    expect(await read('workqueue_work_duration_seconds_sum')).to.equal(8)
    expect(await read('workqueue_queue_duration_seconds_sum')).to.equal(4)
    expect(await read('controller_runtime_reconcile_time_seconds_sum')).to.equal(8)
  })

  it('count a run that was cut, and a rejection that nobody awaited', async () => {
    const { world, metrics, read } = observed()
    world.api.create(Database, 'a')
    await world.startWith({ observer: metrics }, handler({ reconcile: () => new Promise(() => {}) }, { options: { timeout: '2s' } }))
    await world.ms(2000)
    expect(await read('controller_runtime_reconcile_timeouts_total')).to.equal(1)
    expect(await read('controller_runtime_reconcile_panics_total')).to.equal(0)
    const other = observed()
    other.world.api.create(Database, 'a')
    const reconcile = () => Promise.reject(new TsopError('TSOP_UNHANDLED', 'Unhandled', 'a promise that nobody awaits was rejected'))
    await other.world.startWith({ observer: other.metrics }, handler({ reconcile }))
    expect(await other.read('controller_runtime_reconcile_panics_total')).to.equal(1)
  })

  it('tell a refused write from a view that was stale', async () => {
    const { world, metrics, read } = observed()
    world.api.create(Database, 'a')
    world.api.fail('patch databases/a/status', 409, 'Conflict', 3)
    await world.startWith({ observer: metrics }, handler({ reconcile() {} }))
    expect(await read('tsop_conflicts_total')).to.equal(1)
    expect(await read('tsop_stale_views_total')).to.equal(0)
    expect(await read('controller_runtime_reconcile_total', { controller, result: 'requeue' })).to.equal(1)
    const other = observed()
    other.world.api.create(Database, 'a')
    await other.world.startWith({ observer: other.metrics }, handler({ reconcile: () => Promise.reject(new StaleError('it has changed')) }))
    expect(await other.read('tsop_stale_views_total')).to.equal(1)
    expect(await other.read('tsop_conflicts_total')).to.equal(0)
  })

  it('count what was written to children and statuses, and what was not because nothing differs', async () => {
    const { world, metrics, read } = observed()
    world.api.create(Database, 'a')
    await world.startWith(
      { observer: metrics },
      handler({ reconcile() {}, config: (db) => ({ data: { size: String(db.spec?.size ?? 1) } }) }, { owns: { config: ConfigMap } }),
    )
    expect(await read('tsop_children_total', { controller, result: 'created' })).to.equal(1)
    expect(await read('tsop_status_writes_total', { controller, result: 'sent' })).to.equal(1)
    world.api.edit(Database, 'a', (object) => {
      object.metadata.annotations = { touched: 'yes' }
    })
    await settle()
    expect(await read('tsop_children_total', { controller, result: 'saved' })).to.be.greaterThan(0)
    expect(await read('tsop_children_total', { controller, result: 'changed' })).to.equal(0)
    expect(await read('tsop_status_writes_total', { controller, result: 'saved' })).to.be.greaterThan(0)
    expect(await read('tsop_status_writes_total', { controller, result: 'sent' })).to.equal(1)
  })

  it('name a kind that cannot be watched, and what is missing', async () => {
    const { world, metrics, read } = observed()
    world.api.fail('watch secrets', 403, 'Forbidden', 1000)
    world.api.fail('list secrets', 403, 'Forbidden', 1000)
    world.api.create(Database, 'a')
    await world.startWith({ observer: metrics }, handler({ reconcile() {} }, { stacked: [Secret] }))
    expect(await read('tsop_watch_degraded', { kind: 'Secret', missing: 'watch' })).to.equal(1)
    expect(await read('tsop_watch_degraded', { kind: controller, missing: '' })).to.equal(0)
    expect(await read('tsop_watch_synced', { kind: 'Secret' })).to.equal(0)
    expect(await read('tsop_watch_synced', { kind: controller })).to.equal(1)
    expect(await read('tsop_watch_objects', { kind: controller })).to.equal(1)
    expect(await read('tsop_controller_degraded')).to.equal(1)
    expect(await read('tsop_watch_restarts_total', { kind: 'Secret', reason: 'refused' })).to.be.greaterThan(0)
  })

  it('tell how long a kind has been silent', async () => {
    const { world, metrics, read } = observed()
    world.api.create(Database, 'a')
    await world.startWith({ observer: metrics }, handler({ reconcile() {} }))
    await world.ms(5000)
    expect(await read('tsop_watch_last_event_age_seconds', { kind: controller })).to.equal(5)
  })

  it('follow leadership', async () => {
    const { metrics, read } = observed()
    let leads = false
    metrics.leadership('shop', () => leads)
    expect(await read('leader_election_master_status', { name: 'shop' })).to.equal(0)
    leads = true
    expect(await read('leader_election_master_status', { name: 'shop' })).to.equal(1)
  })

  it('have labels of few values: no name of an object gets into them', async () => {
    const { world, metrics } = observed()
    for (let i = 0; i < 50; i++) world.api.create(Database, `object-${i}`)
    await world.startWith({ observer: metrics }, handler({ reconcile: (db) => Promise.reject(new Error(`failed ${db.metadata.name}`)) }))
    await world.ms(60_000)
    const text = await metrics.text()
    expect(text).to.not.match(/object-\d/)
    expect(samplesOf(text).length).to.be.lessThan(250)
  })

  it('of two operators in one process do not know of each other', async () => {
    const one = observed()
    const two = observed()
    one.world.api.create(Database, 'a')
    await one.world.startWith({ observer: one.metrics }, handler({ reconcile() {} }))
    await two.world.startWith({ observer: two.metrics }, handler({ reconcile() {} }))
    expect(await one.read('controller_runtime_reconcile_time_seconds_count')).to.equal(1)
    expect(await two.read('controller_runtime_reconcile_time_seconds_count')).to.equal(0)
  })

  it('are exported with the type, the labels and the help of the table', async () => {
    const { world, metrics } = observed()
    world.api.create(Database, 'a')
    await world.startWith({ observer: metrics }, handler({ reconcile() {} }))
    metrics.leadership('shop', () => true)
    metrics.request('GET', 'host', '200', 3)
    metrics.watchRestarted(controller, 'ended')
    metrics.webhooks(['/convert']).certificate(0)
    const text = await metrics.text()
    for (const [name, { type, labels, help }] of Object.entries(METRICS)) {
      expect(text).to.contain(`# HELP ${name} ${help}\n`).and.to.contain(`# TYPE ${name} ${type}\n`)
      const sample = samplesOf(text).find(
        (each) => each.metric.replace(/_(bucket|count|sum)$/, '') === name && !each.metric.endsWith('_bucket'),
      )
      expect(Object.keys(sample?.labels ?? {}), name).to.have.members([...labels])
    }
  })
})
