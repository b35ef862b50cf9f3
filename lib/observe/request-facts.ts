/** What a request is about, from its path: for the names and attributes of spans (OpenTelemetry's semantic conventions for HTTP clients). */

import type { TransportRequest } from '../api/transport.ts'
import type { Attributes } from '../resource/observer.ts'

/** The name has no object's name in it: there must be few of them. */
export function requestFacts({ method, path }: TransportRequest, host: string): { name: string; attributes: Attributes } {
  const [pathname = ''] = path.split('?', 1)
  const parts = pathname.split('/').filter((part) => part !== '')
  const [version, ...rest] = parts[0] === 'api' ? [parts[1], ...parts.slice(2)] : [`${parts[1]}/${parts[2]}`, ...parts.slice(3)]
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2
  const [resource, name, subresource] = isNamespaced ? rest.slice(2) : rest
  const what = parts[0] !== 'api' && parts[0] !== 'apis' ? pathname : resource === undefined ? 'discovery' : resource
  const [address, port] = split(host)
  return {
    name: `${method} ${subresource === undefined ? what : `${what}/${subresource}`}`,
    attributes: {
      'http.request.method': method,
      'url.path': pathname,
      'server.address': address,
      'server.port': port,
      'k8s.api.version': version,
      'k8s.resource': resource,
      'k8s.namespace.name': isNamespaced ? rest[1] : undefined,
      'k8s.object.name': name,
    },
  }
}

function split(host: string): [string, number | undefined] {
  const [, address = host, port] = /^(.*):(\d+)$/.exec(host) ?? []
  return [address, port === undefined ? undefined : Number(port)]
}
