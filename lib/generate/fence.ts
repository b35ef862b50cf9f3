/**
 * The fence at the API server: a policy that takes the operator's writes only from the pod that the Lease names. It holds where no check in a process
 * can: for what a former leader sent, or will send.
 */

import { FENCED } from '../resource/fence.ts'
import { type Manifest, type OperatorModel, selectorOf } from './operator.ts'
import type { Permission } from './permissions.ts'
import type { GeneratedFile } from './plan.ts'
import { operatorPermissions, type RbacOptions } from './rbac.ts'
import { toYaml } from './yaml.ts'

const API_VERSION = 'admissionregistration.k8s.io/v1'
const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', '*'])
/** What every replica does, whoever leads: the election itself, Events, and questions that keep nothing. */
const FREE = new Set(['coordination.k8s.io leases', 'events.k8s.io events', ' events'])
const FREE_GROUPS = new Set(['authentication.k8s.io', 'authorization.k8s.io'])
const POD = 'authentication.kubernetes.io/pod-name'
const HOLDER = 'params.spec.holderIdentity'
const IS_HELD = `has(params.spec) && has(${HOLDER}) && ${HOLDER} != ''`

export function fenceFiles(model: OperatorModel, options: RbacOptions = {}): GeneratedFile[] {
  const files = [
    { path: 'lease.yaml', objects: [lease(model)] },
    { path: 'policy.yaml', objects: fence(model, options) },
  ]
  const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: files.map(({ path }) => path) }
  return [
    ...files.map(({ path, objects }) => ({ path, content: toYaml(...objects) })),
    { path: 'kustomization.yaml', content: toYaml(kustomization) },
  ]
}

/** The policy and its binding. */
export function fence(model: OperatorModel, options: RbacOptions = {}): Manifest[] {
  const permissions = operatorPermissions(model, options).filter(isFenced)
  const metadata = { name: `${model.name}-fence`, labels: selectorOf(model) }
  return [
    {
      apiVersion: API_VERSION,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        paramKind: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
        matchConstraints: { resourceRules: resourceRules(permissions) },
        // Before anything else: nobody but the operator is concerned.
        matchConditions: [
          { name: 'operator', expression: `request.userInfo.username == 'system:serviceaccount:${model.home}:${model.name}'` },
        ],
        validations: [
          {
            expression: `${IS_HELD} && '${POD}' in request.userInfo.extra && request.userInfo.extra['${POD}'][0] == ${HOLDER}`,
            messageExpression: `'${FENCED}: ' + (${IS_HELD} ? ${HOLDER} + ' holds it' : 'nobody holds it')`,
            reason: 'Forbidden',
          },
        ],
      },
    },
    {
      apiVersion: API_VERSION,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: metadata.name,
        validationActions: ['Deny'],
        // Not Deny: without the Lease the API server would refuse these resources to everybody, before it looks at who asks.
        paramRef: { name: model.name, namespace: model.home, parameterNotFoundAction: 'Allow' },
        ...namespaces(permissions),
      },
    },
  ]
}

/** Without a holder. An operator that has to make its Lease waits longer before it works, for it may have been deleted under a leader. */
export function lease(model: OperatorModel): Manifest {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: model.name, namespace: model.home, labels: selectorOf(model) },
  }
}

function isFenced({ group, resource, verb }: Permission): boolean {
  // `finalizers` is asked about and never written.
  return WRITES.has(verb) && !FREE.has(`${group} ${resource}`) && !FREE_GROUPS.has(group) && !resource.endsWith('/finalizers')
}

/** Of each resource that is written also the status, whoever writes it by then. */
function resourceRules(permissions: readonly Permission[]): object[] {
  const groups = Map.groupBy(permissions, ({ group }) => group)
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, all]) => {
      const written = all.flatMap(({ resource }) => (resource.includes('/') ? [resource] : [resource, `${resource}/status`]))
      return {
        apiGroups: [group],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE', 'DELETE'],
        resources: [...new Set(written)].sort(),
      }
    })
}

/** Where all that it may write is in a few namespaces, nobody else's writes are even looked at. */
function namespaces(permissions: readonly Permission[]): object {
  const names = [...new Set(permissions.map(({ namespace }) => namespace))]
  if (names.length === 0 || names.includes(undefined)) return {}
  const values = (names as string[]).sort()
  const matchExpressions = [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }]
  return { matchResources: { namespaceSelector: { matchExpressions } } }
}
