import { expect } from 'chai'
import { kind, onDelete, onReconcile, owns, type ReconcileOptions, resource, watches, z } from 'tsop'
import { ClusterRole, ConfigMap, Deployment, Pod, Secret } from 'tsop/kinds'
import { collect, type HandlerClass } from '../../../lib/decorators/collect.ts'
import { type Permission, permissionsOf } from '../../../lib/generate/permissions.ts'
import { operatorPermissions, roles, userRoles } from '../../../lib/generate/rbac.ts'
import { permissionsIn, rulesOf } from '../../../lib/generate/rules.ts'

const Widget = resource({ group: 'example.com', version: 'v1', kind: 'Widget', spec: z.object({}), status: z.object({}) })
const Site = resource({ group: 'example.com', version: 'v1', kind: 'Site', scope: 'Cluster', spec: z.object({}) })

describe('the permissions of a class', () => {
  it('are those of its decorators', () => {
    class Handler {
      @onReconcile(Widget)
      reconcile() {}
      @onDelete(Widget)
      remove() {}
      @owns(ConfigMap)
      config() {
        return {}
      }
      @watches(Secret)
      secret() {
        return []
      }
      @watches(Pod, { labels: 'app=x' })
      pod() {
        return []
      }
    }
    expect(of(Handler)).to.deep.equal([
      'get list watch create patch delete configmaps',
      'get list watch pods',
      'list watch secrets',
      'create patch events.events.k8s.io',
      'get list watch patch widgets.example.com',
      'update widgets/finalizers.example.com',
      'patch widgets/status.example.com',
    ])
  })

  it('leave out what a class without children, clean-up or status of its own does not need', () => {
    expect(of(reconciling(Deployment))).to.deep.equal(['get list watch deployments.apps', 'create patch events.events.k8s.io'])
  })

  it('have what the class says that it uses, by name and subresource where it says so', () => {
    const uses = [
      { kind: Pod, verbs: ['delete', 'list'] },
      { kind: Pod, verbs: ['create'], subresource: 'eviction' },
      { kind: ClusterRole, verbs: ['bind'], names: ['edit', 'view'] },
      { kind: ConfigMap, verbs: ['get', 'create'], names: ['settings'], namespaces: ['platform'] },
    ]
    const all = of(reconciling(Widget, { uses }))
    expect(all).to.include.members([
      'list delete pods',
      'create pods/eviction',
      'bind clusterroles.rbac.authorization.k8s.io edit,view',
      'get configmaps settings @platform',
      'create configmaps @platform',
    ])
  })

  it('hold in the namespaces that the operator serves, and the class', () => {
    expect(of(reconciling(Widget), ['a'])).to.deep.equal([
      'create patch events.events.k8s.io @a',
      'get list watch widgets.example.com @a',
      'patch widgets/status.example.com @a',
    ])
    const both = of(reconciling(Widget, { namespaces: ['a', 'b'] }), ['b', 'c'])
    expect(both.map((each) => each.split('@')[1])).to.deep.equal(['b', 'b', 'b'])
  })

  it('hold everywhere for a kind without namespaces, whose events go to the namespace default', () => {
    expect(of(reconciling(Site), ['a'])).to.have.members([
      'create patch events.events.k8s.io @default',
      'get list watch sites.example.com',
      'patch sites/status.example.com',
    ])
  })

  it('name no kind whose plural nobody knows', () => {
    expect(() => of(reconciling(kind('example.com/v1', 'Gizmo')))).to.throw(
      "Gizmo.example.com: a role names its plural and scope, which this reference does not say: kind('example.com/v1', 'Gizmo', { plural: '…', scope: 'Namespaced' })",
    )
  })

  it('have no wildcards, whatever a class says', () => {
    expect(() => of(reconciling(Widget, { uses: [{ kind: Pod, verbs: ['*'] }] }))).to.throw(
      "uses: expected verbs in each, such as ['get', 'delete']",
    )
    expect(() => of(reconciling(Widget, { uses: [{ kind: Pod, verbs: ['get'], names: ['*'] }] }))).to.throw(
      'uses: expected a list of names',
    )
  })
})

describe('the roles of an operator', () => {
  const model = (namespaces?: string[]) => ({
    operator: 'w',
    name: 'w',
    home: 'w-system',
    namespaces,
    specs: [collect(reconciling(Widget))],
  })
  const kindsOf = (namespaces?: string[]) =>
    roles(model(namespaces), operatorPermissions(model(namespaces))).map(({ kind: name, metadata }) =>
      `${name} ${metadata.namespace ?? ''}`.trim(),
    )

  it('are a ClusterRole, and a Role for the Lease', () => {
    expect(kindsOf()).to.deep.equal(['ClusterRole', 'ClusterRoleBinding', 'Role w-system', 'RoleBinding w-system'])
  })

  it('are a Role in each namespace where it serves some, and no ClusterRole', () => {
    expect(kindsOf(['a', 'b'])).to.deep.equal(
      ['a', 'b', 'w-system'].flatMap((namespace) => [`Role ${namespace}`, `RoleBinding ${namespace}`]),
    )
  })

  it('bind its service account, wherever they are', () => {
    for (const binding of roles(model(['a']), operatorPermissions(model(['a']))).filter(({ kind: name }) => name.endsWith('Binding')))
      expect(binding['subjects']).to.deep.equal([{ kind: 'ServiceAccount', name: 'w', namespace: 'w-system' }])
  })
})

describe('the roles of users', () => {
  it('are added to view and edit, but editing of what is in no namespace is not', () => {
    const labels = userRoles([Widget.crd, Site.crd] as never).map(({ metadata }) => [metadata.name, Object.keys(metadata.labels ?? {})])
    expect(labels).to.deep.equal([
      ['widgets.example.com-view', ['rbac.authorization.k8s.io/aggregate-to-view']],
      ['widgets.example.com-edit', ['rbac.authorization.k8s.io/aggregate-to-edit']],
      ['sites.example.com-view', ['rbac.authorization.k8s.io/aggregate-to-view']],
      ['sites.example.com-edit', []],
    ])
  })
})

describe('rules', () => {
  it('say what the permissions say, and no more', () => {
    const permissions = permissionsOf([collect(reconciling(Widget, { uses: [{ kind: ClusterRole, verbs: ['bind'], names: ['a', 'b'] }] }))])
    const key = (permission: Permission) => JSON.stringify(Object.entries(permission).sort())
    expect(permissionsIn(rulesOf(permissions)).map(key)).to.have.members(permissions.map(key))
  })
})

function reconciling(ref: Parameters<typeof onReconcile>[0], options?: ReconcileOptions<unknown>): HandlerClass {
  class Handler {
    @onReconcile(ref, options)
    reconcile() {}
  }
  return Handler
}

/** In short: `verbs resource.group names @namespace`, as rules merge them. */
function of(cls: HandlerClass, namespaces?: readonly string[]): string[] {
  const byNamespace = Map.groupBy(permissionsOf([collect(cls)], { namespaces }), ({ namespace }) => namespace)
  return [...byNamespace].flatMap(([namespace, all]) =>
    rulesOf(all).flatMap(({ apiGroups: [group], resources, resourceNames = [], verbs }) =>
      resources.map((each) =>
        [...verbs, `${each}${group === '' ? '' : `.${group}`}`, resourceNames.join(), namespace === undefined ? '' : `@${namespace}`]
          .filter(Boolean)
          .join(' '),
      ),
    ),
  )
}
