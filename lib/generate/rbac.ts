/** The service account of an operator, the narrowest roles it can work with, and roles for the people who use its kinds. */

import type { CustomResourceDefinition } from '../resource/kind.ts'
import { definitionsOf } from './crds.ts'
import { type Manifest, type OperatorModel, selectorOf } from './operator.ts'
import { type Permission, permissionsOf, withoutCovered } from './permissions.ts'
import type { GeneratedFile } from './plan.ts'
import { rulesOf } from './rules.ts'
import { webhookPermissions } from './webhooks.ts'
import { toYaml } from './yaml.ts'

export interface RbacOptions {
  /** Beyond what the classes say: of the way it is run, and what was observed. */
  readonly more?: readonly Permission[]
  /** The certificate of the webhooks is none of the operator's business. */
  readonly certManager?: boolean
}

const API_VERSION = 'rbac.authorization.k8s.io/v1'
const API_GROUP = 'rbac.authorization.k8s.io'

/** All that the operator itself needs. */
export function operatorPermissions(model: OperatorModel, { more = [], certManager = false }: RbacOptions = {}): Permission[] {
  const webhooks = certManager ? [] : webhookPermissions(model)
  return withoutCovered([...permissionsOf(model.specs, model), ...leasePermissions(model), ...webhooks, ...more])
}

/** For the election of a leader, which is on in a cluster. What does not exist yet has no name. */
export function leasePermissions({ name, home }: Pick<OperatorModel, 'name' | 'home'>): Permission[] {
  const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: home }
  return [...['get', 'update'].map((verb) => ({ ...lease, verb, name })), { ...lease, verb: 'create' }]
}

export function serviceAccount(model: OperatorModel): Manifest {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: model.name, namespace: model.home, labels: selectorOf(model) } }
}

/** A ClusterRole for what holds everywhere, a Role for each namespace; neither where it would be empty. Each with its binding. */
export function roles(model: OperatorModel, permissions: readonly Permission[]): Manifest[] {
  const byNamespace = Map.groupBy(permissions, ({ namespace }) => namespace)
  return [...byNamespace]
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .flatMap(([namespace, all]) => {
      const metadata = { name: model.name, ...(namespace === undefined ? {} : { namespace }), labels: selectorOf(model) }
      const prefix = namespace === undefined ? 'Cluster' : ''
      return [
        { apiVersion: API_VERSION, kind: `${prefix}Role`, metadata, rules: rulesOf(all) },
        {
          apiVersion: API_VERSION,
          kind: `${prefix}RoleBinding`,
          metadata,
          roleRef: { apiGroup: API_GROUP, kind: `${prefix}Role`, name: model.name },
          subjects: [{ kind: 'ServiceAccount', name: model.name, namespace: model.home }],
        },
      ]
    })
}

/**
 * Viewing and editing each kind, added to the roles `view`, and `edit` and `admin`, that every cluster has. Whoever may edit in one namespace has
 * no business with objects of the whole cluster: those are for whom the edit role is bound to.
 */
export function userRoles(definitions: readonly CustomResourceDefinition[]): Manifest[] {
  return definitions.flatMap(({ metadata: { name }, spec: { group, scope, names, versions } }) => {
    const served = versions.filter((version) => version.served)
    const has = (subresource: 'status' | 'scale') => served.some(({ subresources }) => subresources?.[subresource] !== undefined)
    const subresources = (['status', 'scale'] as const).filter(has).map((each) => `${names.plural}/${each}`)
    const read = { apiGroups: [group], resources: [names.plural], verbs: ['get', 'list', 'watch'] }
    const readParts = subresources.map((resource) => ({ apiGroups: [group], resources: [resource], verbs: ['get'] }))
    const write = { ...read, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }
    const scale = has('scale') ? [{ apiGroups: [group], resources: [`${names.plural}/scale`], verbs: ['update', 'patch'] }] : []
    const labelled = (role: string) => ({ [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' })
    return [
      clusterRole(`${name}-view`, labelled('view'), [read, ...readParts]),
      clusterRole(`${name}-edit`, scope === 'Cluster' ? undefined : labelled('edit'), [read, ...readParts, write, ...scale]),
    ]
  })
}

function clusterRole(name: string, labels: Record<string, string> | undefined, rules: readonly object[]): Manifest {
  return { apiVersion: API_VERSION, kind: 'ClusterRole', metadata: { name, ...(labels === undefined ? {} : { labels }) }, rules }
}

export function rbacFiles(model: OperatorModel, options: RbacOptions = {}): GeneratedFile[] {
  const users = userRoles(definitionsOf(model.specs))
  const files = [
    { path: 'service-account.yaml', objects: [serviceAccount(model)] },
    { path: 'role.yaml', objects: roles(model, operatorPermissions(model, options)) },
    { path: 'user-roles.yaml', objects: users },
  ].filter(({ objects }) => objects.length > 0)
  const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: files.map(({ path }) => path) }
  return [
    ...files.map(({ path, objects }) => ({ path, content: toYaml(...objects) })),
    { path: 'kustomization.yaml', content: toYaml(kustomization) },
  ]
}
