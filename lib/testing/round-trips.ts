/** Whether conversions between the versions of a kind lose anything. */

import { equalJson } from '../api/patch.ts'
import { validateCustomResource } from '../embedded/schema/custom-resource.ts'
import { prune } from '../embedded/schema/prune.ts'
import type { ApiObject, Schema } from '../embedded/types.ts'
import type { Conversion } from '../resource/conversion.ts'
import type { KindRef, KubeObject } from '../resource/kind.ts'
import { examplesOf } from './examples.ts'

export interface RoundTripOptions {
  /** Objects to try, in any version; only what matters needs to be there, such as `spec`. Beside those that are made up. */
  readonly objects?: readonly object[]
  /** How many objects are made up for each version. Default 200. */
  readonly runs?: number
  /** Other objects. A failure says which ones it had. Default 1. */
  readonly seed?: number
}

/**
 * Converts objects to every other version and back, and fails where they are not the same then, or where a version on the way is not what its
 * schema says. Objects are made up from the schemas, one by one the same for each seed; rules in CEL and patterns are not known to it, so that a
 * field with a pattern needs examples: `z.string().regex(…).meta({ examples: ['5cm'] })`.
 *
 * @example
 * it('loses nothing between versions', () => assertRoundTrips(Database))
 *
 * @throws Error that names the object, the versions and the first field that differs
 */
export function assertRoundTrips(kind: KindRef<unknown>, { objects = [], runs = 200, seed = 1 }: RoundTripOptions = {}): void {
  const { conversion, crd } = kind
  if (conversion === undefined || crd === undefined) throw new TypeError(`${kind.kind} has no conversions: there is nothing to try`)
  const schemas = new Map(crd.spec.versions.map(({ name, schema }) => [name, (schema?.openAPIV3Schema ?? {}) as Schema]))
  const { group } = crd.spec
  const given = objects.map((object) => whole({ apiVersion: kind.apiVersion, ...object }, kind.kind))
  for (const object of given) tryObject(conversion, schemas, object, 'given')
  for (const [version, schema] of schemas) {
    const made = examplesOf(schema as never, seed)
    for (let i = 0; i < runs; i++) {
      const { spec, status } = made() as { spec?: object; status?: object }
      const parts = { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) }
      tryObject(conversion, schemas, whole({ apiVersion: `${group}/${version}`, ...parts }, kind.kind), `made up with seed ${seed}`)
    }
  }
}

/** As it is stored. */
function whole(object: object, kind: string): KubeObject {
  const metadata = { name: 'example', namespace: 'default', uid: '1', resourceVersion: '1', managedFields: [] }
  return { kind, ...object, metadata: { ...metadata, ...(object as { metadata?: object }).metadata } } as never
}

function tryObject(conversion: Conversion, schemas: ReadonlyMap<string, Schema>, object: KubeObject, origin: string): void {
  const version = versionOf(object)
  const check = (made: KubeObject, of: string, path: string) => {
    const problem = fault(made, schemas.get(of) ?? {})
    if (problem !== undefined) throw failure(`${path}: what comes out is no object of ${of}: ${problem}`, object, made, origin)
  }
  for (const other of conversion.versions) {
    if (other === version) continue
    const path = `${version} to ${other}`
    const there = conversion.convert(object, other)
    check(there, other, path)
    const back = conversion.convert(there, version)
    check(back, version, `${path} and back`)
    const field = difference(object, back, '')
    if (field !== undefined)
      throw failure(`${path} and back: ${field} is not the same: ${shownDifference(object, back, field)}`, object, there, origin)
  }
}

/** What an API server would drop or refuse. */
function fault(object: KubeObject, schema: Schema): string | undefined {
  const copy = JSON.parse(JSON.stringify(object)) as ApiObject
  const [unknown] = prune(copy, schema, { root: true })
  if (unknown !== undefined) return `${unknown} is no field of it`
  const [error] = validateCustomResource(copy, undefined, schema, '')
  return error === undefined ? undefined : `${error.field}: ${error.message}`
}

function failure(text: string, object: KubeObject, there: KubeObject, origin: string): Error {
  const shown = ({ apiVersion, spec, status }: KubeObject & { spec?: unknown; status?: unknown }) =>
    JSON.stringify({ apiVersion, spec, status })
  return new Error(`${text}\n  the object (${origin}): ${shown(object)}\n  converted: ${shown(there)}`)
}

/** The path of the first field that differs. */
function difference(a: unknown, b: unknown, path: string): string | undefined {
  if (equalJson(a, b)) return undefined
  if (!isFields(a) || !isFields(b)) return path
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(a[key], b[key], path === '' ? key : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return path
}

function shownDifference(a: unknown, b: unknown, path: string): string {
  const at = (value: unknown) => path.split('.').reduce<unknown>((node, key) => (isFields(node) ? node[key] : undefined), value)
  const text = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value))
  return `${text(at(a))} became ${text(at(b))}`
}

const isFields = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const versionOf = ({ apiVersion = '' }: KubeObject) => apiVersion.slice(apiVersion.indexOf('/') + 1)
