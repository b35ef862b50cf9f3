/** Which strategy each built-in kind has; a kind that is not here follows the general rules. */
import { convertAutoscaler } from '../../conversion/autoscalers.ts'
import { convertEvent } from '../../conversion/events.ts'
import type { ApiObject, ResourceType, Strategy } from '../../types.ts'
import { builtinShape, type Shape } from '../shapes/shape.ts'
import * as admission from './admission.ts'
import { horizontalPodAutoscaler } from './autoscaler.ts'
import { persistentVolumeClaim } from './claims.ts'
import { configMap, secret, serviceAccount } from './config.ts'
import { endpointSlice, endpoints } from './endpoints.ts'
import { event, newEvent } from './event.ts'
import { cronJob, job } from './jobs.ts'
import { lease } from './lease.ts'
import { namespace, node } from './namespace.ts'
import { ingress, ingressClass, networkPolicy } from './networking.ts'
import * as others from './others.ts'
import { pod } from './pod.ts'
import { limitRange, podDisruptionBudget, priorityClass, resourceQuota } from './policy.ts'
import { clusterRole, clusterRoleBinding, role, roleBinding } from './rbac.ts'
import { service } from './service.ts'
import { conditionalAndReturned, conditionalOnly, csiDriver, persistentVolume, storageClass } from './storage.ts'
import { daemonSet, deployment, podTemplate, replicaSet, replicationController, statefulSet } from './workloads.ts'

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  '/configmaps': configMap,
  '/endpoints': endpoints,
  '/events': event,
  '/limitranges': limitRange,
  '/namespaces': namespace,
  '/nodes': node,
  '/persistentvolumeclaims': persistentVolumeClaim,
  '/persistentvolumes': persistentVolume,
  '/pods': pod,
  '/podtemplates': podTemplate,
  '/replicationcontrollers': replicationController,
  '/resourcequotas': resourceQuota,
  '/secrets': secret,
  '/serviceaccounts': serviceAccount,
  '/services': service,
  'admissionregistration.k8s.io/mutatingadmissionpolicies': admission.admissionPolicy,
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': admission.admissionPolicyBinding(false),
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': admission.mutatingWebhookConfiguration,
  'admissionregistration.k8s.io/validatingadmissionpolicies': admission.admissionPolicy,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': admission.admissionPolicyBinding(true),
  'admissionregistration.k8s.io/validatingwebhookconfigurations': admission.validatingWebhookConfiguration,
  'apps/controllerrevisions': others.controllerRevision,
  'apps/daemonsets': daemonSet,
  'apps/deployments': deployment,
  'apps/replicasets': replicaSet,
  'apps/statefulsets': statefulSet,
  'autoscaling/horizontalpodautoscalers': horizontalPodAutoscaler,
  'batch/cronjobs': cronJob,
  'batch/jobs': job,
  'certificates.k8s.io/certificatesigningrequests': others.certificateSigningRequest,
  'coordination.k8s.io/leases': lease,
  'discovery.k8s.io/endpointslices': endpointSlice,
  'flowcontrol.apiserver.k8s.io/flowschemas': others.flowSchema,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': others.priorityLevelConfiguration,
  'networking.k8s.io/ingresses': ingress,
  'networking.k8s.io/ingressclasses': ingressClass,
  'networking.k8s.io/networkpolicies': networkPolicy,
  'networking.k8s.io/servicecidrs': others.statusAlone,
  'node.k8s.io/runtimeclasses': others.runtimeClass,
  'policy/poddisruptionbudgets': podDisruptionBudget,
  'rbac.authorization.k8s.io/clusterrolebindings': clusterRoleBinding,
  'rbac.authorization.k8s.io/clusterroles': clusterRole,
  'rbac.authorization.k8s.io/rolebindings': roleBinding,
  'rbac.authorization.k8s.io/roles': role,
  'resource.k8s.io/deviceclasses': { generation: true, returnsDeleted: true },
  'resource.k8s.io/resourceclaims': { ...others.statusAlone, returnsDeleted: true },
  'resource.k8s.io/resourceclaimtemplates': { returnsDeleted: true },
  'resource.k8s.io/resourceslices': { generation: true, returnsDeleted: true },
  'scheduling.k8s.io/priorityclasses': priorityClass,
  'storage.k8s.io/csidrivers': csiDriver,
  'storage.k8s.io/csinodes': conditionalAndReturned,
  'storage.k8s.io/csistoragecapacities': conditionalOnly,
  'storage.k8s.io/storageclasses': storageClass,
  'storage.k8s.io/volumeattachments': { ...others.statusAlone, ...conditionalAndReturned },
  'storage.k8s.io/volumeattributesclasses': others.volumeAttributesClass,
}

const strategies = new Map(Object.entries(STRATEGIES))

/** By bucket key: `apps/deployments`, `/configmaps`. Stateless: all servers share them. */
export function builtinStrategies(): ReadonlyMap<string, Strategy> {
  return strategies
}

const CONVERSIONS = new Map([
  ['/events', convertEvent],
  ['autoscaling/horizontalpodautoscalers', convertAutoscaler],
])

/**
 * How objects of a built-in kind are decoded, written, and changed between its versions: what belongs to the Go type and not to
 * the strategy. Types are looked up with the first object: reading them all takes longer than starting.
 */
export function builtinCodec({
  group,
  version,
  kind,
  bucket,
  strategy,
}: ResourceType): Pick<ResourceType, 'strategy' | 'prune' | 'normalize' | 'convert'> {
  const shape = lazyShape(group, version, kind)
  const convert = CONVERSIONS.get(bucket)
  return {
    strategy: group === 'events.k8s.io' ? newEvent : strategy,
    prune: (object) => shape()?.decode(object) ?? [],
    normalize: (object) => shape()?.normalize(object),
    ...(convert === undefined ? {} : { convert: inShape(convert, kind) }),
  }
}

function lazyShape(group: string, version: string, kind: string): () => Shape | undefined {
  let shape: { found: Shape | undefined } | undefined
  return () => {
    shape ??= { found: builtinShape(group, version, kind) }
    return shape.found
  }
}

function inShape(convert: (object: ApiObject, toApiVersion: string) => ApiObject, kind: string): NonNullable<ResourceType['convert']> {
  return (object, toApiVersion) => {
    const converted = convert(object, toApiVersion)
    const slash = toApiVersion.indexOf('/')
    builtinShape(toApiVersion.slice(0, Math.max(slash, 0)), toApiVersion.slice(slash + 1), kind)?.normalize(converted)
    return converted
  }
}
