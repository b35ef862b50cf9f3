/**
 * An operator for the Operator Lifecycle Manager, as a bundle in the format registry+v1: what is installed, and what a catalogue says about it.
 * docs/decisions/0028-olm-bundle.md tells what a bundle cannot hold.
 */

import { definitionsOf } from './crds.ts'
import { clusterServiceVersion } from './csv.ts'
import { type DeployModel, deployParts } from './deploy.ts'
import type { Manifest } from './operator.ts'
import type { GeneratedFile } from './plan.ts'
import { userRoles } from './rbac.ts'
import { toYaml } from './yaml.ts'

/** What people say about their operator; nothing of it can be derived. Absent: nobody said it. */
export interface BundleFacts {
  /** Semantic. */
  readonly version: string
  readonly displayName: string
  /** One sentence. */
  readonly summary?: string
  /** Markdown. */
  readonly description?: string
  readonly provider: { readonly name: string; readonly url?: string }
  readonly maintainers: readonly { readonly name: string; readonly email: string }[]
  readonly links: readonly { readonly name: string; readonly url: string }[]
  readonly keywords: readonly string[]
  readonly categories: readonly string[]
  readonly capabilities: string
  readonly icon?: { readonly base64data: string; readonly mediatype: string }
  readonly maturity?: string
  readonly repository?: string
  readonly minKubeVersion: string
  /** The first is the default one. */
  readonly channels: readonly string[]
  /** The version that this one follows. */
  readonly replaces?: string
  readonly skips: readonly string[]
  readonly skipRange?: string
  /** Of the image: `amd64`, `arm64`, … */
  readonly architectures: readonly string[]
  /** By kind. */
  readonly kinds: Readonly<Record<string, { readonly displayName?: string; readonly description?: string }>>
}

export interface BundleModel extends DeployModel {
  readonly facts: BundleFacts
  /** Objects of the operator's kinds, to begin with. */
  readonly examples: readonly Manifest[]
}

/** Manifests that OLM takes beside the ClusterServiceVersion. Each is a file, for readers look at the first document only. */
export function bundleFiles(model: BundleModel): GeneratedFile[] {
  const { services, podDisruptionBudget } = deployParts(model)
  const definitions = definitionsOf(model.specs)
  const others = [
    ...services.filter(({ metadata }) => metadata.name.endsWith('-metrics')),
    ...podDisruptionBudget,
    ...userRoles(definitions),
  ].map(anywhere)
  return [
    { path: `manifests/${model.name}.clusterserviceversion.yaml`, content: toYaml(clusterServiceVersion(model)) },
    ...definitions.map((definition) => ({ path: `manifests/${definition.metadata.name}.crd.yaml`, content: toYaml(definition) })),
    ...others.map((object) => ({
      path: `manifests/${object.metadata.name}.${object.kind.toLowerCase()}.yaml`,
      content: toYaml(object),
    })),
    { path: 'metadata/annotations.yaml', content: toYaml({ annotations: bundleAnnotations(model) }) },
    { path: 'bundle.Dockerfile', content: bundleDockerfile(model) },
  ]
}

/** OLM says where. */
function anywhere({ apiVersion, kind, metadata: { namespace: _, ...metadata }, ...object }: Manifest): Manifest {
  return { apiVersion, kind, metadata, ...object }
}

/** https://olm.operatorframework.io/docs/tasks/creating-operator-bundle/#contents-of-annotationsyaml-and-the-dockerfile */
function bundleAnnotations({ name, facts: { channels } }: BundleModel): Record<string, string> {
  const key = (what: string) => `operators.operatorframework.io.bundle.${what}.v1`
  return {
    [key('mediatype')]: 'registry+v1',
    [key('manifests')]: 'manifests/',
    [key('metadata')]: 'metadata/',
    [key('package')]: name,
    [key('channels')]: channels.join(','),
    [key('channel.default')]: channels[0] ?? '',
  }
}

/** An image that holds these files and runs nothing. The folder with the file is the build context. */
function bundleDockerfile(model: BundleModel): string {
  const labels = Object.entries(bundleAnnotations(model)).map(([key, value]) => `LABEL ${key}=${value}`)
  return ['FROM scratch', ...labels, 'COPY manifests /manifests/', 'COPY metadata /metadata/', ''].join('\n')
}
