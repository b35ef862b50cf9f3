/** Teams: a Namespace for each, with a quota, and the rights of its members there. */
import { type Context, onReconcile, owns, type Resource, resource, z } from 'tsop'
import { ClusterRole, Namespace, ResourceQuota, RoleBinding } from 'tsop/kinds'

export const Team = resource({
  group: 'org.example.com',
  version: 'v1alpha1',
  kind: 'Team',
  scope: 'Cluster',
  spec: z.object({
    members: z.array(z.string().min(1)).default([]).describe('Names of users who may edit what is in the namespace.'),
    pods: z.int().min(0).default(20).describe('How many pods the team may run.'),
  }),
  status: z.object({ namespace: z.string().optional() }),
})
export type Team = Resource<typeof Team>

export class TeamHandler {
  @owns(Namespace)
  namespace(team: Team) {
    return { metadata: { name: namespaceOf(team), labels: { 'org.example.com/team': team.metadata.name } } }
  }

  @owns(ResourceQuota)
  quota(team: Team) {
    return { metadata: { name: 'team', namespace: namespaceOf(team) }, spec: { hard: { pods: String(team.spec.pods) } } }
  }

  /** A binding without anybody in it is of no use: none, then. */
  @owns(RoleBinding)
  members(team: Team) {
    if (team.spec.members.length === 0) return undefined
    return {
      metadata: { name: 'team-members', namespace: namespaceOf(team) },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: team.spec.members.map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
    }
  }

  /** Nobody gives rights away that he does not have, but by `bind` those of a role that is named. */
  @onReconcile(Team, { uses: [{ kind: ClusterRole, verbs: ['bind'], names: ['edit'] }] })
  reconcile(team: Team, ctx: Context<Team>) {
    ctx.status.namespace = namespaceOf(team)
  }
}

function namespaceOf(team: Team): string {
  return `team-${team.metadata.name}`
}
