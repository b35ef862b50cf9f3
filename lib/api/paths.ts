/** URLs of the Kubernetes API: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris */

import type { KindRef, ObjectRef } from '../resource/kind.ts'
import { groupVersionPath } from './discovery.ts'

interface Place {
  readonly plural: string
  readonly namespaced: boolean
}

/** `/apis/apps/v1/namespaces/shop/deployments/web`, with `/status` or the like behind it where `subresource` says so. */
export function objectPath(kind: KindRef<unknown>, place: Place, ref: ObjectRef, subresource?: string): string {
  const collection = collectionPath(kind, place, ref.namespace, true)
  const object = `${collection}/${segment(kind, 'name', ref.name)}`
  return subresource === undefined ? object : `${object}/${subresource.split('/').map(encodeURIComponent).join('/')}`
}

/** `needed`: only one namespace makes sense, as for a new object; otherwise none stands for all of them. */
export function collectionPath(kind: KindRef<unknown>, place: Place, namespace: string | undefined, needed = false): string {
  const prefix = groupVersionPath(kind.apiVersion)
  const plural = encodeURIComponent(place.plural)
  if (!place.namespaced) {
    if (namespace) throw new TypeError(`${kind.kind} is cluster-scoped: leave out the namespace "${namespace}"`)
    return `${prefix}/${plural}`
  }
  if (!namespace) {
    if (needed) throw new TypeError(`${kind.kind} lives in a namespace: say which one`)
    return `${prefix}/${plural}`
  }
  return `${prefix}/namespaces/${segment(kind, 'namespace', namespace)}/${plural}`
}

/** `?a=b&c=d` of what is set; `''` where nothing is. */
export function query(parameters: Readonly<Record<string, string | undefined>>): string {
  let text = ''
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') text += `${text === '' ? '?' : '&'}${key}=${encodeURIComponent(value)}`
  }
  return text
}

/** What the API server accepts as part of a path (IsValidPathSegmentName of apimachinery); anything else would reach another URL. */
function segment(kind: KindRef<unknown>, what: 'name' | 'namespace', value: string): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${kind.kind}: the ${what} is missing`)
  if (value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new TypeError(`${kind.kind}: "${value}" cannot be a ${what}: it must not be "." or ".." nor contain "/" or "%"`)
  }
  return encodeURIComponent(value)
}
