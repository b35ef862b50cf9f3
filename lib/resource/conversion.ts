/**
 * Between the versions of a kind. All conversions go through the version that handlers see: a version knows how to become that one, and how
 * to be made from it (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/).
 */

import { breaksSchema } from './breaks-schema.ts'
import { isRefusal } from './invalid.ts'
import { groupOf, type KubeObject, keyOf, kindName, type ObjectMeta } from './kind.ts'
import { lastRead } from './last-read.ts'
import { jsonPart, NoJsonError, plainJson } from './plain-json.ts'
import type { Schema } from './schema.ts'

/** What a conversion gets: a copy of the whole object. */
export interface Convertible<S, T> {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec: S
  status?: Partial<T>
}

/**
 * What a conversion returns. What it leaves out stays as it is; so do metadata beside labels and annotations, which nobody may change, and
 * those fields of the status that come by themselves.
 */
export interface Converted<S, T> {
  spec?: S
  status?: Partial<T> | undefined
  /** Each whole: what a version has no field for can be kept in an annotation. */
  metadata?: { readonly labels?: Record<string, string> | undefined; readonly annotations?: Record<string, string> | undefined }
}

/** Both directions of a version, unchecked. */
export interface VersionConversion {
  readonly version: string
  readonly to?: ((object: never) => unknown) | undefined
  readonly from?: ((object: never) => unknown) | undefined
}

/** What a kind made by `resource()` with conversions carries. */
export interface Conversion {
  /** The version that handlers see. */
  readonly hub: string
  /** All of them. */
  readonly versions: readonly string[]
  /**
   * The object in another version; the given one is not changed.
   *
   * @throws ConversionError
   */
  convert(object: KubeObject, version: string): KubeObject
}

const CONVERSION_ERROR = Symbol.for('tsop.ConversionError')

/** Names object, versions and, where it is known, the field. Its message is fit for whoever sent the object; `cause` is for the log. */
export class ConversionError extends Error {
  readonly [CONVERSION_ERROR] = true
  /** Such as `spec.size`. */
  readonly field: string | undefined

  constructor(message: string, field?: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'ConversionError'
    this.field = field
  }
}

export function isConversionError(error: unknown): error is ConversionError {
  return typeof error === 'object' && error !== null && CONVERSION_ERROR in error
}

/** Undefined where no version has a conversion: then only the apiVersion differs between them. */
export function conversionOf(
  { group, kind, version: hub }: { readonly group: string; readonly kind: string; readonly version: string },
  others: readonly VersionConversion[],
  schemas: ReadonlyMap<string, Schema>,
): Conversion | undefined {
  for (const { version, to, from } of others) {
    const refuse = (text: string): never => {
      throw new TypeError(`resource ${kind}: versions: ${version}: ${text}`)
    }
    for (const [name, f] of [
      ['to', to],
      ['from', from],
    ] as const) {
      if (f !== undefined && typeof f !== 'function') refuse(`${name}: expected a function, not ${JSON.stringify(f)}`)
    }
    if (to !== undefined && from === undefined) refuse(`it has to, which makes a ${hub} of it, but no from, which makes it of a ${hub}`)
    if (from !== undefined && to === undefined) refuse(`it has from, which makes it of a ${hub}, but no to, which makes a ${hub} of it`)
  }
  if (others.every(({ to }) => to === undefined)) return undefined
  const known = new Map(others.map((each) => [each.version, each]))
  const versions = [hub, ...known.keys()]
  return {
    hub,
    versions,
    convert(object, target) {
      const source = versionIn(object, group, kind, versions)
      if (!versions.includes(target)) throw new ConversionError(`${nameOf(object, kind)}: there is no version ${target}`)
      const step = (from: KubeObject, version: string, direction: 'to' | 'from', other: VersionConversion | undefined) =>
        converted(from, {
          kind,
          source: versionOf(from),
          apiVersion: `${group}/${version}`,
          direction,
          f: other?.[direction],
          isPart: isPart(object, from, schemas),
        })
      let current = plainJson(object) as KubeObject
      if (source === target) return current
      if (source !== hub) current = step(current, hub, 'to', known.get(source))
      if (target !== hub) current = step(current, target, 'from', known.get(target))
      return current
    },
  }
}

interface Step {
  readonly kind: string
  readonly source: string
  readonly apiVersion: string
  readonly direction: 'to' | 'from'
  readonly f: ((object: never) => unknown) | undefined
  readonly isPart: boolean
}

/**
 * Where one author applies several versions, a server converts parts of objects, too, to see which fields are whose (seen on kube-apiserver
 * 1.36: `failed to convert pruned object`). They lack what is required, and `managedFields`, which every object has that is stored. Only which
 * fields such a part has counts, not what they say.
 */
function isPart(given: KubeObject, { apiVersion, ...from }: KubeObject, schemas: ReadonlyMap<string, Schema>): boolean {
  const schema = schemas.get(versionOf({ ...from, apiVersion: String(apiVersion) }))
  return (given.metadata as { managedFields?: unknown }).managedFields === undefined && schema !== undefined && breaksSchema(from, schema)
}

