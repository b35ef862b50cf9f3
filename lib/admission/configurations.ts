/** What tells the API server whom to ask: webhook configurations, and the `conversion` of definitions. */

import { toMatchExpressions } from '../api/selectors.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import { type CustomResourceDefinition, groupOf, type KindRef } from '../resource/kind.ts'
import { servedNamespaces } from '../resource/served-namespaces.ts'
import { CONVERT_PATH, type Operation, type Webhook, webhooksOf } from './webhooks.ts'

/** How the API server reaches the operator. */
export type Endpoint =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number }; readonly caBundle?: string }
  /** `https://192.0.2.1:9443` */
  | { readonly url: string; readonly caBundle: string }

export interface ConfigurationOptions {
  /** Of both objects. */
  readonly name: string
  readonly endpoint: Endpoint
  /** Those that the operator serves. Undefined: all. */
  readonly namespaces?: readonly string[] | undefined
  /** The namespace that the operator runs in. Undefined: it runs in none, or nobody knows. */
  readonly home?: string | undefined
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export interface WebhookConfiguration {
  readonly apiVersion: 'admissionregistration.k8s.io/v1'
  readonly kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration'
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly webhooks: readonly { readonly name: string; readonly [field: string]: unknown }[]
}

/** None, one or both; the mutating one first. */
export function webhookConfigurations(specs: readonly HandlerSpec[], options: ConfigurationOptions): WebhookConfiguration[] {
  const all = webhooksOf(specs)
  const { name, labels, annotations } = options
  const metadata = { name, ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) }
  return (['default', 'validate'] as const).flatMap((type) => {
    const webhooks = all.filter((webhook) => webhook.type === type).map((webhook) => configured(webhook, options))
    const kind = type === 'default' ? ('MutatingWebhookConfiguration' as const) : ('ValidatingWebhookConfiguration' as const)
    return webhooks.length === 0 ? [] : [{ apiVersion: 'admissionregistration.k8s.io/v1' as const, kind, metadata, webhooks }]
  })
}

function configured(webhook: Webhook, { endpoint, namespaces, home }: ConfigurationOptions): WebhookConfiguration['webhooks'][number] {
  const { spec, name, path, failurePolicy, timeoutSeconds } = webhook
  const inNamespaces = [...among('In', servedNamespaces(spec, spec.kind, namespaces)), ...among('NotIn', spared(webhook, home))]
  const { labels } = spec.reconcile.options
  // A conversion may change labels: then only the operator knows.
  const selected = labels === undefined || spec.kind.conversion !== undefined ? undefined : toMatchExpressions(labels)
  return {
    name,
    clientConfig: clientConfig(endpoint, path),
    rules: rules(webhook),
    failurePolicy,
    // Whatever version is written, the class sees its own.
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds,
    admissionReviewVersions: ['v1'],
    // Later webhooks, also those of others, may leave something open again.
    ...(webhook.type === 'default' ? { reinvocationPolicy: 'IfNeeded' } : {}),
    ...(inNamespaces.length === 0 ? {} : { namespaceSelector: { matchExpressions: inNamespaces } }),
    // As it was or as it is to be: what the class has nothing to do with does not depend on the operator.
    ...(selected === undefined ? {} : { objectSelector: { matchExpressions: selected } }),
  }
}

const among = (operator: 'In' | 'NotIn', values: readonly string[] | undefined) =>
  values === undefined ? [] : [{ key: 'kubernetes.io/metadata.name', operator, values }]

/**
 * The namespaces without whose objects the operator, or the cluster, cannot come back while no pod answers: a Pod of the operator that nobody may
 * create is a lock whose key is inside (https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practices/).
 * Kinds that come with a definition of the operator's own are needed for neither; with `Ignore` nothing is locked.
 */
function spared({ spec: { kind }, failurePolicy }: Webhook, home: string | undefined): readonly string[] | undefined {
  const isOwn = kind.crd !== undefined && kind.foreign !== true
  const isIn = kind.scope === 'Namespaced' || (kind.apiVersion === 'v1' && kind.plural === 'namespaces')
  if (isOwn || !isIn || failurePolicy === 'Ignore') return undefined
  return [...new Set([...(home === undefined ? [] : [home]), 'kube-system'])]
}

function rules({ spec: { kind }, on }: Webhook): object[] {
  const { apiVersion, plural, scope } = kind
  const group = groupOf(apiVersion)
  const about = { apiGroups: [group], apiVersions: [group === '' ? apiVersion : apiVersion.slice(group.length + 1)] }
  const operations = ON.filter((each) => on.includes(each)).map((each) => each.toUpperCase())
  return [
    ...(operations.length === 0 ? [] : [{ ...about, operations, resources: [plural], scope }]),
    ...(on.includes('status') ? [{ ...about, operations: ['UPDATE'], resources: [`${plural}/status`], scope }] : []),
  ]
}

const ON: readonly Operation[] = ['create', 'update', 'delete']

export function clientConfig(endpoint: Endpoint, path: string): object {
  const { caBundle } = endpoint
  const ca = caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle).toString('base64') }
  if ('url' in endpoint) return { url: endpoint.url.replace(/\/+$/, '') + path, ...ca }
  return { service: { ...endpoint.service, path }, ...ca }
}

/** The definition with whom to ask for conversions; as it is where the kind needs nobody. */
export function withConversion(
  { crd, conversion }: { readonly crd?: KindRef['crd'] | undefined; readonly conversion?: KindRef['conversion'] | undefined },
  endpoint: Endpoint,
): CustomResourceDefinition | undefined {
  if (crd === undefined || conversion === undefined) return crd
  return { ...crd, spec: { ...crd.spec, conversion: conversionStanza(endpoint) } }
}

/**
 * The merge patch that a definition needs before `wanted` can be applied to it: it may name the other of Service and URL, which a server-side apply
 * would leave, and both are one too many. Undefined where it needs none.
 */
export function conversionSwitch(wanted: CustomResourceDefinition, live: CustomResourceDefinition): object | undefined {
  const next = clientConfigOf(wanted)
  const now = clientConfigOf(live)
  if (next === undefined || now === undefined || 'url' in next === 'url' in now) return undefined
  const clientConfig = { ...('url' in next ? { service: null } : { url: null }), caBundle: null, ...next }
  return { spec: { conversion: { webhook: { clientConfig } } } }
}

function clientConfigOf({ spec }: CustomResourceDefinition): object | undefined {
  return (spec['conversion'] as { webhook?: { clientConfig?: object } } | undefined)?.webhook?.clientConfig
}

function conversionStanza(endpoint: Endpoint): object {
  return { strategy: 'Webhook', webhook: { clientConfig: clientConfig(endpoint, CONVERT_PATH), conversionReviewVersions: ['v1'] } }
}
