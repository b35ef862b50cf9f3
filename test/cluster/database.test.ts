import { expect } from 'chai'
import { Pod, Secret, Service, StatefulSet } from 'tsop/kinds'
import { Database } from '../../handlers/database.ts'
import { JobService } from '../../handlers/job-service/job-service.ts'
import type { Condition } from '../../lib/resource/kind.ts'
import { inNamespace, type Operator, type World } from './cluster.ts'

describe('the operator of handlers/', () => {
  it(
    'builds a database and serves once its servers are ready',
    inNamespace(async (t) => {
      await start(t)
      await t.apply(database({ engine: 'mysql', replicas: 2, storage: '2Gi' }))

      const set = await t.until(() => t.client.find(StatefulSet, t.ref('orders')), 'the StatefulSet')
      expect(set.spec?.replicas).to.equal(2)
      expect(set.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests).to.deep.equal({ storage: '2Gi' })
      const service = await t.client.get(Service, t.ref('orders'))
      expect(service.spec?.ports?.[0]?.port).to.equal(3306)
      const starting = await t.until(() => waitingFor(t, 'ServersStarting'), 'the wait for the servers to be shown')
      expect(starting.message).to.equal('0 of 2 servers are ready')

      await serversReady(t, 2)
      await t.kubectl('wait', '--for=condition=Ready', 'database/orders', '--timeout=30s')
      const { status } = await t.client.get(Database, t.ref('orders'))
      expect(status?.endpoint).to.equal(`orders.${t.namespace}.svc:3306`)
      expect(await condition(t, 'Reconciling')).to.equal(undefined)
      expect((await condition(t, 'Ready'))?.reason).to.equal('Serving')
    }),
  )

  it(
    'makes the password once, and tells nobody',
    inNamespace(async (t) => {
      const { operator, restart } = await start(t, ['--log-level', 'trace'])
      await t.apply(database({}))
      const password = await t.until(() => passwordOf(t), 'the password')
      expect(password).to.have.length.of.at.least(24)

      const again = await restart(operator)
      await serversReady(t, 1)
      await t.kubectl('wait', '--for=condition=Ready', 'database/orders', '--timeout=30s')
      expect(await passwordOf(t)).to.equal(password)
      for (const log of [operator.log, again.log]) {
        expect(log).to.not.include(password)
        expect(log).to.not.include(Buffer.from(password).toString('base64'))
      }
    }),
  )

  it(
    'says who added what makes a child invalid, and goes on once it is taken away',
    inNamespace(async (t) => {
      await start(t)
      await t.apply(database({}))
      await t.until(() => t.client.find(Service, t.ref('orders')), 'the Service')
      const change = (...operations: object[]) => t.kubectl('patch', 'service', 'orders', '--type=json', '-p', JSON.stringify(operations))
      await change({ op: 'replace', path: '/spec/ports/0/port', value: 99 })
      const failed = await t.until(async () => {
        const ready = await condition(t, 'Ready')
        return ready?.reason === 'ReconcileFailed' ? ready : undefined
      }, 'the refusal to be shown')
      expect(failed.message).to.match(
        /422 Invalid\); kubectl-patch owns spec\.ports\[port=99,protocol=TCP\], which an apply leaves there: remove it from Service \S+\/orders, or have the builder return it too$/,
      )
      await change({ op: 'remove', path: '/spec/ports/0' }, { op: 'add', path: '/spec/ports', value: [{ name: 'sql', port: 5432 }] })
      await t.until(() => waitingFor(t, 'ServersStarting'), 'the database to go on')
    }),
  )

  it(
    'asks for a lost password instead of making another one',
    inNamespace(async (t) => {
      await start(t)
      await t.apply(database({}))
      await t.until(async () => (await t.client.get(Database, t.ref('orders'))).status?.credentials, 'the password to be made')
      const saved = JSON.parse(await t.kubectl('get', 'secret', 'orders-credentials', '-o', 'json'))
      await t.kubectl('delete', 'secret', 'orders-credentials')
      await t.until(() => waitingFor(t, 'PasswordLost'), 'the loss to be shown')
      expect(await passwordOf(t)).to.equal(undefined)

      await t.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'orders-credentials' }, data: saved.data })
      await t.kubectl('label', 'database', 'orders', 'restored=true')
      await t.until(() => waitingFor(t, 'ServersStarting'), 'the password to be found')
    }),
  )

  it(
    'takes one final backup before a database goes, also over a kill',
    inNamespace(async (t) => {
      const { provider, operator, restart } = await start(t)
      await t.apply(database({}))
      await t.until(() => passwordOf(t), 'the database to be built')
      await t.kubectl('delete', 'database', 'orders', '--wait=false')

      await t.until(() => provider.jobs.length > 0, 'the backup to be started')
      const shown = await t.until(() => waitingFor(t, 'WaitingForFinalBackup'), 'the backup to be shown')
      expect(shown.message).to.equal('in progress')
      await restart(operator, 'SIGKILL')

      expect((await t.client.get(Database, t.ref('orders'))).metadata.finalizers).to.deep.equal(['db.example.com/databases'])
      provider.finish(provider.jobs[0]!.key)
      await t.until(async () => (await t.client.find(Database, t.ref('orders'))) === undefined, 'the database to go')
      expect(provider.jobs).to.have.length(1)
    }),
  )

  it(
    'keeps the database while its backup fails, until its owner gives it up',
    inNamespace(async (t) => {
      const { provider } = await start(t)
      await t.apply(database({}))
      await t.until(() => passwordOf(t), 'the database to be built')
      await t.kubectl('delete', 'database', 'orders', '--wait=false')
      await t.until(() => provider.jobs.length > 0, 'the backup to be started')
      provider.fail(provider.jobs[0]!.key, 'no space left')

      const stalled = await t.until(() => condition(t, 'Stalled'), 'the failure to be shown')
      expect(stalled.message).to.include('no space left')
      await t.kubectl('patch', 'database', 'orders', '--type=merge', '-p', '{"spec":{"finalBackup":false}}')
      await t.until(async () => (await t.client.find(Database, t.ref('orders'))) === undefined, 'the database to go')
    }),
  )

  it(
    'refuses another engine for a database that exists',
    inNamespace(async (t) => {
      await t.install(Database)
      await t.apply(database({}))
      const change = t.kubectl('patch', 'database', 'orders', '--type=merge', '-p', '{"spec":{"engine":"mysql"}}')
      const error = await change.then(
        () => undefined,
        (reason: Error) => reason,
      )
      expect(error?.message).to.include('engine is immutable')
    }),
  )
})