function converted(object: KubeObject, { kind, source, apiVersion, direction, f, isPart }: Step): KubeObject {
  if (f === undefined || (object as { spec?: unknown }).spec === undefined) return { ...object, apiVersion }
  const target = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const failed = (field: string | undefined, text: string, cause?: unknown) => {
    const where = field === undefined ? '' : `${field}: `
    return new ConversionError(`${nameOf(object, kind)}: ${source} to ${target}: ${where}${text}`, field, cause)
  }
  const copy = () => plainJson(object) as never
  let made: unknown
  try {
    made = f(copy())
    if (isPart) return merged(object, apiVersion, jsonPart(made))
  } catch (error) {
    if (isPart) return { ...object, apiVersion }
    if (isRefusal(error)) throw failed(error.field, error.message, error)
    // What an error of the code says is for those who wrote the code.
    throw failed(lastRead(copy() as object, f as (object: object) => unknown), `the conversion \`${direction}\` failed`, error)
  }
  if (made instanceof Promise) {
    made.catch(() => {})
    throw failed(undefined, `the conversion \`${direction}\` is asynchronous; it must be a plain function`)
  }
  try {
    return merged(object, apiVersion, made === undefined ? undefined : plainJson(made))
  } catch (error) {
    if (error instanceof NoJsonError) throw failed(error.path || undefined, `the conversion \`${direction}\` returned ${error.message}`)
    if (error instanceof WrongResult) throw failed(error.field, `the conversion \`${direction}\` returned ${error.message}`)
    throw error
  }
}

class WrongResult extends Error {
  readonly field: string | undefined

  constructor(field: string | undefined, message: string) {
    super(message)
    this.field = field
  }
}

const PARTS = ['spec', 'status', 'metadata']
const CHANGEABLE = ['labels', 'annotations']
/** Of every status that tsop writes. */
const OWN_STATUS = ['conditions', 'observedGeneration', 'external']

type Fields = Record<string, unknown>

function merged(object: KubeObject, apiVersion: string, made: unknown): KubeObject {
  if (!isFields(made)) throw new WrongResult(undefined, `${named(made)} instead of an object with spec, status or metadata`)
  const { spec, status, metadata, ...rest } = made
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new WrongResult(unknown, `a field that is none of ${PARTS.join(', ')}`)
  for (const [name, part] of Object.entries({ spec, status, metadata }))
    if (part !== undefined && !isFields(part)) throw new WrongResult(name, `${named(part)} instead of an object`)
  const result: Fields = { ...object, apiVersion, metadata: mergedMetadata(object.metadata, (metadata ?? {}) as Fields) }
  if (spec !== undefined) result['spec'] = spec
  if (status !== undefined) {
    const mergedStatus = mergeStatus((object as { status?: Fields }).status, status as Fields)
    if (mergedStatus !== undefined) result['status'] = mergedStatus
  }
  return result as unknown as KubeObject
}

function mergeStatus(before: Fields | undefined, made: Fields): Fields | undefined {
  const kept = OWN_STATUS.filter((name) => before?.[name] !== undefined && made[name] === undefined)
  const status = { ...made, ...Object.fromEntries(kept.map((name) => [name, before?.[name]])) }
  // What had no status gets none by asking for fields of it.
  return before === undefined && Object.keys(status).length === 0 ? undefined : status
}

function mergedMetadata(before: ObjectMeta, made: Fields): ObjectMeta {
  const merged: Fields = { ...before }
  for (const [name, value] of Object.entries(made)) {
    if (!CHANGEABLE.includes(name)) {
      // Whoever spreads the metadata means no harm.
      if (JSON.stringify(value) === JSON.stringify((before as unknown as Fields)[name])) continue
      throw new WrongResult(`metadata.${name}`, 'another one than the object has; a conversion may change labels and annotations only')
    }
    if (!isFields(value)) throw new WrongResult(`metadata.${name}`, `${named(value)} instead of an object`)
    const [wrong] = Object.entries(value).filter(([, text]) => typeof text !== 'string')
    if (wrong !== undefined) throw new WrongResult(`metadata.${name}.${wrong[0]}`, `${named(wrong[1])} instead of a text`)
    if (Object.keys(value).length === 0) delete merged[name]
    else merged[name] = value
  }
  return merged as unknown as ObjectMeta
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

function named(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

function versionIn(object: KubeObject, group: string, kind: string, versions: readonly string[]): string {
  const version = versionOf(object)
  if (groupOf(object.apiVersion ?? '') !== group || object.kind !== kind || !versions.includes(version)) {
    throw new ConversionError(
      `${nameOf(object, object.kind ?? '?')}: ${object.apiVersion} is no version of ${kindName({ apiVersion: `${group}/`, kind })}`,
    )
  }
  return version
}

const versionOf = ({ apiVersion = '' }: KubeObject) => apiVersion.slice(apiVersion.indexOf('/') + 1)

function nameOf({ metadata }: KubeObject, kind: string): string {
  const name = metadata?.name ?? metadata?.generateName ?? '(without a name)'
  return `${kind} ${keyOf({ name, namespace: metadata?.namespace })}`
}
