/**
 * Where a live object differs from the desired one, looking only at what is desired: the server adds defaults and others
 * add fields of their own, neither is a difference.
 */

import { isObject } from '../resource/is-object.ts'

/** Paths and the live values there, as one text; `''` where nothing differs. It serves to recognise a difference seen before. */
export function difference(desired: unknown, live: unknown): string {
  const found: string[] = []
  compare(desired, live, '', found)
  return found.join('\n')
}

function compare(desired: unknown, live: unknown, path: string, found: string[]): void {
  if (desired === undefined || desired === live) return
  if (desired === null) {
    if (live !== undefined && live !== null) found.push(`${path}=${JSON.stringify(live)}`)
    return
  }
  if (Array.isArray(desired) && Array.isArray(live) && desired.length === live.length) {
    for (let i = 0; i < desired.length; i++) compare(desired[i], live[i], `${path}[${i}]`, found)
    return
  }
  if (isObject(desired) && isObject(live)) {
    for (const key of Object.keys(desired)) compare(desired[key], live[key], `${path}.${key}`, found)
    return
  }
  // An empty object or list that is desired is dropped by the server.
  if (live === undefined && isEmpty(desired)) return
  found.push(`${path}=${JSON.stringify(live)}`)
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.values(value).every((v) => v === undefined)
}

/** JSON with sorted keys, so that equal objects give equal texts. What JSON leaves out (undefined, functions) is left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  if ('toJSON' in value && typeof value.toJSON === 'function') return value.toJSON()
  // Without a prototype, so that `__proto__` is a key like any other.
  const result: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value).sort()) result[key] = sorted((value as Record<string, unknown>)[key])
  return result
}
