import { expect } from 'chai'
import { Secret, StatefulSet } from 'tsop/kinds'
import { Database } from '../../handlers/database.ts'
import { JobService } from '../../handlers/job-service/job-service.ts'
import { parseYaml } from '../../lib/resource/yaml.ts'
import { blocks, read } from '../unit/docs/markdown.ts'
import { inNamespace } from './cluster.ts'
import { type Rule, restrictedTo } from './fixtures/restricted.ts'

describe('the role in docs/reference/rbac.md', () => {
  it(
    'is all that the operator of handlers/ needs, from the first run of a database to its deletion',
    inNamespace(async (t) => {
      await t.install(Database)
      const provider = await JobService.start()
      t.onEnd(() => provider.stop())
      const { kubeconfig } = await restrictedTo(t, documentedRules())
      const env = { KUBECONFIG: kubeconfig, BACKUP_URL: provider.url, BACKUP_POLL: '200ms' }
      const operator = await t.startOperator({ handlers: 'handlers', env, args: ['--log-level', 'debug'] })

      await t.apply({ apiVersion: 'db.example.com/v1alpha1', kind: 'Database', metadata: { name: 'orders' }, spec: {} })
      const credentials = async () => (await t.client.get(Database, t.ref('orders'))).status?.credentials
      await t.until(credentials, 'the status to be written')
      await t.kubectl('patch', 'database', 'orders', '--type=merge', '-p', '{"spec":{"replicas":2}}')
      const replicas = async () => (await t.client.find(StatefulSet, t.ref('orders')))?.spec?.replicas
      await t.until(async () => (await replicas()) === 2, 'the StatefulSet to be changed')
      expect(await t.client.find(Secret, t.ref('orders-credentials'))).to.not.equal(undefined)

      await t.kubectl('delete', 'database', 'orders', '--wait=false')
      await t.until(() => provider.jobs.length > 0, 'the backup to be started')
      provider.finish(provider.jobs[0]!.key)
      await t.until(async () => (await t.client.find(Database, t.ref('orders'))) === undefined, 'the database to go')
      await t.until(async () => (await t.kubectl('get', 'events.events.k8s.io')).includes('BackedUp'), 'the event')
      await operator.stop()
      expect(operator.log).to.not.match(/forbidden|"status":403/i)
    }),
  )
})

function documentedRules(): Rule[] {
  const [block] = blocks(read('docs/reference/rbac.md'), 'yaml')
  const [role] = parseYaml(block?.text ?? '')
  if (role === undefined) throw new Error('docs/reference/rbac.md has no role')
  return (role.value as { rules: Rule[] }).rules
}
