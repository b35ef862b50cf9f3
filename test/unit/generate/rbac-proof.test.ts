import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { systemClock } from '../../../lib/api/clock.ts'
import { inProcess } from '../../../lib/embedded/http/in-process.ts'
import { createServer, type EmbeddedServer } from '../../../lib/embedded/server.ts'
import { covers, type Permission, permissionsOf } from '../../../lib/generate/permissions.ts'
import { leasePermissions, roles } from '../../../lib/generate/rbac.ts'
import { Elector } from '../../../lib/leadership/elector.ts'
import { missingLeaseVerbs } from '../../../lib/leadership/permissions.ts'
import { kind } from '../../../lib/resource/kind.ts'
import { logTo } from '../../../lib/testing/log-lines.ts'
import { STORIES } from './stories.ts'
import { modelOf, underRoles } from './under-roles.ts'

/** Proved by running: nothing is missing, and nothing is too much. */
describe('the generated role', () => {
  for (const story of STORIES) {
    describe(`of the ${story.name}`, () => {
      const model = modelOf(story)
      const permissions = permissionsOf(model.specs)

      it('is enough for all that the operator does, and it does all of it', async () => {
        const { used, refused } = await underRoles(story, roles(model, permissions))
        expect(refused).to.deep.equal([])
        expect(permissions.filter((permission) => !used.some((one) => covers([permission], one))).map(text)).to.deep.equal([])
      }).timeout(20_000)

      it('lacks something as soon as any verb is taken out of it', async () => {
        const unnoticed: string[] = []
        for (const removed of permissions) {
          const rest = permissions.filter((permission) => permission !== removed)
          const { refused } = await underRoles(story, roles(model, rest))
          if (refused.length === 0) unnoticed.push(text(removed))
        }
        expect(unnoticed).to.deep.equal([])
      }).timeout(120_000)
    })
  }
})

describe('the generated role for the Lease', () => {
  const home = { name: 'db', home: 'db-system' }
  const lease = { name: home.name, namespace: home.home }
  const all = leasePermissions(home)
  const without = (removed: Permission) => all.filter((one) => one !== removed)

  it('is what an election looks for at its start', async () => {
    expect(await missing(all)).to.deep.equal([])
    for (const removed of all) expect(await missing(without(removed))).to.deep.equal([removed.verb])
  })

  it('is enough for all that an election does, and it does all of it', async () => {
    const { used, refused } = await election(all)
    expect(refused).to.deep.equal([])
    expect(all.filter((permission) => !used.some((one) => covers([permission], one))).map(text)).to.deep.equal([])
  }).timeout(20_000)

  it('lacks something as soon as any verb is taken out of it', async () => {
    for (const removed of all) expect((await election(without(removed))).refused).to.include(`${removed.verb} leases`)
  }).timeout(30_000)

  /** The Lease is made, taken, renewed and given up, and taken by the next one. It ends at the first refusal. */
  async function election(permissions: readonly Permission[]): Promise<{ used: Permission[]; refused: string[] }> {
    const used: Permission[] = []
    const refused: string[] = []
    await underRole(permissions, async (operator, server) => {
      server.core.requests.listen(({ attributes, status }) => {
        // Nobody else asks for one here.
        if (attributes?.resource !== 'leases') return
        const { verb, group, resource, namespace, name } = attributes
        if (status === 403) refused.push(`${verb} ${resource}`)
        else used.push({ group, resource, verb, namespace, name })
      })
      const renewed = () => used.filter(({ verb }) => verb === 'update').length
      for (const process of ['first', 'second']) {
        const elector = new Elector({
          client: new Client({ transport: operator, clock: systemClock }),
          clock: systemClock,
          random: () => 0.5,
          log: logTo(() => {}),
          lease,
          candidate: { identity: process, process },
          durations: { leaseMs: 2_000, renewMs: 1_000, retryMs: 100 },
          settleMs: 0,
          onLost() {},
        })
        elector.start()
        const before = renewed()
        for (const end = performance.now() + 8_000; refused.length === 0 && !(elector.leads && renewed() > before + 1); await pause(10))
          if (performance.now() > end) throw new Error(`${process} neither leads nor is refused anything`)
        await elector.release()
        if (refused.length > 0) return
      }
    })
    return { used, refused }
  }

  const missing = (permissions: readonly Permission[]) =>
    underRole(permissions, (operator) => missingLeaseVerbs(operator, lease, new AbortController().signal))

  const USER = `system:serviceaccount:${home.home}:${home.name}`

  async function underRole<T>(
    permissions: readonly Permission[],
    f: (operator: ReturnType<typeof inProcess>, server: EmbeddedServer) => Promise<T>,
  ): Promise<T> {
    const server = await createServer({ rbac: true })
    try {
      const transport = inProcess(server.handle, { clock: systemClock, headers: { authorization: `Bearer ${server.token}` } })
      const admin = new Client({ transport, clock: systemClock })
      const ref = (kind: string, plural: string) =>
        ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, plural, scope: 'Namespaced' }) as const
      await admin.create(kind('v1', 'Namespace', { plural: 'namespaces', scope: 'Cluster' }), { metadata: { name: home.home } })
      for (const object of roles({ ...home, operator: 'db', namespaces: undefined, specs: [] }, permissions))
        await admin.create(object.kind === 'Role' ? ref('Role', 'roles') : ref('RoleBinding', 'rolebindings'), object as never)
      const headers = { authorization: `Bearer ${server.token}`, 'impersonate-user': USER }
      return await f(inProcess(server.handle, { clock: systemClock, headers }), server)
    } finally {
      await server.close()
    }
  }
})

const text = ({ group, resource, verb, name = '' }: Permission) => `${verb} ${resource}.${group} ${name}`.trim()
