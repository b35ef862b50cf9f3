import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { systemClock } from '../../../lib/api/clock.ts'
import { inProcess } from '../../../lib/embedded/http/in-process.ts'
import { createServer } from '../../../lib/embedded/server.ts'
import { covers, type Permission, permissionsOf } from '../../../lib/generate/permissions.ts'
import { leasePermissions, roles } from '../../../lib/generate/rbac.ts'
import { missingLeaseVerbs } from '../../../lib/leadership/permissions.ts'
import { kind } from '../../../lib/resource/kind.ts'
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
  const all = leasePermissions(home)

  it('is what an election looks for at its start', async () => {
    expect(await missing(all)).to.deep.equal([])
    for (const removed of all) expect(await missing(all.filter((one) => one !== removed))).to.deep.equal([removed.verb])
  })

  async function missing(permissions: readonly Permission[]): Promise<readonly string[]> {
    const server = await createServer({ rbac: true })
    try {
      const transport = inProcess(server.handle, { clock: systemClock, headers: { authorization: `Bearer ${server.token}` } })
      const admin = new Client({ transport, clock: systemClock })
      const ref = (kind: string, plural: string) =>
        ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, plural, scope: 'Namespaced' }) as const
      await admin.create(kind('v1', 'Namespace', { plural: 'namespaces', scope: 'Cluster' }), { metadata: { name: home.home } })
      for (const object of roles({ ...home, operator: 'db', namespaces: undefined, specs: [] }, permissions))
        await admin.create(object.kind === 'Role' ? ref('Role', 'roles') : ref('RoleBinding', 'rolebindings'), object as never)
      const headers = { authorization: `Bearer ${server.token}`, 'impersonate-user': `system:serviceaccount:${home.home}:${home.name}` }
      const operator = inProcess(server.handle, { clock: systemClock, headers })
      return await missingLeaseVerbs(operator, { name: home.name, namespace: home.home }, new AbortController().signal)
    } finally {
      await server.close()
    }
  }
})

const text = ({ group, resource, verb, name = '' }: Permission) => `${verb} ${resource}.${group} ${name}`.trim()
