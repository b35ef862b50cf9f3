/** The same objects for `kubectl apply -f` and `kubectl apply -k`. */

import type { CertManagerParts } from './cert-manager.ts'
import type { DeployParts } from './deploy.ts'
import type { Manifest } from './operator.ts'
import type { GeneratedFile } from './plan.ts'
import { toYaml } from './yaml.ts'

/** One file for `kubectl apply -f`. What needs a kind that not every cluster has is not in it. */
export function installFile(parts: DeployParts): GeneratedFile {
  const { namespace, crds, rbac, services, networkPolicy, podDisruptionBudget, fence, deployment } = parts
  const objects = [...namespace, ...crds, ...rbac, ...services, ...networkPolicy, ...podDisruptionBudget, ...fence, ...deployment]
  return { path: 'install.yaml', content: toYaml(...objects) }
}

/**
 * A base that runs, and three overlays: `development` with one replica that says more, `production` as install.yaml has it, `monitoring` with
 * what Prometheus Operator reads beside that. Where the API server asks the operator, a component has cert-manager make the certificate, and a
 * fourth overlay is `production` with it.
 */
export function kustomizeFiles(parts: DeployParts, certManager?: CertManagerParts): GeneratedFile[] {
  const [deployment] = parts.deployment as readonly [Manifest]
  const { name } = deployment.metadata
  const { replicas: count } = deployment['spec'] as { replicas: number }
  const base = {
    'namespace.yaml': parts.namespace,
    'crds.yaml': parts.crds,
    'rbac.yaml': parts.rbac,
    'services.yaml': parts.services,
    'deployment.yaml': parts.deployment,
  }
  const target = { kind: 'Deployment', name }
  const development = [
    { op: 'replace', path: '/spec/replicas', value: 1 },
    { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: '--log-level=debug' },
  ]
  return [
    ...folder('kustomize/base', base, {}),
    ...folder(
      'kustomize/overlays/development',
      {},
      { resources: ['../../base'], patches: [{ target, patch: JSON.stringify(development) }] },
    ),
    ...folder(
      'kustomize/overlays/production',
      {
        'network-policy.yaml': parts.networkPolicy,
        'pod-disruption-budget.yaml': parts.podDisruptionBudget,
        'fence.yaml': parts.fence,
      },
      { resources: ['../../base'], replicas: [{ name, count }] },
    ),
    ...folder('kustomize/overlays/monitoring', { 'service-monitor.yaml': parts.serviceMonitor }, { resources: ['../production'] }),
    ...(certManager === undefined ? [] : certManagerFiles(certManager)),
  ]
}

function certManagerFiles({ added, changed, removed }: CertManagerParts): GeneratedFile[] {
  const target = ({ kind, metadata: { name, namespace } }: Manifest) => ({ kind, name, ...(namespace === undefined ? {} : { namespace }) })
  const patches = [
    ...changed.map(({ object, patch }) => ({ target: target(object), patch: JSON.stringify(patch) })),
    ...removed.map((object) => {
      const { apiVersion, kind, metadata } = object
      const gone = { $patch: 'delete', apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace } }
      return { target: target(object), patch: JSON.stringify(gone) }
    }),
  ]
  return [
    ...folder(
      'kustomize/components/cert-manager',
      { 'certificate.yaml': added },
      { apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component', patches },
    ),
    ...folder('kustomize/overlays/cert-manager', {}, { resources: ['../production'], components: ['../../components/cert-manager'] }),
  ]
}

function folder(
  path: string,
  files: Readonly<Record<string, readonly Manifest[]>>,
  { resources = [], ...more }: { resources?: string[]; [field: string]: unknown },
): GeneratedFile[] {
  const filled = Object.entries(files).filter(([, objects]) => objects.length > 0)
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [...resources, ...filled.map(([file]) => file)],
    ...more,
  }
  return [
    { path: `${path}/kustomization.yaml`, content: toYaml(kustomization) },
    ...filled.map(([file, objects]) => ({ path: `${path}/${file}`, content: toYaml(...objects) })),
  ]
}
