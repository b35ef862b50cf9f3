/** What each operator of handlers/ and examples/ can be brought to do. */
import {
  Deployment,
  EventsV1Event,
  Namespace,
  PodDisruptionBudget,
  ResourceQuota,
  RoleBinding,
  Secret,
  Service,
  StatefulSet,
} from 'tsop/kinds'
import { BudgetHandler } from '../../../examples/disruption-budgets/budget.ts'
import { Rendering, RenderingHandler } from '../../../examples/renderings/rendering.ts'
import { Site, SiteHandler } from '../../../examples/secret-rollout/site.ts'
import { Team, TeamHandler } from '../../../examples/teams/team.ts'
import { Database, DatabaseHandler } from '../../../handlers/database.ts'
import type { JobService } from '../../../handlers/job-service/job-service.ts'
import type { KindRef } from '../../../lib/resource/kind.ts'
import type { Story, Trial } from './under-roles.ts'

const database: Story = {
  name: 'database-operator',
  classes: [DatabaseHandler],
  async tell(t) {
    const provider = await jobs('BACKUP')
    try {
      t.conflict({ resource: 'databases', subresource: 'status' })
      for (const resource of ['secrets', 'services', 'statefulsets']) t.conflict({ resource })
      const orders = { apiVersion: 'db.example.com/v1alpha1', kind: 'Database', metadata: { name: 'orders' } }
      await t.apply({ ...orders, spec: {} })
      await t.until(() => t.find(StatefulSet, 'orders'), 'the StatefulSet')
      await t.until(async () => (await t.find(Database, 'orders'))?.status?.credentials, 'the status')
      const owner = (await t.find(Database, 'orders'))!
      await t.leftOver(Secret as KindRef, owner, 'credentials')
      await t.leftOver(Service as KindRef, owner, 'service', { spec: { ports: [{ port: 1 }] } })
      await t.leftOver(StatefulSet as KindRef, owner, 'statefulSet', statefulSet)
      for (const ref of [Secret, Service, StatefulSet]) await t.gone(ref, 'orders-old')
      await serversReady(t)
      for (const replicas of [2, 3]) await t.fails({ resource: 'statefulsets' }, () => t.apply({ ...orders, spec: { replicas } }))
      await t.client.delete(Database, { name: 'orders', namespace: 'default' })
      const job = await t.until(() => provider.jobs[0], 'the backup to be ordered')
      provider.finish(job.key)
      await t.gone(Database, 'orders')
      await t.until(() => eventOf(t, 'orders', 'BackedUp'), 'the event')
    } finally {
      await provider.stop()
    }
  },
}

const budgets: Story = {
  name: 'budget-operator',
  classes: [BudgetHandler],
  async tell(t) {
    t.conflict({ resource: 'poddisruptionbudgets' })
    for (const _ of [1, 2]) {
      await t.fails({ resource: 'poddisruptionbudgets' }, () => t.apply(deployment('web', 2)))
      await t.until(() => t.find(PodDisruptionBudget, 'web'), 'the budget')
      await t.apply(deployment('web', 1))
      await t.gone(PodDisruptionBudget, 'web')
    }
  },
}

const renderings: Story = {
  name: 'rendering-operator',
  classes: [RenderingHandler],
  async tell(t) {
    const farm = await jobs('RENDER')
    try {
      const rendering = { apiVersion: 'media.example.com/v1alpha1', kind: 'Rendering', metadata: { name: 'intro' } }
      const status = { resource: 'renderings', subresource: 'status' }
      await t.fails(status, () => t.apply({ ...rendering, spec: { scene: 'sunrise' } }))
      // Told again only when it has gone well in between.
      const waits = async () => (await t.find(Rendering, 'intro'))?.status?.conditions?.some(({ reason }) => reason === 'Rendering')
      await t.until(waits, 'the run that waits for the job')
      t.conflict(status)
      const job = await t.until(() => farm.jobs[0], 'the job')
      await t.fails(status, async () => farm.finish(job.key))
      await t.until(async () => (await t.find(Rendering, 'intro'))?.status?.location, 'the location')
    } finally {
      await farm.stop()
    }
  },
}

const sites: Story = {
  name: 'site-operator',
  classes: [SiteHandler],
  async tell(t) {
    t.conflict({ resource: 'sites', subresource: 'status' })
    t.conflict({ resource: 'deployments' })
    await t.apply(secret('b'))
    const spec = { image: 'nginx', secretName: 'shop-config' }
    await t.apply({ apiVersion: 'web.example.com/v1alpha1', kind: 'Site', metadata: { name: 'shop' }, spec })
    await t.until(() => t.find(Deployment, 'shop'), 'the Deployment')
    const owner = (await t.find(Site, 'shop'))!
    // The operator was one with a builder once.
    await t.leftOver(Deployment as KindRef, owner, 'deployment', { spec: deployment('shop-old', 1).spec })
    await t.gone(Deployment, 'shop-old')
    for (const text of ['c', 'd']) {
      await t.fails({ resource: 'deployments' }, () => t.apply(secret(text)))
    }
  },
}

const teams: Story = {
  name: 'team-operator',
  classes: [TeamHandler],
  async tell(t) {
    t.conflict({ resource: 'teams', subresource: 'status' })
    for (const resource of ['namespaces', 'resourcequotas', 'rolebindings']) t.conflict({ resource })
    const team = { apiVersion: 'org.example.com/v1alpha1', kind: 'Team', metadata: { name: 'sea' } }
    await t.apply({ ...team, spec: { members: ['ada'] } })
    await t.until(() => t.find(RoleBinding, 'team-members', 'team-sea'), 'the binding')
    await t.apply({ ...team, spec: { members: [] } })
    await t.gone(RoleBinding, 'team-members', 'team-sea')
    const owner = (await t.find(Team, 'sea'))!
    await t.leftOver(Namespace as KindRef, owner, 'namespace')
    await t.leftOver(ResourceQuota as KindRef, owner, 'quota')
    await t.gone(ResourceQuota, 'sea-old')
    await t.gone(Namespace, 'sea-old')
    for (const pods of [2, 3]) await t.fails({ resource: 'resourcequotas' }, () => t.apply({ ...team, spec: { pods } }))
  },
}

export const STORIES: readonly Story[] = [database, budgets, renderings, sites, teams]

async function jobs(variable: string): Promise<JobService> {
  // Not at the top: a module that waits at its top level cannot be required, which is how mocha tries first.
  const { JobService: Service } = await import('../../../handlers/job-service/job-service.ts')
  const service = await Service.start()
  process.env[`${variable}_URL`] = service.url
  process.env[`${variable}_POLL`] = '20ms'
  return service
}

/** What happens again goes into the same Event, by `patch`. */
async function eventOf(t: Trial, name: string, reason?: string): Promise<boolean> {
  const { items } = await t.client.list(EventsV1Event)
  return items.some((event) => event.regarding?.name === name && (reason === undefined || event.reason === reason))
}

async function serversReady(t: Trial): Promise<void> {
  const { metadata } = (await t.find(StatefulSet, 'orders'))!
  const status = { replicas: 1, readyReplicas: 1, observedGeneration: metadata.generation }
  const ref = { name: 'orders', namespace: 'default' }
  await t.client.patch(StatefulSet, ref, { type: 'merge', value: { status } }, { subresource: 'status' })
}

const secret = (A: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop-config' }, stringData: { A } })

const template = (app: string) => ({ metadata: { labels: { app } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } })

const statefulSet = { spec: { serviceName: 'x', selector: { matchLabels: { app: 'x' } }, template: template('x') } }

const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
})
