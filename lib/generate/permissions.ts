/** What an operator asks of the API server, derived from its classes: docs/reference/rbac.md as code. */

import type { HandlerSpec, Use } from '../resource/handler-spec.ts'
import { groupOf, type KindRef, kindName } from '../resource/kind.ts'
import { servedNamespaces } from '../resource/served-namespaces.ts'

/** One verb on one resource. */
export interface Permission {
  readonly group: string
  /** With its subresource: `databases/status`. */
  readonly resource: string
  readonly verb: string
  /** Undefined: of any name. */
  readonly name?: string
  /** Undefined: everywhere, or of a kind that is in no namespace. */
  readonly namespace?: string
}

export interface Scope {
  /** Those that the operator serves (`tsop-run -n`). Undefined: all. */
  readonly namespaces?: readonly string[] | undefined
}

/** A kind that says too little about itself. Discovery would tell, but nothing is asked while files are generated. */
export class UnknownPluralError extends Error {
  override readonly name = 'UnknownPluralError'

  constructor(ref: KindRef<unknown>) {
    super(
      `${kindName(ref)}: a role names its plural and scope, which this reference does not say: ` +
        `kind('${ref.apiVersion}', '${ref.kind}', { plural: '…', scope: 'Namespaced' })`,
    )
  }
}

/** Without repetition, and without what is allowed anyway because it is allowed everywhere. */
export function permissionsOf(specs: readonly HandlerSpec[], scope: Scope = {}): Permission[] {
  return withoutCovered(specs.flatMap((spec) => ofClass(spec, scope)))
}

export function withoutCovered(permissions: readonly Permission[]): Permission[] {
  const all = new Map(permissions.map((permission) => [key(permission), permission]))
  return [...all.values()].filter(({ name, namespace, ...wide }) => {
    const wider: Permission[] = [
      ...(namespace === undefined ? [] : [{ ...wide, ...(name === undefined ? {} : { name }) }]),
      ...(name === undefined ? [] : [{ ...wide, ...(namespace === undefined ? {} : { namespace }) }]),
      ...(name === undefined || namespace === undefined ? [] : [wide]),
    ]
    return !wider.some((each) => all.has(key(each)))
  })
}

/** Whether somebody who has `permissions` may do this. */
export function covers(permissions: readonly Permission[], { group, resource, verb, name, namespace }: Permission): boolean {
  return permissions.some(
    (each) =>
      each.group === group &&
      each.resource === resource &&
      each.verb === verb &&
      (each.name === undefined || each.name === name) &&
      (each.namespace === undefined || each.namespace === namespace),
  )
}

function key({ group, resource, verb, name = '', namespace = '' }: Permission): string {
  return [group, resource, verb, name, namespace].join(' ')
}

function ofClass(spec: HandlerSpec, scope: Scope): Permission[] {
  const { kind } = spec
  const where = (ref: KindRef<unknown>, own?: readonly string[]) => servedNamespaces(spec, ref, scope.namespaces, own)
  const grant = (ref: KindRef<unknown>, verbs: readonly string[], subresource?: string, own?: readonly string[]) =>
    permissions(ref, verbs, where(ref, own), subresource)
  return [
    // `get`: after a conflict, a write without an answer, and before a child is destroyed the object is read live.
    ...grant(kind, spec.onDelete === undefined ? READ : [...READ, 'patch']),
    ...(hasStatus(kind) ? grant(kind, ['patch'], 'status') : []),
    // Where the API server checks who blocks an owner's deletion (OwnerReferencesPermissionEnforcement).
    ...(spec.owns.length === 0 ? [] : grant(kind, ['update'], 'finalizers')),
    ...spec.owns.flatMap((owned) => grant(owned.kind, [...READ, 'create', 'patch', 'delete'])),
    ...spec.watches.flatMap(({ kind: watched, options }) => grant(watched, watchVerbs(options), undefined, options.namespaces)),
    ...eventPermissions(where(kind), kind.scope === 'Cluster'),
    ...(spec.reconcile.options.uses ?? []).flatMap((use) => usePermissions(use, where(use.kind, use.namespaces))),
  ]
}

const READ = ['get', 'list', 'watch']

/** A watch of all objects answers reads from what it holds; one of some objects cannot, so that they are live. */
function watchVerbs({ labels, fields }: { labels?: unknown; fields?: unknown }): string[] {
  return labels === undefined && fields === undefined ? ['list', 'watch'] : READ
}

function hasStatus({ status }: KindRef<unknown>): boolean {
  return status !== undefined && (status.conditions || status.observedGeneration || status.external)
}

/** Events of an object without a namespace go to `default`. */
function eventPermissions(namespaces: readonly string[] | undefined, ofCluster: boolean): Permission[] {
  return perNamespace(
    ['create', 'patch'].map((verb) => ({ group: 'events.k8s.io', resource: 'events', verb })),
    ofCluster ? ['default'] : namespaces,
  )
}

function usePermissions({ kind, verbs, subresource, names }: Use, namespaces: readonly string[] | undefined): Permission[] {
  const wide = permissions(kind, verbs, namespaces, subresource)
  if (names === undefined) return wide
  // There is no name yet when an object is created (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources).
  return wide.flatMap((each) => (each.verb === 'create' && subresource === undefined ? each : names.map((name) => ({ ...each, name }))))
}

function permissions(
  ref: KindRef<unknown>,
  verbs: readonly string[],
  namespaces: readonly string[] | undefined,
  subresource?: string,
): Permission[] {
  const { apiVersion, plural, scope } = ref
  if (plural === undefined || scope === undefined) throw new UnknownPluralError(ref)
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`
  return perNamespace(
    verbs.map((verb) => ({ group: groupOf(apiVersion), resource, verb })),
    namespaces,
  )
}

function perNamespace(permissions: readonly Permission[], namespaces: readonly string[] | undefined): Permission[] {
  if (namespaces === undefined) return [...permissions]
  return namespaces.flatMap((namespace) => permissions.map((permission) => ({ ...permission, namespace })))
}
