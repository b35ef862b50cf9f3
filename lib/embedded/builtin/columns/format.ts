/** How printer columns write what many kinds have: selectors, containers, quantities, lists that may be long. */
import { canonicalQuantity } from '../../quantity.ts'
import { ageOf } from '../../table.ts'
import type { ApiObject } from '../../types.ts'

/** One cell a recorded column. `now` in milliseconds. */
export type Cells = (object: ApiObject, now: number) => unknown[]

export const NONE = '<none>'
export const UNSET = '<unset>'

interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[]
}

/** `a=b,c in (d,e)`, by key; `''`: everything, or nothing where there is no selector. */
export function selectorText(selector: LabelSelector | undefined | null): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }))
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values }) => ({
    key,
    text: requirement(key, operator, values),
  }))
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',')
}

function requirement(key: string, operator: string, values: readonly string[] = []): string {
  if (operator === 'Exists') return key
  if (operator === 'DoesNotExist') return `!${key}`
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.toSorted().join(',')})`
}

export const selectorOrNone = (selector: LabelSelector | undefined | null) => selectorText(selector) || NONE

export function labelsOrNone(labels: Readonly<Record<string, string>> | undefined | null): string {
  return selectorOrNone({ matchLabels: labels ?? {} })
}

interface Container {
  readonly name?: string
  readonly image?: string
}

/** The cells of names and images. */
export function containerCells(containers: readonly Container[] | undefined): [string, string] {
  const of = containers ?? []
  return [of.map(({ name = '' }) => name).join(','), of.map(({ image = '' }) => image).join(',')]
}

/** The first `max`, and how many more. */
export function listed(all: readonly string[], max: number, separator = ','): string {
  const first = all.slice(0, max).join(separator)
  return all.length > max ? `${first} + ${all.length - max} more...` : first
}

export function quantityText(value: string | number | undefined): string {
  if (value === undefined) return '0'
  try {
    return canonicalQuantity(value)
  } catch {
    return String(value)
  }
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
}

export function conditionOf<T extends Condition>(conditions: readonly T[] | undefined, type: string): T | undefined {
  return conditions?.find((condition) => condition.type === type)
}

export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditionOf(conditions, type)?.status === 'True'
}

export const truth = (value: boolean | undefined) => (value === undefined ? UNSET : value ? 'True' : 'False')

export const isDefault = ({ metadata }: ApiObject, ...annotations: string[]) =>
  annotations.some((annotation) => metadata.annotations?.[annotation] === 'true')

/** Cells of a name, some of the kind's own, and the age. */
export function named(cells: (object: ApiObject) => unknown[]): Cells {
  return (object, now) => [object.metadata.name ?? '', ...cells(object), ageOf(object.metadata.creationTimestamp, now)]
}

/** Kinds without columns of their own, as the server's default converter has them. */
export const nameAndCreation: Cells = ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? '']
