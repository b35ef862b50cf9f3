/**
 * Typed references to the built-in kinds: `tsop/kinds`.
 *
 * One table, from the discovery of a kube-apiserver 1.36 and the models of `@kubernetes/client-node`, which are imported as types
 * only: nothing of it is loaded at run time. Each name is the reference and the type of its objects. Any other kind:
 * `kind('example.com/v1', 'Thing')`, `resource()` or `resourceFrom()`.
 */

import type {
  CoreV1Event,
  EventsV1Event as EventsV1EventModel,
  ResourceV1ResourceClaim,
  V1APIService,
  V1CertificateSigningRequest,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1ControllerRevision,
  V1CronJob,
  V1CSIDriver,
  V1CSINode,
  V1CSIStorageCapacity,
  V1DaemonSet,
  V1Deployment,
  V1DeviceClass,
  V1EndpointSlice,
  V1Endpoints,
  V1FlowSchema,
  V1Ingress,
  V1IngressClass,
  V1IPAddress,
  V1Job,
  V1Lease,
  V1LimitRange,
  V1LocalSubjectAccessReview,
  V1MutatingAdmissionPolicy,
  V1MutatingAdmissionPolicyBinding,
  V1MutatingWebhookConfiguration,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1PodTemplate,
  V1PriorityClass,
  V1PriorityLevelConfiguration,
  V1ReplicaSet,
  V1ReplicationController,
  V1ResourceClaimTemplate,
  V1ResourceQuota,
  V1ResourceSlice,
  V1Role,
  V1RoleBinding,
  V1RuntimeClass,
  V1Secret,
  V1SelfSubjectAccessReview,
  V1SelfSubjectReview,
  V1SelfSubjectRulesReview,
  V1Service,
  V1ServiceAccount,
  V1ServiceCIDR,
  V1StatefulSet,
  V1StorageClass,
  V1SubjectAccessReview,
  V1TokenReview,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
  V1ValidatingWebhookConfiguration,
  V1VolumeAttachment,
  V1VolumeAttributesClass,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node'
import { type BuiltIn, type CustomResourceDefinition as Definition, kind, type ObjectMeta } from './kind.ts'

const namespaced = <O>(apiVersion: string, name: string, plural: string) => kind<O>(apiVersion, name, { plural, scope: 'Namespaced' })
const cluster = <O>(apiVersion: string, name: string, plural: string) => kind<O>(apiVersion, name, { plural, scope: 'Cluster' })

// v1
export type ConfigMap = BuiltIn<V1ConfigMap>
export const ConfigMap = namespaced<ConfigMap>('v1', 'ConfigMap', 'configmaps')
export type Endpoints = BuiltIn<V1Endpoints>
export const Endpoints = namespaced<Endpoints>('v1', 'Endpoints', 'endpoints')
export type Event = BuiltIn<CoreV1Event>
export const Event = namespaced<Event>('v1', 'Event', 'events')
export type LimitRange = BuiltIn<V1LimitRange>
export const LimitRange = namespaced<LimitRange>('v1', 'LimitRange', 'limitranges')
export type Namespace = BuiltIn<V1Namespace>
export const Namespace = cluster<Namespace>('v1', 'Namespace', 'namespaces')
export type Node = BuiltIn<V1Node>
export const Node = cluster<Node>('v1', 'Node', 'nodes')
export type PersistentVolumeClaim = BuiltIn<V1PersistentVolumeClaim>
export const PersistentVolumeClaim = namespaced<PersistentVolumeClaim>('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims')
export type PersistentVolume = BuiltIn<V1PersistentVolume>
export const PersistentVolume = cluster<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes')
export type Pod = BuiltIn<V1Pod>
export const Pod = namespaced<Pod>('v1', 'Pod', 'pods')
export type PodTemplate = BuiltIn<V1PodTemplate>
export const PodTemplate = namespaced<PodTemplate>('v1', 'PodTemplate', 'podtemplates')
export type ReplicationController = BuiltIn<V1ReplicationController>
export const ReplicationController = namespaced<ReplicationController>('v1', 'ReplicationController', 'replicationcontrollers')
export type ResourceQuota = BuiltIn<V1ResourceQuota>
export const ResourceQuota = namespaced<ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas')
export type Secret = BuiltIn<V1Secret>
export const Secret = namespaced<Secret>('v1', 'Secret', 'secrets')
export type ServiceAccount = BuiltIn<V1ServiceAccount>
export const ServiceAccount = namespaced<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts')
export type Service = BuiltIn<V1Service>
export const Service = namespaced<Service>('v1', 'Service', 'services')

// admissionregistration.k8s.io/v1
export type MutatingAdmissionPolicy = BuiltIn<V1MutatingAdmissionPolicy>
export const MutatingAdmissionPolicy = cluster<MutatingAdmissionPolicy>(
  'admissionregistration.k8s.io/v1',
  'MutatingAdmissionPolicy',
  'mutatingadmissionpolicies',
)
export type MutatingAdmissionPolicyBinding = BuiltIn<V1MutatingAdmissionPolicyBinding>
export const MutatingAdmissionPolicyBinding = cluster<MutatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1',
  'MutatingAdmissionPolicyBinding',
  'mutatingadmissionpolicybindings',
)
export type MutatingWebhookConfiguration = BuiltIn<V1MutatingWebhookConfiguration>
export const MutatingWebhookConfiguration = cluster<MutatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
)
export type ValidatingAdmissionPolicy = BuiltIn<V1ValidatingAdmissionPolicy>
export const ValidatingAdmissionPolicy = cluster<ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
)
export type ValidatingAdmissionPolicyBinding = BuiltIn<V1ValidatingAdmissionPolicyBinding>
export const ValidatingAdmissionPolicyBinding = cluster<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
)
export type ValidatingWebhookConfiguration = BuiltIn<V1ValidatingWebhookConfiguration>
export const ValidatingWebhookConfiguration = cluster<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
)

