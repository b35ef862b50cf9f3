/** All admission plugins, in the order in which the API server asks them. */

import type { Auth } from '../auth/authenticate.ts'
import { escalationCheck } from '../auth/escalation.ts'
import { createDefaultAccount } from '../bootstrap/namespace-contents.ts'
import type { AdmissionPlugin, Core } from '../core.ts'
import { defaultIngressClass, defaultStorageClass, storageProtection, volumeResize } from './default-classes.ts'
import { defaultTolerations } from './default-tolerations.ts'
import { expressionCheck } from './expression-check.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { ownerReferencesPermission } from './owner-references.ts'
import { podSecurity } from './pod-security.ts'
import { validatingPolicies } from './policies.ts'
import { priority } from './priority.ts'
import { resourceQuota } from './resource-quota.ts'
import { serviceAccounts } from './service-account.ts'
import { createWebhookCaller } from './webhook-call.ts'
import { mutatingWebhooks, validatingWebhooks } from './webhooks.ts'

export interface AdmissionOptions {
  /** Owner references need rights to their owners (`OwnerReferencesPermissionEnforcement`). Default: no, as in Kubernetes. */
  readonly ownerReferencesPermission?: boolean
}

export function admissionPlugins(core: Core, auth: Auth, options: AdmissionOptions = {}): AdmissionPlugin[] {
  const call = createWebhookCaller(core)
  return [
    escalationCheck(core, auth.rbac),
    expressionCheck(),
    namespaceLifecycle(core),
    limitRanger(core),
    serviceAccounts(core, (namespace) => createDefaultAccount(core, namespace)),
    podSecurity(core),
    priority(core),
    defaultTolerations(),
    defaultStorageClass(core),
    storageProtection(),
    ...(options.ownerReferencesPermission === true ? [ownerReferencesPermission(core)] : []),
    volumeResize(core),
    defaultIngressClass(core),
    mutatingWebhooks(core, call),
    validatingPolicies(core),
    validatingWebhooks(core, call),
    resourceQuota(core),
  ]
}
