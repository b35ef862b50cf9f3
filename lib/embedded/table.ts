/** The two forms in which the server shows objects besides their own: rows of a Table (`kubectl get`), and only metadata. */
import { badRequest } from './status.ts'
import type { ApiObject, ResourceType, TableColumn, TableColumns } from './types.ts'

export interface ListMeta {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export type IncludeObject = 'Metadata' | 'Object' | 'None'

/** @throws ApiError 400 */
export function includeObject(query: URLSearchParams): IncludeObject {
  const given = query.get('includeObject') ?? ''
  if (given === '') return 'Metadata'
  if (given === 'Metadata' || given === 'Object' || given === 'None') return given
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(given)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

/** `first` is false for the later events of a watch, which do not repeat the columns. */
export function toTable(
  type: ResourceType,
  objects: readonly ApiObject[],
  metadata: ListMeta,
  include: IncludeObject,
  now: number,
  version = 'v1',
  first = true,
): object {
  const columns = type.columns ?? NAME_AND_AGE
  const rows = objects.map((object) => {
    const conditions = columns.conditions?.(object)
    const marks = conditions === undefined ? {} : { conditions }
    return { cells: columns.cells(object, now), ...marks, object: rowObject(object, include, version) }
  })
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: first ? columns.columns.map(columnDefinition) : null,
    rows,
  }
}

export function toPartial(object: ApiObject, version = 'v1'): ApiObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata }
}

export function toPartialList(objects: readonly ApiObject[], metadata: ListMeta, version = 'v1'): object {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    items: objects.map((object) => toPartial(object, version)),
  }
}

function rowObject(object: ApiObject, include: IncludeObject, version: string): ApiObject | null {
  if (include === 'None') return null
  return include === 'Object' ? object : toPartial(object, version)
}

function columnDefinition({ name, type, format = '', description = '', priority = 0 }: TableColumn) {
  return { name, type, format, description, priority }
}

/** The first column of every table, described as `metav1.ObjectMeta` describes the field. */
export const NAME_COLUMN: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
}

const AGE_COLUMN: TableColumn = {
  name: 'Age',
  type: 'date',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
}

export const NAME_AND_AGE: TableColumns = {
  columns: [NAME_COLUMN, AGE_COLUMN],
  cells: ({ metadata }, now) => [metadata.name ?? '', ageOf(metadata.creationTimestamp, now)],
}

/** `5s`, `2m30s`, `3h`, `4d12h`, `2y30d`: two digits of meaning at most (`k8s.io/apimachinery/pkg/util/duration`). */
export function ageOf(time: string | null | undefined, now: number): string {
  const since = time ? Date.parse(time) : Number.NaN
  return Number.isNaN(since) ? '<unknown>' : humanDuration(now - since)
}

export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 60 * 2) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's')
  if (minutes < 60 * 3) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  if (hours < 24 * 8) return two(Math.trunc(hours / 24), 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${Math.trunc(hours / 24)}d`
  if (hours < 24 * 365 * 8) return two(Math.trunc(hours / 24 / 365), 'y', Math.trunc(hours / 24) % 365, 'd')
  return `${Math.trunc(hours / 24 / 365)}y`
}

const two = (major: number, majorUnit: string, minor: number, minorUnit: string) =>
  minor === 0 ? `${major}${majorUnit}` : `${major}${majorUnit}${minor}${minorUnit}`
