/**
 * Role-based access control over the stored roles and bindings. What is written holds for the next request; a real server
 * lags some milliseconds behind.
 */
import type { Attributes, Authorizer, Core } from '../core.ts'
import { type ApiError, notFound } from '../status.ts'
import type { ApiObject, User } from '../types.ts'
import { type PolicyRule, ruleAllows } from './rules.ts'
import { MASTERS, splitServiceAccount } from './service-account.ts'

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

  function* grants(user: User, namespace: string, errors: ApiError[]): Generator<Grant> {
    const bindings = [...lookup.list(GROUP, 'clusterrolebindings')]
    const scopes = [{ bindings, in: '' }]
    if (namespace !== '') scopes.push({ bindings: [...lookup.list(GROUP, 'rolebindings', namespace)], in: namespace })
    for (const scope of scopes) {
      for (const binding of scope.bindings) {
        const subject = (binding.subjects as Subject[] | undefined)?.find((each) => isSubject(each, user, scope.in))
        if (subject === undefined) continue
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

function isSubject(subject: Subject, user: User, bindingNamespace: string): boolean {
  if (subject.kind === 'User') return subject.name === user.name
  if (subject.kind === 'Group') return user.groups.includes(subject.name)
  if (subject.kind !== 'ServiceAccount') return false
  const account = splitServiceAccount(user.name)
  const namespace = subject.namespace || bindingNamespace
  return account !== undefined && account.name === subject.name && account.namespace === namespace
}

function describe({ binding, subject }: Grant): string {
  const { name, namespace } = binding.metadata
  const id = JSON.stringify(namespace === undefined ? name : `${name}/${namespace}`)
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || (namespace ?? '')}` : subject.name
  const what = `${binding.roleRef.kind} ${JSON.stringify(binding.roleRef.name)}`
  return `${namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'} ${id} of ${what} to ${subject.kind} ${JSON.stringify(who)}`
}