// apiextensions.k8s.io/v1
export type CustomResourceDefinition = Definition & { metadata: ObjectMeta }
export const CustomResourceDefinition = cluster<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
)

// apiregistration.k8s.io/v1
export type APIService = BuiltIn<V1APIService>
export const APIService = cluster<APIService>('apiregistration.k8s.io/v1', 'APIService', 'apiservices')

// apps/v1
export type ControllerRevision = BuiltIn<V1ControllerRevision>
export const ControllerRevision = namespaced<ControllerRevision>('apps/v1', 'ControllerRevision', 'controllerrevisions')
export type DaemonSet = BuiltIn<V1DaemonSet>
export const DaemonSet = namespaced<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets')
export type Deployment = BuiltIn<V1Deployment>
export const Deployment = namespaced<Deployment>('apps/v1', 'Deployment', 'deployments')
export type ReplicaSet = BuiltIn<V1ReplicaSet>
export const ReplicaSet = namespaced<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets')
export type StatefulSet = BuiltIn<V1StatefulSet>
export const StatefulSet = namespaced<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets')

// authentication.k8s.io/v1
export type SelfSubjectReview = BuiltIn<V1SelfSubjectReview>
export const SelfSubjectReview = cluster<SelfSubjectReview>('authentication.k8s.io/v1', 'SelfSubjectReview', 'selfsubjectreviews')
export type TokenReview = BuiltIn<V1TokenReview>
export const TokenReview = cluster<TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews')

// authorization.k8s.io/v1
export type LocalSubjectAccessReview = BuiltIn<V1LocalSubjectAccessReview>
export const LocalSubjectAccessReview = namespaced<LocalSubjectAccessReview>(
  'authorization.k8s.io/v1',
  'LocalSubjectAccessReview',
  'localsubjectaccessreviews',
)
export type SelfSubjectAccessReview = BuiltIn<V1SelfSubjectAccessReview>
export const SelfSubjectAccessReview = cluster<SelfSubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
)
export type SelfSubjectRulesReview = BuiltIn<V1SelfSubjectRulesReview>
export const SelfSubjectRulesReview = cluster<SelfSubjectRulesReview>(
  'authorization.k8s.io/v1',
  'SelfSubjectRulesReview',
  'selfsubjectrulesreviews',
)
export type SubjectAccessReview = BuiltIn<V1SubjectAccessReview>
export const SubjectAccessReview = cluster<SubjectAccessReview>('authorization.k8s.io/v1', 'SubjectAccessReview', 'subjectaccessreviews')

// autoscaling/v2
export type HorizontalPodAutoscaler = BuiltIn<V2HorizontalPodAutoscaler>
export const HorizontalPodAutoscaler = namespaced<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)

// batch/v1
export type CronJob = BuiltIn<V1CronJob>
export const CronJob = namespaced<CronJob>('batch/v1', 'CronJob', 'cronjobs')
export type Job = BuiltIn<V1Job>
export const Job = namespaced<Job>('batch/v1', 'Job', 'jobs')

// certificates.k8s.io/v1
export type CertificateSigningRequest = BuiltIn<V1CertificateSigningRequest>
export const CertificateSigningRequest = cluster<CertificateSigningRequest>(
  'certificates.k8s.io/v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
)

// coordination.k8s.io/v1
export type Lease = BuiltIn<V1Lease>
export const Lease = namespaced<Lease>('coordination.k8s.io/v1', 'Lease', 'leases')

// discovery.k8s.io/v1
export type EndpointSlice = BuiltIn<V1EndpointSlice>
export const EndpointSlice = namespaced<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices')

// events.k8s.io/v1
export type EventsV1Event = BuiltIn<EventsV1EventModel>
export const EventsV1Event = namespaced<EventsV1Event>('events.k8s.io/v1', 'Event', 'events')

