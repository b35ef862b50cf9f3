/** What the path of a request names: `k8s.io/apiserver/pkg/endpoints/request`'s RequestInfo. */

export interface ResourcePath {
  readonly group: string
  readonly version: string
  /** `undefined`: all namespaces, or a cluster-scoped kind. */
  readonly namespace: string | undefined
  readonly resource: string
  /** `''`: the collection. */
  readonly name: string
  readonly subresource: string
  /** What follows the subresource (`proxy/a/b`). */
  readonly rest: string
  /** The old form `/api/v1/watch/…`. */
  readonly watch: boolean
}

/** Undefined: not the path of a resource. Group and version alone are not one either: they are discovery's. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = split(path)
  if (parts === undefined) return undefined
  let next = 0
  let group = ''
  if (parts[0] === 'apis') {
    group = parts[1] ?? ''
    next = 2
  } else if (parts[0] === 'api') next = 1
  else return undefined
  const version = parts[next++]
  if (version === undefined) return undefined
  const watch = parts[next] === 'watch' && parts.length > next + 1
  if (watch) next++
  let namespace: string | undefined
  // `namespaces/x` alone is the namespace itself, and `finalize` and `status` are its subresources.
  if (parts[next] === 'namespaces' && parts.length > next + 2) {
    const after = parts[next + 2]
    if (group !== '' || (after !== 'status' && after !== 'finalize')) {
      // `namespaces//pods` names none: all.
      namespace = parts[next + 1] || undefined
      next += 2
    }
  }
  const resource = parts[next]
  if (resource === undefined) return undefined
  return {
    group,
    version,
    namespace,
    resource,
    name: parts[next + 1] ?? '',
    subresource: parts[next + 2] ?? '',
    rest: parts.slice(next + 3).join('/'),
    watch,
  }
}

/** A name may not hold a slash, however it is written. Undefined: the path is malformed. */
function split(path: string): string[] | undefined {
  try {
    const decoded = path.includes('%') ? decodeURIComponent(path) : path
    return decoded.replace(/^\/+|\/+$/g, '').split('/')
  } catch {
    return undefined
  }
}
