/** The ClusterServiceVersion of a bundle: what OLM installs, for whom, with which rights, and what its kinds are. */

import { convertedKinds, webhooksOf } from '../admission/webhooks.ts'
import type { CustomResourceDefinition, CustomResourceVersion, KindRef } from '../resource/kind.ts'
import type { Schema } from '../resource/schema.ts'
import type { BundleModel } from './bundle.ts'
import { definitionsOf } from './crds.ts'
import { deployParts, metricsPermissions, operatorArguments } from './deploy.ts'
import { descriptorsOf, displayNameOf } from './descriptors.ts'
import type { Manifest, OperatorModel } from './operator.ts'
import { type Permission, permissionsOf, withoutCovered } from './permissions.ts'
import { leasePermissions } from './rbac.ts'
import { rulesOf } from './rules.ts'
import { webhookDefinitions } from './webhook-definitions.ts'

/** What a bundle of this operator cannot say; `message` says what to do. */
export class BundleError extends Error {
  override readonly name = 'BundleError'
}

export function clusterServiceVersion(model: BundleModel): Manifest {
  const { facts } = model
  const platforms = platformsOf(model)
  refuseUnsayable(model)
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: csvName(model, facts.version),
      annotations: annotationsOf(model),
      ...(platforms === undefined ? {} : { labels: platforms }),
    },
    spec: {
      displayName: facts.displayName,
      description: facts.description,
      version: facts.version,
      maturity: facts.maturity,
      minKubeVersion: facts.minKubeVersion,
      provider: facts.provider,
      maintainers: some(facts.maintainers),
      links: some(facts.links),
      keywords: some(facts.keywords),
      icon: facts.icon === undefined ? undefined : [facts.icon],
      replaces: facts.replaces === undefined ? undefined : csvName(model, facts.replaces),
      skips: some(facts.skips.map((version) => csvName(model, version))),
      installModes: installModes(model),
      customresourcedefinitions: { owned: some(ownedKinds(model)) },
      webhookdefinitions: some(webhookDefinitions(model)),
      install: { strategy: 'deployment', spec: { deployments: [deploymentOf(model)], ...permissionsByReach(model) } },
    },
  }
}

/** As catalogues know a version. It becomes the value of a label. */
export function csvName({ name }: Pick<OperatorModel, 'name'>, version: string): string {
  const csv = `${name}.v${version}`
  if (csv.length <= 63 && /^[a-z0-9.-]+$/.test(csv)) return csv
  throw new BundleError(
    `${csv} cannot be the name of a ClusterServiceVersion: at most 63 characters, and of them only lower case letters, digits, - and . ` +
      '(give another version, or a shorter --name)',
  )
}

const some = <T>(list: readonly T[]) => (list.length === 0 ? undefined : list)

function annotationsOf({ facts, examples, image, home }: BundleModel): Record<string, string> {
  const all = {
    'alm-examples': JSON.stringify(examples, undefined, 2),
    capabilities: facts.capabilities,
    categories: facts.categories.length === 0 ? undefined : facts.categories.join(', '),
    containerImage: image,
    description: facts.summary,
    'olm.skipRange': facts.skipRange,
    'operatorframework.io/suggested-namespace': home,
    repository: facts.repository,
    support: facts.provider.name,
  }
  return Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** For catalogues that show an operator only where its image runs. */
function platformsOf({ facts: { architectures } }: BundleModel): Record<string, string> | undefined {
  if (architectures.length === 0) return undefined
  const names = [...architectures.map((each) => `operatorframework.io/arch.${each}`), 'operatorframework.io/os.linux']
  return Object.fromEntries(names.map((name) => [name, 'supported']))
}

/** Whom an OperatorGroup may have it serve: everybody, or one namespace, its own or another. */
function installModes({ namespaces }: OperatorModel): object[] {
  const modes = namespaces === undefined ? ['AllNamespaces'] : ['OwnNamespace', 'SingleNamespace']
  return ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({ type, supported: modes.includes(type) }))
}

/** An entry for each version that is served. */
function ownedKinds(model: BundleModel): object[] {
  return definitionsOf(model.specs).flatMap((definition) =>
    definition.spec.versions.filter(({ served }) => served).map((version) => ownedKind(model, definition, version)),
  )
}

function ownedKind(
  { facts, specs }: BundleModel,
  { metadata: { name }, spec: { names } }: CustomResourceDefinition,
  version: CustomResourceVersion,
): object {
  const schema = version.schema?.openAPIV3Schema as Schema | undefined
  const said = facts.kinds[names.kind]
  const children = specs.filter(({ kind }) => kind.crd?.metadata.name === name).flatMap(({ owns }) => owns.map((owned) => owned.kind))
  return {
    name,
    version: version.name,
    kind: names.kind,
    displayName: said?.displayName ?? displayNameOf(names.kind),
    description: said?.description ?? schema?.description,
    resources: some(uniqueResources(children)),
    specDescriptors: some(descriptorsOf(schema?.properties?.['spec'])),
    statusDescriptors: some(descriptorsOf(schema?.properties?.['status'])),
  }
}

