/**
 * Everything that an operator consists of in a cluster, as objects: install.yaml, kustomize and the Helm chart are made from these.
 * docs/operations/deploying.md says why each is as it is.
 */

import { needsServing } from '../admission/webhooks.ts'
import { definitionsOf } from './crds.ts'
import { fence, lease } from './fence.ts'
import { type Manifest, type OperatorModel, selectorOf } from './operator.ts'
import type { Permission } from './permissions.ts'
import { operatorPermissions, type RbacOptions, roles, serviceAccount, userRoles } from './rbac.ts'
import { endpointOf, webhookParts, webhookServiceName } from './webhooks.ts'

export interface DeployModel extends OperatorModel {
  readonly image: string
  readonly replicas: number
  /** How long runs may go on after SIGTERM. */
  readonly drainSeconds: number
  /** Metrics over TLS, for those who may read them. */
  readonly metricsSecure: boolean
}

/** By what they are for; each list may be empty. */
export interface DeployParts {
  readonly namespace: readonly Manifest[]
  readonly crds: readonly Manifest[]
  readonly rbac: readonly Manifest[]
  readonly deployment: readonly Manifest[]
  readonly services: readonly Manifest[]
  readonly networkPolicy: readonly Manifest[]
  readonly podDisruptionBudget: readonly Manifest[]
  readonly serviceMonitor: readonly Manifest[]
  /** By which the API server refuses what a former leader writes. */
  readonly fence: readonly Manifest[]
}

/** What the pod has beyond the drain: aborted runs, Events, the lease (docs/operations/deploying.md). */
export const GRACE_BEYOND_DRAIN = 10

const PROBES_PORT = 8081
export const WEBHOOK_PORT = 9443

export function deployParts(model: DeployModel): DeployParts {
  const permissions = deployPermissions(model)
  return {
    namespace: [namespace(model)],
    crds: definitionsOf(model.specs, endpointOf(model)) as unknown as Manifest[],
    rbac: [serviceAccount(model), ...roles(model, permissions), ...userRoles(definitionsOf(model.specs))],
    deployment: [deployment(model)],
    services: services(model),
    networkPolicy: [networkPolicy(model)],
    podDisruptionBudget: [podDisruptionBudget(model)],
    serviceMonitor: [serviceMonitor(model)],
    fence: [lease(model), ...fence(model)],
  }
}

export function deployPermissions(
  model: Pick<DeployModel, 'metricsSecure'> & OperatorModel,
  options: Pick<RbacOptions, 'certManager'> = {},
): Permission[] {
  return operatorPermissions(model, { ...options, more: metricsPermissions(model) })
}

export function metricsPermissions({ metricsSecure }: Pick<DeployModel, 'metricsSecure'>): readonly Permission[] {
  return metricsSecure ? REVIEWS : []
}

/** To ask the API server who wants to read metrics, and whether he may. */
export const REVIEWS: readonly Permission[] = [
  { group: 'authentication.k8s.io', resource: 'tokenreviews', verb: 'create' },
  { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verb: 'create' },
]

/** https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted */
function namespace(model: DeployModel): Manifest {
  const labels = { ...selectorOf(model), 'pod-security.kubernetes.io/enforce': 'restricted' }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: model.home, labels } }
}

export function metricsPort({ metricsSecure }: Pick<DeployModel, 'metricsSecure'>): number {
  return metricsSecure ? 8443 : 8080
}

/** Of `tsop-run`, as the container gets them. */
export function operatorArguments(model: DeployModel): string[] {
  const { operator, name, namespaces, metricsSecure, drainSeconds } = model
  return [
    `--name=${operator}`,
    ...(namespaces ?? []).map((each) => `--namespace=${each}`),
    `--lease-name=${name}`,
    ...(metricsSecure ? ['--metrics-secure'] : []),
    ...(hasWebhooks(model) ? [`--webhook-service=${webhookServiceName(model)}`] : []),
    `--graceful-shutdown-timeout=${drainSeconds}s`,
  ]
}

function deployment(model: DeployModel): Manifest {
  const { name, home: own, image, replicas, drainSeconds } = model
  const labels = selectorOf(model)
  const spread = (topologyKey: string) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: labels },
  })
  const probe = (path: string) => ({ httpGet: { path, port: 'probes' } })
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: own, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      // A standby of the new version is warm before one of the old goes.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels, annotations: { 'kubectl.kubernetes.io/default-container': 'operator' } },
        spec: {
          serviceAccountName: name,
          terminationGracePeriodSeconds: drainSeconds + GRACE_BEYOND_DRAIN,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'operator',
              image,
              args: operatorArguments(model),
              env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
              ports: [
                { name: 'metrics', containerPort: metricsPort(model) },
                { name: 'probes', containerPort: PROBES_PORT },
                ...(hasWebhooks(model) ? [{ name: 'webhooks', containerPort: WEBHOOK_PORT }] : []),
              ],
              livenessProbe: { ...probe('/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
              readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 },
              resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '256Mi' } },
              securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
            },
          ],
          topologySpreadConstraints: [spread('kubernetes.io/hostname'), spread('topology.kubernetes.io/zone')],
        },
      },
    },
  }
}

const hasWebhooks = ({ specs }: OperatorModel) => needsServing(specs)

function services(model: DeployModel): Manifest[] {
  const { name, home: own } = model
  const labels = selectorOf(model)
  const service = (suffix: string, port: string, number: number): Manifest => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `${name}-${suffix}`, namespace: own, labels: { ...labels, 'app.kubernetes.io/component': suffix } },
    spec: { selector: labels, ports: [{ name: port, port: number, targetPort: port }] },
  })
  return [service('metrics', 'metrics', metricsPort(model)), ...Object.values(webhookParts(model)).flat()]
}

/**
 * Incoming: metrics and webhooks; probes come from the node, which no policy can keep out. Outgoing is left open: where the API server is,
 * and what a handler calls outside, only the cluster's owner knows.
 */
function networkPolicy(model: DeployModel): Manifest {
  const { name, home: own } = model
  const labels = selectorOf(model)
  const ports = ['metrics', 'probes', ...(hasWebhooks(model) ? ['webhooks'] : [])].map((port) => ({ port, protocol: 'TCP' }))
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace: own, labels },
    spec: { podSelector: { matchLabels: labels }, policyTypes: ['Ingress'], ingress: [{ ports }] },
  }
}

/** A drain of nodes never takes the leader and its standby at once. Without a standby it takes the one there is: nothing waits for ever. */
function podDisruptionBudget(model: DeployModel): Manifest {
  const { name, home: own } = model
  const labels = selectorOf(model)
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: own, labels },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  }
}

/** https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.ServiceMonitor */
function serviceMonitor(model: DeployModel): Manifest {
  const { name, home: own, metricsSecure } = model
  const labels = selectorOf(model)
  const secure = {
    scheme: 'https',
    // The operator's certificate is made by itself; what is asked for is the reader's right, not the server's name.
    tlsConfig: { insecureSkipVerify: true },
    bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  }
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name, namespace: own, labels },
    spec: {
      selector: { matchLabels: { ...labels, 'app.kubernetes.io/component': 'metrics' } },
      endpoints: [{ port: 'metrics', ...(metricsSecure ? secure : {}) }],
    },
  }
}
