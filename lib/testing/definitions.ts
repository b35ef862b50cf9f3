/** Makes the kinds of handlers known to the server. */

import { type Endpoint, withConversion } from '../admission/configurations.ts'
import type { Registry } from '../embedded/core.ts'
import type { ContextClient } from '../resource/context-client.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import { type Condition, type CustomResourceDefinition, groupOf, type KindRef, kindName } from '../resource/kind.ts'

type Crd = CustomResourceDefinition & { status?: { conditions?: readonly Condition[] } }

const Definition: KindRef<Crd> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
}

/** Every kind that the handlers name, with who names it. Those of others (`resourceFrom()`) count: nobody else brings them here. */
export function kindsOf(specs: readonly HandlerSpec[]): Map<KindRef<unknown>, string> {
  const kinds = new Map<KindRef<unknown>, string>()
  for (const { className, kind, owns, watches } of specs) {
    for (const each of [kind, ...owns.map((owned) => owned.kind), ...watches.map((watched) => watched.kind)]) {
      if (!kinds.has(each)) kinds.set(each, className)
    }
  }
  return kinds
}

/**
 * `settled`: lets the server establish what was written; `endpoint`: who converts between versions.
 *
 * @throws Error where the server refuses a definition
 */
export async function install(
  kinds: Iterable<KindRef<unknown>>,
  client: ContextClient,
  endpoint: Endpoint,
  settled: () => Promise<void>,
): Promise<void> {
  const crds = new Map<string, CustomResourceDefinition>()
  for (const each of kinds) {
    const crd = withConversion(each, endpoint)
    if (crd !== undefined) crds.set(crd.metadata.name, crd)
  }
  for (const [name, crd] of crds) {
    try {
      await client.apply(Definition, crd as never, { force: true })
    } catch (cause) {
      throw new Error(`the definition ${name} cannot be installed: ${(cause as Error).message}`, { cause })
    }
  }
  await settled()
  for (const name of crds.keys()) {
    const { status } = await client.get(Definition, { name })
    const of = (type: string) => status?.conditions?.find((each) => each.type === type)
    if (of('Established')?.status === 'True' && of('NamesAccepted')?.status === 'True') continue
    throw new Error(`the definition ${name} is not served: ${of('NamesAccepted')?.message ?? 'it is not established'}`)
  }
}

/** @throws Error for a kind that the server does not serve */
export function checkServed(kinds: ReadonlyMap<KindRef<unknown>, string>, registry: Registry): void {
  for (const [kind, className] of kinds) {
    const { apiVersion } = kind
    if (registry.findKind(groupOf(apiVersion), kind.kind, apiVersion.split('/').at(-1)) !== undefined) continue
    throw new Error(
      `${className}: nothing in this cluster defines ${kindName(kind)} (${apiVersion}): make the kind with resource() or resourceFrom(), ` +
        'or hand over one that has its definition: embedded({ kinds: [resourceFrom(…)] })',
    )
  }
}