async function start(t: World, args: string[] = []) {
  await t.install(Database)
  const provider = await JobService.start()
  t.onEnd(() => provider.stop())
  const env = { BACKUP_URL: provider.url, BACKUP_POLL: '200ms' }
  const run = () => t.startOperator({ handlers: 'handlers', env, args })
  const restart = async (old: Operator, signal: NodeJS.Signals = 'SIGTERM') => {
    await old.stop(signal)
    return run()
  }
  return { provider, operator: await run(), restart }
}

const database = (spec: object) => ({
  apiVersion: 'db.example.com/v1alpha1',
  kind: 'Database',
  metadata: { name: 'orders' },
  spec,
})

/** Does what a kubelet would: the StatefulSet's controller makes one server after the other, and counts those that say they are ready. */
async function serversReady(t: World, replicas: number): Promise<void> {
  for (let i = 0; i < replicas; i++) {
    const server = t.ref(`orders-${i}`)
    await t.until(() => t.client.find(Pod, server), `the server ${server.name}`)
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    await t.client.patch(Pod, server, { type: 'merge', value: { status } }, { subresource: 'status' })
  }
}

async function passwordOf(t: World): Promise<string | undefined> {
  const data = (await t.client.find(Secret, t.ref('orders-credentials')))?.data
  return data?.['password'] === undefined ? undefined : Buffer.from(data['password'], 'base64').toString()
}

async function condition(t: World, type: string): Promise<Condition | undefined> {
  const { status } = await t.client.get(Database, t.ref('orders'))
  return status?.conditions?.find((each) => each.type === type)
}

async function waitingFor(t: World, reason: string): Promise<Condition | undefined> {
  const shown = await condition(t, 'Reconciling')
  return shown?.reason === reason ? shown : undefined
}