// flowcontrol.apiserver.k8s.io/v1
export type FlowSchema = BuiltIn<V1FlowSchema>
export const FlowSchema = cluster<FlowSchema>('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', 'flowschemas')
export type PriorityLevelConfiguration = BuiltIn<V1PriorityLevelConfiguration>
export const PriorityLevelConfiguration = cluster<PriorityLevelConfiguration>(
  'flowcontrol.apiserver.k8s.io/v1',
  'PriorityLevelConfiguration',
  'prioritylevelconfigurations',
)

// networking.k8s.io/v1
export type IngressClass = BuiltIn<V1IngressClass>
export const IngressClass = cluster<IngressClass>('networking.k8s.io/v1', 'IngressClass', 'ingressclasses')
export type Ingress = BuiltIn<V1Ingress>
export const Ingress = namespaced<Ingress>('networking.k8s.io/v1', 'Ingress', 'ingresses')
export type IPAddress = BuiltIn<V1IPAddress>
export const IPAddress = cluster<IPAddress>('networking.k8s.io/v1', 'IPAddress', 'ipaddresses')
export type NetworkPolicy = BuiltIn<V1NetworkPolicy>
export const NetworkPolicy = namespaced<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies')
export type ServiceCIDR = BuiltIn<V1ServiceCIDR>
export const ServiceCIDR = cluster<ServiceCIDR>('networking.k8s.io/v1', 'ServiceCIDR', 'servicecidrs')

// node.k8s.io/v1
export type RuntimeClass = BuiltIn<V1RuntimeClass>
export const RuntimeClass = cluster<RuntimeClass>('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses')

// policy/v1
export type PodDisruptionBudget = BuiltIn<V1PodDisruptionBudget>
export const PodDisruptionBudget = namespaced<PodDisruptionBudget>('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets')

// rbac.authorization.k8s.io/v1
export type ClusterRoleBinding = BuiltIn<V1ClusterRoleBinding>
export const ClusterRoleBinding = cluster<ClusterRoleBinding>('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings')
export type ClusterRole = BuiltIn<V1ClusterRole>
export const ClusterRole = cluster<ClusterRole>('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles')
export type RoleBinding = BuiltIn<V1RoleBinding>
export const RoleBinding = namespaced<RoleBinding>('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings')
export type Role = BuiltIn<V1Role>
export const Role = namespaced<Role>('rbac.authorization.k8s.io/v1', 'Role', 'roles')

// resource.k8s.io/v1
export type DeviceClass = BuiltIn<V1DeviceClass>
export const DeviceClass = cluster<DeviceClass>('resource.k8s.io/v1', 'DeviceClass', 'deviceclasses')
export type ResourceClaim = BuiltIn<ResourceV1ResourceClaim>
export const ResourceClaim = namespaced<ResourceClaim>('resource.k8s.io/v1', 'ResourceClaim', 'resourceclaims')
export type ResourceClaimTemplate = BuiltIn<V1ResourceClaimTemplate>
export const ResourceClaimTemplate = namespaced<ResourceClaimTemplate>(
  'resource.k8s.io/v1',
  'ResourceClaimTemplate',
  'resourceclaimtemplates',
)
export type ResourceSlice = BuiltIn<V1ResourceSlice>
export const ResourceSlice = cluster<ResourceSlice>('resource.k8s.io/v1', 'ResourceSlice', 'resourceslices')

// scheduling.k8s.io/v1
export type PriorityClass = BuiltIn<V1PriorityClass>
export const PriorityClass = cluster<PriorityClass>('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses')

// storage.k8s.io/v1
export type CSIDriver = BuiltIn<V1CSIDriver>
export const CSIDriver = cluster<CSIDriver>('storage.k8s.io/v1', 'CSIDriver', 'csidrivers')
export type CSINode = BuiltIn<V1CSINode>
export const CSINode = cluster<CSINode>('storage.k8s.io/v1', 'CSINode', 'csinodes')
export type CSIStorageCapacity = BuiltIn<V1CSIStorageCapacity>
export const CSIStorageCapacity = namespaced<CSIStorageCapacity>('storage.k8s.io/v1', 'CSIStorageCapacity', 'csistoragecapacities')
export type StorageClass = BuiltIn<V1StorageClass>
export const StorageClass = cluster<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses')
export type VolumeAttachment = BuiltIn<V1VolumeAttachment>
export const VolumeAttachment = cluster<VolumeAttachment>('storage.k8s.io/v1', 'VolumeAttachment', 'volumeattachments')
export type VolumeAttributesClass = BuiltIn<V1VolumeAttributesClass>
export const VolumeAttributesClass = cluster<VolumeAttributesClass>('storage.k8s.io/v1', 'VolumeAttributesClass', 'volumeattributesclasses')
