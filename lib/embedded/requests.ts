/** What was asked and how it was answered: counted for `/metrics`, and told to whoever wants to know. */
import type { Attributes } from './core.ts'
import type { ApiRequest } from './types.ts'

export interface ServedRequest {
  readonly request: ApiRequest
  /** Who asked, what for. Undefined where it did not get that far. */
  readonly attributes: Attributes | undefined
  readonly status: number
}

export class Requests {
  readonly #listeners = new Set<(served: ServedRequest) => void>()
  readonly #counts = new Map<string, number>()

  /** Calls `f` after each request has been answered; of a watch, when its answer begins. @returns what ends it */
  listen(f: (served: ServedRequest) => void): () => void {
    this.#listeners.add(f)
    return () => void this.#listeners.delete(f)
  }

  /** `counted`: it is for a resource that is served, so that names made up by clients do not fill the memory. */
  answered(request: ApiRequest, attributes: Attributes | undefined, status: number, counted: boolean): void {
    if (counted && attributes !== undefined) this.#count(request, attributes, status)
    if (this.#listeners.size === 0) return
    for (const listener of this.#listeners) listener({ request, attributes, status })
  }

  /** As kube-apiserver's `apiserver_request_total`: labels in the order of their names. */
  metrics(): string[] {
    return [
      '# HELP apiserver_request_total [STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
      '# TYPE apiserver_request_total counter',
      ...[...this.#counts].map(([labels, count]) => `apiserver_request_total{${labels}} ${count}`),
    ]
  }

  #count(request: ApiRequest, { verb, group, version, resource, subresource, namespace, name }: Attributes, status: number): void {
    const dryRun = request.url.includes('dryRun=All') ? 'All' : ''
    const scope = name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster'
    const labels =
      `code="${status}",component="apiserver",dry_run="${dryRun}",group="${group}",resource="${resource}",scope="${scope}",` +
      `subresource="${subresource}",verb="${metricVerb(request, verb)}",version="${version}"`
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1)
  }
}

const METHODS: Readonly<Record<string, string | undefined>> = { create: 'POST', update: 'PUT' }

function metricVerb({ headers }: ApiRequest, verb: string): string {
  if (verb === 'patch' && headers['content-type']?.startsWith('application/apply-patch') === true) return 'APPLY'
  return METHODS[verb] ?? verb.toUpperCase()
}
