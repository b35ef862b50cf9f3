/**
 * Nobody grants what they do not have: who writes a role must hold its rules (or may `escalate` it), who writes a binding the
 * rules of its role (or may `bind` it). The real server looks before it validates; so does this plugin, when it is the first.
 */
import type { AdmissionPlugin, AdmissionRequest, Core } from '../core.ts'
import { equalJson } from '../json.ts'
import { ApiError, forbiddenError, notFound } from '../status.ts'
import type { ApiObject } from '../types.ts'
import type { Rbac } from './rbac.ts'
import { compact, describeRule, type PolicyRule, quoteAll, uncovered } from './rules.ts'
import { MASTERS } from './service-account.ts'

const GROUP = 'rbac.authorization.k8s.io'

export function escalationCheck(core: Core, rbac: Rbac): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    mutate(request) {
      const { type, object, old, user } = request
      if (core.authorizer === undefined || type.group !== GROUP || object === undefined || request.subresource !== '') return
      if (user.groups.includes(MASTERS) || (old !== undefined && sameButForCollection(object, old))) return
      if (mayGrant(core, request, object)) return
      const wanted = wantedRules(rbac, request, object)
      const held = rbac.rulesFor(user, request.namespace).rules
      const missing = uncovered(held, wanted)
      if (missing.length === 0) return
      const rules = [...new Set(compact(missing).map(describeRule))].sort().join('\n')
      const who = `user ${JSON.stringify(user.name)} (groups=${quoteAll(user.groups)})`
      const text = `${who} is attempting to grant RBAC permissions not currently held:\n${rules}`
      throw forbiddenError(type, object.metadata.name ?? '', text)
    },
  }
}

/** The garbage collector's writes are nobody's grant. */
function sameButForCollection(object: ApiObject, old: ApiObject): boolean {
  const bare = ({ metadata, ...rest }: ApiObject) => {
    const { ownerReferences, finalizers, selfLink, managedFields, ...others } = metadata
    return { ...rest, metadata: others }
  }
  return equalJson(bare(object), bare(old))
}

function mayGrant(core: Core, { type, namespace, name, user }: AdmissionRequest, object: ApiObject): boolean {
  const { roleRef } = object
  const base = { user, group: GROUP, version: '*', subresource: '', namespace }
  const attributes =
    roleRef === undefined
      ? { ...base, verb: 'escalate', resource: type.resource, name }
      : { ...base, verb: 'bind', resource: roleRef.kind === 'Role' ? 'roles' : 'clusterroles', name: roleRef.name }
  return core.authorizer?.authorize(attributes).allowed === true
}

function wantedRules(rbac: Rbac, { type, namespace }: AdmissionRequest, object: ApiObject): readonly PolicyRule[] {
  if (object.roleRef !== undefined) {
    try {
      return rbac.rulesOf(object.roleRef, namespace)
    } catch (error) {
      throw error instanceof ApiError && error.code === 404 ? notFound(type, object.roleRef.name) : error
    }
  }
  return object.rules ?? []
}
