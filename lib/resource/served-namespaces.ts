import type { HandlerSpec } from './handler-spec.ts'
import type { KindRef } from './kind.ts'

/**
 * The namespaces in which a class watches a kind; undefined: all, or a cluster-scoped kind.
 *
 * `served` are the operator's (undefined: all), which the class's own narrow; what a watch names for itself (`watched`) is taken as it is.
 */
export function servedNamespaces(
  spec: HandlerSpec,
  { scope }: KindRef<unknown>,
  served: readonly string[] | undefined,
  watched?: readonly string[],
): readonly string[] | undefined {
  if (scope === 'Cluster') return undefined
  if (watched !== undefined) return watched
  const { namespaces } = spec.reconcile.options
  if (namespaces === undefined || served === undefined) return namespaces ?? served
  return namespaces.filter((namespace) => served.includes(namespace))
}
