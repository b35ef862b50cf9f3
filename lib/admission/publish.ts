/** Writes the authority of the operator's certificate into what is in the cluster. */

import type { Client } from '../api/client.ts'
import type { JsonPatchOperation } from '../resource/context-client.ts'
import type { CustomResourceDefinition, KindRef, KubeObject } from '../resource/kind.ts'

export interface Targets {
  /** The name of the webhook configurations; undefined: there are none. */
  readonly mutating: string | undefined
  readonly validating: string | undefined
  /** Names of definitions with a conversion. */
  readonly definitions: readonly string[]
}

interface WithWebhooks extends KubeObject {
  webhooks?: { name: string; clientConfig: { caBundle?: string } }[]
}

const ADMISSION = 'admissionregistration.k8s.io/v1'
const CONFIGURATIONS = {
  mutating: { apiVersion: ADMISSION, kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations', scope: 'Cluster' },
  validating: {
    apiVersion: ADMISSION,
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    scope: 'Cluster',
  },
} as const satisfies Record<string, KindRef<WithWebhooks>>

type Definition = KubeObject & CustomResourceDefinition
const Definition: KindRef<Definition> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
}

/** Writes only what differs. All targets are tried. @throws the first error, where one is missing or may not be written */
export async function publishAuthorities(
  client: Client,
  { mutating, validating, definitions }: Targets,
  pem: string,
  signal?: AbortSignal,
): Promise<void> {
  const caBundle = Buffer.from(pem).toString('base64')
  const options = signal === undefined ? {} : { signal }
  const patch = async <O extends KubeObject>(kind: KindRef<O>, name: string, difference: (live: O) => JsonPatchOperation[]) => {
    const live = await client.get(kind, { name }, options)
    const value = difference(live)
    if (value.length === 0) return
    // As it was read: an index may be another webhook's by now.
    const test: JsonPatchOperation = { op: 'test', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion }
    await client.patch(kind, { name }, { type: 'json', value: [test, ...value] }, options)
  }
  const outcomes = await Promise.allSettled([
    ...(['mutating', 'validating'] as const).map(async (type) => {
      const name = { mutating, validating }[type]
      if (name !== undefined) await patch(CONFIGURATIONS[type] as KindRef<WithWebhooks>, name, (live) => ofWebhooks(live, caBundle))
    }),
    ...definitions.map((name) => patch(Definition, name, (live) => ofConversion(live, caBundle))),
  ])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

function ofWebhooks({ webhooks = [] }: WithWebhooks, caBundle: string): JsonPatchOperation[] {
  return webhooks.flatMap(({ clientConfig }, i) =>
    clientConfig.caBundle === caBundle ? [] : [{ op: 'add' as const, path: `/webhooks/${i}/clientConfig/caBundle`, value: caBundle }],
  )
}

function ofConversion({ metadata, spec }: Definition, caBundle: string): JsonPatchOperation[] {
  const conversion = spec['conversion'] as { strategy?: string; webhook?: { clientConfig?: { caBundle?: string } } } | undefined
  if (conversion?.webhook?.clientConfig === undefined) {
    throw new Error(
      `the definition ${metadata.name} does not say whom to ask for conversions: apply the one that tsop generate crds writes`,
    )
  }
  if (conversion.webhook.clientConfig.caBundle === caBundle) return []
  return [{ op: 'add', path: '/spec/conversion/webhook/clientConfig/caBundle', value: caBundle }]
}
