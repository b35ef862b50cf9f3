/** What lets the API server ask the operator: its Service and certificate, the webhook configurations, and what the operator needs for them. */

import { type Endpoint, webhookConfigurations } from '../admission/configurations.ts'
import { convertedKinds, needsServing, secretNameOf, webhooksOf } from '../admission/webhooks.ts'
import type { CustomResourceDefinition } from '../resource/kind.ts'
import { type Manifest, type OperatorModel, selectorOf } from './operator.ts'
import type { Permission } from './permissions.ts'

/** Of the Service and the configurations; `tsop-run --webhook-service`. */
export const webhookServiceName = ({ name }: Pick<OperatorModel, 'name'>) => `${name}-webhook`
export const webhookSecretName = (model: Pick<OperatorModel, 'name'>) => secretNameOf(webhookServiceName(model))

export function endpointOf(model: OperatorModel): Endpoint {
  return { service: { namespace: model.home, name: webhookServiceName(model) } }
}

export interface WebhookOptions {
  /** cert-manager makes the certificate, and writes its authority; otherwise the operator does both. */
  readonly certManager?: boolean
}

/** By what they are; all empty where the classes have nothing to say about objects before they are stored. */
export interface WebhookParts {
  readonly service: readonly Manifest[]
  readonly certificate: readonly Manifest[]
  readonly configurations: readonly Manifest[]
}

export function webhookParts(model: OperatorModel, { certManager = false }: WebhookOptions = {}): WebhookParts {
  if (!needsServing(model.specs)) return { service: [], certificate: [], configurations: [] }
  const { namespaces, specs } = model
  const name = webhookServiceName(model)
  const annotations = certManager ? { annotations: injectFrom(model) } : {}
  return {
    service: [webhookServiceOf(model)],
    certificate: certManager ? issued(model) : [emptySecret(model)],
    configurations: webhookConfigurations(specs, {
      name,
      endpoint: endpointOf(model),
      namespaces,
      home: model.home,
      labels: selectorOf(model),
      ...annotations,
    }).map((each) => ({ ...each })),
  }
}

/** For definitions with a conversion, too (https://cert-manager.io/docs/concepts/ca-injector/). */
export function injectFrom(model: OperatorModel): Record<string, string> {
  return { 'cert-manager.io/inject-ca-from': `${model.home}/${webhookServiceName(model)}` }
}

/** The definition as cert-manager is to complete it; unchanged where it has nobody to trust. */
export function injected(crd: CustomResourceDefinition, annotations: Readonly<Record<string, string>>): CustomResourceDefinition {
  if (crd.spec['conversion'] === undefined) return crd
  return { ...crd, metadata: { ...crd.metadata, annotations: { ...crd.metadata.annotations, ...annotations } } }
}

export function webhookServiceOf(model: OperatorModel): Manifest {
  const labels = { ...selectorOf(model), 'app.kubernetes.io/component': 'webhook' }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: webhookServiceName(model), namespace: model.home, labels },
    spec: {
      selector: selectorOf(model),
      // The API server calls Services at 443.
      ports: [{ name: 'webhooks', port: 443, targetPort: 'webhooks' }],
      // A pod is ready once it has seen its objects, and to see those of another version the API server must ask a pod.
      ...(convertedKinds(model.specs).length > 0 ? { publishNotReadyAddresses: true } : {}),
    },
  }
}

/** The operator fills it: it needs no right to make Secrets. */
function emptySecret(model: OperatorModel): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: webhookSecretName(model), namespace: model.home, labels: selectorOf(model) },
    type: 'Opaque',
  }
}

function issued(model: OperatorModel): Manifest[] {
  const name = webhookServiceName(model)
  const metadata = { name, namespace: model.home, labels: selectorOf(model) }
  const host = `${name}.${model.home}.svc`
  return [
    { apiVersion: 'cert-manager.io/v1', kind: 'Issuer', metadata, spec: { selfSigned: {} } },
    {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      metadata,
      spec: {
        secretName: webhookSecretName(model),
        dnsNames: [host, `${host}.cluster.local`],
        issuerRef: { kind: 'Issuer', name },
        privateKey: { algorithm: 'ECDSA', rotationPolicy: 'Always' },
      },
    },
  ]
}

/** To look after its own certificate: the Secret, and where the API server looks for the authority. */
export function webhookPermissions(model: OperatorModel): Permission[] {
  if (!needsServing(model.specs)) return []
  const { home, specs } = model
  const name = webhookServiceName(model)
  const all = webhooksOf(specs)
  const group = 'admissionregistration.k8s.io'
  const targets = [
    ...(all.some(({ type }) => type === 'default') ? [{ group, resource: 'mutatingwebhookconfigurations', name }] : []),
    ...(all.some(({ type }) => type === 'validate') ? [{ group, resource: 'validatingwebhookconfigurations', name }] : []),
    ...convertedKinds(specs).flatMap(({ crd }) =>
      crd === undefined ? [] : [{ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', name: crd.metadata.name }],
    ),
  ]
  const secret = { group: '', resource: 'secrets', name: webhookSecretName(model), namespace: home }
  return [
    ...['get', 'update'].map((verb) => ({ ...secret, verb })),
    ...targets.flatMap((target) => ['get', 'patch'].map((verb) => ({ ...target, verb }))),
  ]
}