/** `name` is for those with a definition. */
function uniqueResources(kinds: readonly KindRef<unknown>[]): object[] {
  const all = new Map(kinds.map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind]))
  return [...all.values()].map(({ apiVersion, kind, crd }) => ({
    kind,
    name: crd?.metadata.name ?? '',
    version: apiVersion.split('/').at(-1),
  }))
}

/** What the namespace is called that OLM chose, in the pod. */
const SERVED = 'WATCH_NAMESPACE'
/** Where OLM mounts the certificate that it made for webhooks. */
const CERTIFICATES = '/tmp/k8s-webhook-server/serving-certs'

/** As everywhere else, but that OLM has the last word on the namespace, and makes the certificate. */
function deploymentOf(model: BundleModel): object {
  const [{ metadata, spec }] = deployParts(model).deployment as unknown as [{ metadata: Manifest['metadata']; spec: DeploymentSpec }]
  const [container] = spec.template.spec.containers
  const served = model.namespaces === undefined ? [] : [{ name: SERVED, valueFrom: { fieldRef: { fieldPath: TARGETS } } }]
  const own = {
    ...container,
    args: argumentsOf(model),
    env: [...container.env, ...served],
    ...(convertedKinds(model.specs).length === 0 ? {} : { readinessProbe: reachableEarly(container.readinessProbe) }),
  }
  const template = { ...spec.template, spec: { ...spec.template.spec, containers: [own] } }
  return { name: metadata.name, label: metadata.labels, spec: { ...spec, template } }
}

interface DeploymentSpec {
  readonly template: { readonly spec: { readonly containers: readonly [Container] } }
}
interface Container {
  readonly env: readonly object[]
  readonly readinessProbe: { readonly httpGet: object }
}

/** OLM writes it to every pod of the operator. */
const TARGETS = "metadata.annotations['olm.targetNamespaces']"

/**
 * The Service that OLM makes leads to ready pods only. One that has to see its objects first, which the API server asks it to convert, would wait
 * for itself.
 */
function reachableEarly(probe: Container['readinessProbe']): object {
  return { ...probe, httpGet: { ...probe.httpGet, path: '/livez' } }
}

function argumentsOf(model: BundleModel): string[] {
  const usual = operatorArguments({ ...model, namespaces: undefined }).filter((each) => !each.startsWith('--webhook-service='))
  return [
    ...usual,
    // The Lease is where the operator has rights whatever OLM it is, and one for each namespace that is served.
    ...(model.namespaces === undefined ? [] : [`--namespace=$(${SERVED})`, `--lease-namespace=$(${SERVED})`]),
    ...(webhookDefinitions(model).length === 0 ? [] : [`--webhook-cert-path=${CERTIFICATES}`]),
  ]
}

/**
 * OLM knows rights where the operator serves, and rights everywhere, and none in a namespace of a certain name. What is for such a one holds
 * everywhere, therefore (`widened` tells it).
 */
function permissionsByReach(model: BundleModel): object {
  const all = bundlePermissions(model)
  const list = (permissions: readonly Permission[]) =>
    permissions.length === 0 ? undefined : [{ serviceAccountName: model.name, rules: rulesOf(permissions) }]
  const inNamespace = all.filter((permission) => reachOf(model, permission) === 'served')
  const everywhere = all.filter((permission) => reachOf(model, permission) !== 'served')
  const bare = everywhere.map(({ namespace: _, ...permission }) => permission)
  return { permissions: list(inNamespace), clusterPermissions: list(withoutCovered(bare)) }
}

/** What the operator may do in all namespaces, although it needs it in one only. */
export function widened(model: BundleModel): Permission[] {
  return bundlePermissions(model).filter((permission) => reachOf(model, permission) === 'elsewhere')
}

/** Without those that concern webhooks: their certificate is OLM's business. */
function bundlePermissions(model: BundleModel): Permission[] {
  return withoutCovered([...permissionsOf(model.specs, model), ...leasePermissions(model), ...metricsPermissions(model)])
}

function reachOf({ home, namespaces = [] }: OperatorModel, { namespace }: Permission): 'served' | 'everywhere' | 'elsewhere' {
  if (namespace === undefined) return 'everywhere'
  return namespace === home || namespaces.includes(namespace) ? 'served' : 'elsewhere'
}

function refuseUnsayable({ namespaces, specs }: BundleModel): void {
  const asked = webhooksOf(specs).find(({ spec }) => spec.reconcile.options.namespaces !== undefined)
  if (asked !== undefined)
    throw new BundleError(
      `${asked.spec.className}: OLM has the API server ask about objects in every namespace that the operator serves, not only in those of ` +
        '@onReconcile: leave them out there, or write the class without @validates and @defaults',
    )
  if (namespaces === undefined) return
  if (namespaces.length > 1)
    throw new BundleError('OLM says at the installation which namespace is served: give -n once, with any name, or not at all for all')
  const limited = specs.find(({ reconcile }) => reconcile.options.namespaces !== undefined)
  if (limited !== undefined)
    throw new BundleError(`${limited.className}: OLM says which namespace is served, and so does @onReconcile: leave one of the two out`)
  if (convertedKinds(specs).length > 0)
    throw new BundleError('OLM takes conversions between versions only for operators that serve all namespaces: leave -n out')
}
