/** Which built-in kind has which printer columns. The columns themselves are recorded; the cells are made here. */
import { recordedColumns } from '../../data/recorded.ts'
import type { TableColumn, TableColumns } from '../../types.ts'
import * as cluster from './cluster.ts'
import { type Cells, nameAndCreation } from './format.ts'
import * as network from './network.ts'
import { pod, podRowConditions } from './pods.ts'
import * as policy from './policy.ts'
import * as storage from './storage.ts'
import * as workloads from './workloads.ts'

/** By `group/version/resource`. */
const CELLS = new Map<string, Cells>(
  Object.entries({
    '/v1/componentstatuses': cluster.componentStatus,
    '/v1/configmaps': cluster.configMap,
    '/v1/endpoints': network.endpoints,
    '/v1/events': cluster.event,
    '/v1/limitranges': nameAndCreation,
    '/v1/namespaces': cluster.namespace,
    '/v1/nodes': cluster.node,
    '/v1/persistentvolumeclaims': storage.persistentVolumeClaim,
    '/v1/persistentvolumes': storage.persistentVolume,
    '/v1/pods': pod,
    '/v1/podtemplates': workloads.podTemplate,
    '/v1/replicationcontrollers': workloads.replicationController,
    '/v1/resourcequotas': cluster.resourceQuota,
    '/v1/secrets': cluster.secret,
    '/v1/serviceaccounts': cluster.onlyName,
    '/v1/services': network.service,
    'admissionregistration.k8s.io/v1/mutatingadmissionpolicies': policy.mutatingPolicy,
    'admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings': policy.policyBinding,
    'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations': policy.webhooks,
    'admissionregistration.k8s.io/v1/validatingadmissionpolicies': policy.validatingPolicy,
    'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings': policy.policyBinding,
    'admissionregistration.k8s.io/v1/validatingwebhookconfigurations': policy.webhooks,
    'apiextensions.k8s.io/v1/customresourcedefinitions': nameAndCreation,
    'apiregistration.k8s.io/v1/apiservices': policy.apiService,
    'apps/v1/controllerrevisions': workloads.controllerRevision,
    'apps/v1/daemonsets': workloads.daemonSet,
    'apps/v1/deployments': workloads.deployment,
    'apps/v1/replicasets': workloads.replicaSet,
    'apps/v1/statefulsets': workloads.statefulSet,
    'autoscaling/v1/horizontalpodautoscalers': workloads.autoscalerV1,
    'autoscaling/v2/horizontalpodautoscalers': workloads.autoscalerV2,
    'batch/v1/cronjobs': workloads.cronJob,
    'batch/v1/jobs': workloads.job,
    'certificates.k8s.io/v1/certificatesigningrequests': cluster.certificateSigningRequest,
    'coordination.k8s.io/v1/leases': cluster.lease,
    'discovery.k8s.io/v1/endpointslices': network.endpointSlice,
    'events.k8s.io/v1/events': cluster.event,
    'flowcontrol.apiserver.k8s.io/v1/flowschemas': policy.flowSchema,
    'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations': policy.priorityLevel,
    'networking.k8s.io/v1/ingressclasses': network.ingressClass,
    'networking.k8s.io/v1/ingresses': network.ingress,
    'networking.k8s.io/v1/ipaddresses': network.ipAddress,
    'networking.k8s.io/v1/networkpolicies': network.networkPolicy,
    'networking.k8s.io/v1/servicecidrs': network.serviceCidr,
    'node.k8s.io/v1/runtimeclasses': cluster.runtimeClass,
    'policy/v1/poddisruptionbudgets': workloads.podDisruptionBudget,
    'rbac.authorization.k8s.io/v1/clusterrolebindings': policy.binding,
    'rbac.authorization.k8s.io/v1/clusterroles': nameAndCreation,
    'rbac.authorization.k8s.io/v1/rolebindings': policy.binding,
    'rbac.authorization.k8s.io/v1/roles': nameAndCreation,
    'resource.k8s.io/v1/deviceclasses': cluster.onlyName,
    'resource.k8s.io/v1/resourceclaims': policy.resourceClaim,
    'resource.k8s.io/v1/resourceclaimtemplates': cluster.onlyName,
    'resource.k8s.io/v1/resourceslices': policy.resourceSlice,
    'scheduling.k8s.io/v1/priorityclasses': cluster.priorityClass,
    'storage.k8s.io/v1/csidrivers': storage.csiDriver,
    'storage.k8s.io/v1/csinodes': storage.csiNode,
    'storage.k8s.io/v1/csistoragecapacities': nameAndCreation,
    'storage.k8s.io/v1/storageclasses': storage.storageClass,
    'storage.k8s.io/v1/volumeattachments': storage.volumeAttachment,
    'storage.k8s.io/v1/volumeattributesclasses': storage.volumeAttributesClass,
  }),
)

/** Of `group/version/resource`; undefined: Name and Age. */
export function builtinColumns(key: string): TableColumns | undefined {
  const cells = CELLS.get(key)
  if (cells === undefined) return undefined
  return new RecordedColumns(key, cells, key === '/v1/pods' ? podRowConditions : undefined)
}

class RecordedColumns implements TableColumns {
  readonly #key: string
  readonly cells: Cells
  readonly conditions: TableColumns['conditions']

  constructor(key: string, cells: Cells, conditions: TableColumns['conditions']) {
    this.#key = key
    this.cells = cells
    this.conditions = conditions
  }

  /** Read with the first Table. */
  get columns(): readonly TableColumn[] {
    return recordedColumns(this.#key) ?? []
  }
}
