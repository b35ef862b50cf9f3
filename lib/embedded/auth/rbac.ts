/**
 * Role-based access control over the stored roles and bindings. What is written holds for the next request; a real server
 * lags some milliseconds behind.
 */
import type { Attributes, Authorizer, Core } from '../core.ts'
import { type ApiError, notFound } from '../status.ts'
import type { ApiObject, User } from '../types.ts'
import { type PolicyRule, ruleAllows } from './rules.ts'
import { MASTERS, serviceAccountName } from './service-account.ts'

export interface RoleRef {
  readonly kind: string
  readonly name: string
}

interface Grant {
  readonly binding: ApiObject
  readonly subject: Subject
  readonly rules: readonly PolicyRule[]
}

interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export interface Rbac extends Authorizer {
  /** All rules that hold for `user` in `namespace` (`''`: those of cluster role bindings), and what could not be resolved. */
  rulesFor(user: User, namespace: string): { rules: PolicyRule[]; errors: ApiError[] }
  /** @throws ApiError 404 */
  rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[]
}

const GROUP = 'rbac.authorization.k8s.io'

export function createRbac(core: Core): Rbac {
  const { lookup } = core

  function rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[] {
    const resource = role.kind === 'Role' ? 'roles' : 'clusterroles'
    const found = lookup.get(GROUP, resource, role.kind === 'Role' ? namespace : '', role.name)
    // The server looks roles up by the singular, and says so.
    if (found === undefined) throw notFound({ group: GROUP, resource: resource.slice(0, -1), kind: role.kind }, role.name)
    return found.rules ?? []
  }

  const clusterBindings = bindingIndex(core, 'clusterrolebindings')
  const bindings = bindingIndex(core, 'rolebindings')

  function* grants(user: User, namespace: string, errors: ApiError[]): Generator<Grant> {
    const keys = subjectKeys(user)
    const scopes = namespace === '' ? [] : [{ found: bindings(namespace, keys), in: namespace }]
    for (const scope of [{ found: clusterBindings('', keys), in: '' }, ...scopes]) {
      for (const { binding, subject } of scope.found) {
        try {
          yield { binding, subject, rules: rulesOf(binding.roleRef, scope.in) }
        } catch (error) {
          errors.push(error as ApiError)
        }
      }
    }
  }

  return {
    authorize(request: Attributes) {
      // The server's own group is above all rules.
      if (request.user.groups.includes(MASTERS)) return { allowed: true, reason: '' }
      const errors: ApiError[] = []
      for (const grant of grants(request.user, request.namespace, errors)) {
        if (grant.rules.some((rule) => ruleAllows(rule, request))) return { allowed: true, reason: `RBAC: allowed by ${describe(grant)}` }
      }
      return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${joinErrors(errors)}` }
    },
    rulesFor(user, namespace) {
      const errors: ApiError[] = []
      const rules = [...grants(user, namespace, errors)].flatMap((grant) => grant.rules)
      return { rules, errors }
    },
    rulesOf,
  }
}

/** As Go's aggregate of errors prints itself. */
export function joinErrors(errors: readonly Error[]): string {
  const texts = [...new Set(errors.map((error) => error.message))]
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`
}

interface Bound {
  readonly binding: ApiObject
  /** The first one that is the user. */
  readonly subject: Subject
  readonly position: number
}

/** Of a namespace, by subject; made anew when a binding has changed. In the order of the bindings, each once. */
function bindingIndex(core: Core, resource: string): (namespace: string, keys: readonly string[]) => readonly Bound[] {
  const indexes = new Map<string, ReadonlyMap<string, readonly Bound[]>>()
  core.store.bucket(`${GROUP}/${resource}`).watch(core.store.revision, ({ namespace }) => void indexes.delete(namespace))
  return (namespace, keys) => {
    let index = indexes.get(namespace)
    if (index === undefined) {
      index = indexBySubject(core.lookup.list(GROUP, resource, namespace === '' ? undefined : namespace), namespace)
      indexes.set(namespace, index)
    }
    const found = new Map<ApiObject, Bound>()
    for (const key of keys) for (const bound of index.get(key) ?? []) if (!found.has(bound.binding)) found.set(bound.binding, bound)
    return [...found.values()].sort((a, b) => a.position - b.position)
  }
}

function indexBySubject(bindings: readonly ApiObject[], namespace: string): ReadonlyMap<string, readonly Bound[]> {
  const index = new Map<string, Bound[]>()
  for (const [position, binding] of bindings.entries()) {
    for (const subject of (binding.subjects ?? []) as Subject[]) {
      const key = keyOf(subject, namespace)
      if (key === undefined) continue
      const known = index.get(key)
      if (known === undefined) index.set(key, [{ binding, subject, position }])
      else known.push({ binding, subject, position })
    }
  }
  return index
}

/** Service accounts are users with a long name. */
function keyOf(subject: Subject, bindingNamespace: string): string | undefined {
  if (subject.kind === 'User') return `user ${subject.name}`
  if (subject.kind === 'Group') return `group ${subject.name}`
  if (subject.kind !== 'ServiceAccount') return undefined
  const namespace = subject.namespace || bindingNamespace
  return namespace === '' ? undefined : `user ${serviceAccountName(namespace, subject.name)}`
}

const subjectKeys = ({ name, groups }: User): string[] => [`user ${name}`, ...groups.map((group) => `group ${group}`)]

function describe({ binding, subject }: Grant): string {
  const { name, namespace } = binding.metadata
  const id = JSON.stringify(namespace === undefined ? name : `${name}/${namespace}`)
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || (namespace ?? '')}` : subject.name
  const what = `${binding.roleRef.kind} ${JSON.stringify(binding.roleRef.name)}`
  return `${namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'} ${id} of ${what} to ${subject.kind} ${JSON.stringify(who)}`
}
