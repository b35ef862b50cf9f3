/**
 * Optional, as on OpenShift: who sets an owner reference must be allowed to delete the object, and who blocks the owner's
 * deletion to update the owner's `finalizers`.
 */
import type { AdmissionPlugin, AdmissionRequest, Attributes, Core } from '../core.ts'
import { equalJson } from '../json.ts'
import type { OwnerReference } from '../types.ts'
import { refusal } from './refusal.ts'

export function ownerReferencesPermission(core: Core): AdmissionPlugin {
  const allowed = (attributes: Attributes) => core.authorizer?.authorize(attributes) ?? { allowed: true, reason: '' }
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    validate(request) {
      const { type, object, old, operation, user, namespace, name, subresource } = request
      if (core.authorizer === undefined || object === undefined) return
      const owners = object.metadata.ownerReferences ?? []
      const before = old?.metadata.ownerReferences ?? []
      if (equalJson(owners, before)) return
      if (operation !== 'CREATE') {
        const { group, version, resource } = type
        const { allowed: may, reason } = allowed({ user, verb: 'delete', group, version, resource, subresource, namespace, name })
        if (!may) throw refusal(request, `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`)
      }
      const blocking = owners.filter(
        (owner) => owner.blockOwnerDeletion && !before.some((each) => each.uid === owner.uid && each.blockOwnerDeletion),
      )
      const anything = {
        user,
        verb: 'update',
        group: '*',
        version: '*',
        resource: '*',
        subresource: 'finalizers',
        namespace: '',
        name: '*',
      }
      if (blocking.length === 0 || allowed(anything).allowed) return
      for (const owner of blocking) checkFinalizers(core, request, owner)
    },
  }
}

function checkFinalizers(core: Core, request: AdmissionRequest, owner: OwnerReference): void {
  const slash = owner.apiVersion.indexOf('/')
  const group = slash < 0 ? '' : owner.apiVersion.slice(0, slash)
  const version = owner.apiVersion.slice(slash + 1)
  const type = core.registry.findKind(group, owner.kind, version)
  if (type === undefined) {
    const mapping = `no matches for kind ${JSON.stringify(owner.kind)} in version ${JSON.stringify(owner.apiVersion)}`
    const text = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${owner.apiVersion} Kind ${owner.kind}`
    throw refusal(request, `${text}: ${mapping}`)
  }
  const attributes: Attributes = {
    user: request.user,
    verb: 'update',
    group,
    version,
    resource: type.resource,
    subresource: 'finalizers',
    namespace: type.namespaced ? request.namespace : '',
    name: owner.name,
  }
  const { allowed, reason } = core.authorizer?.authorize(attributes) ?? { allowed: true, reason: '' }
  if (allowed) return
  const text = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
  throw refusal(request, `${text}: ${reason}, <nil>`)
}
