/** Checks that many kinds share, with the texts of `k8s.io/kubernetes/pkg/apis/core/validation` and `apimachinery`. */
import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts'
import { equalJson } from '../../json.ts'
import { dnsLabel, dnsSubdomain, labelValue, percent, qualifiedName } from '../../names.ts'
import { compareQuantities, isWhole, parseQuantity } from '../../quantity.ts'
import { type ApiError, badRequest } from '../../status.ts'
import type { ApiObject } from '../../types.ts'

/** Part of an object that has been decoded: the types of its members are those of the kind. */
export type Part = ApiObject[string]
export type Errors = FieldError[]

export const NOT_NEGATIVE = 'must be greater than or equal to 0'
export const IMMUTABLE = 'field is immutable'

export function nonNegative(errors: Errors, value: number | bigint | undefined | null, field: string): void {
  if (value != null && value !== null && value < 0) errors.push(invalid(field, value, NOT_NEGATIVE))
}

export function positive(errors: Errors, value: number | undefined | null, field: string): void {
  if (value != null && value !== null && value <= 0) errors.push(invalid(field, value, 'must be greater than 0'))
}

/** `what` as one of the checks of names.ts. */
export function syntax(errors: Errors, value: string, field: string, check: (value: string) => string[]): void {
  const problems = check(value)
  for (const problem of problems) errors.push(invalid(field, value, problem))
}

export function oneOf(errors: Errors, value: string | undefined | null, field: string, supported: readonly string[]): void {
  if (value != null && value !== null && !supported.includes(value)) errors.push(notSupported(field, value, supported))
}

/** A value that is there and one of a few; missing is an error of its own. */
export function requiredOneOf(errors: Errors, value: string | undefined | null, field: string, supported: readonly string[]): void {
  if (value == null || value === null || value === '') errors.push(required(field))
  else oneOf(errors, value, field, supported)
}

export function requiredText(errors: Errors, value: string | undefined | null, field: string, detail = ''): boolean {
  if (value != null && value !== null && value !== '') return true
  errors.push(required(field, detail))
  return false
}

export function immutable(errors: Errors, value: unknown, old: unknown, field: string, detail = IMMUTABLE): void {
  if (!equalJson(orNothing(value), orNothing(old))) errors.push(invalid(field, value, detail))
}

/** Empty lists and maps are nothing in the eyes of `equality.Semantic`. */
function orNothing(value: unknown): unknown {
  if (value == null || value === null) return null
  if (typeof value === 'object' && Object.keys(value).length === 0) return null
  return value
}

export const sameSemantically = (a: unknown, b: unknown) => equalJson(orNothing(a), orNothing(b))

export function labels(errors: Errors, map: Record<string, string> | undefined | null, field: string): void {
  if (!map) return
  for (const key of Object.keys(map)) {
    syntax(errors, key, field, qualifiedName)
    const value = map[key] ?? ''
    for (const problem of labelValue(value)) errors.push(invalid(field, value, problem))
  }
}

export function annotations(errors: Errors, map: Record<string, string> | undefined | null, field: string): void {
  if (!map) return
  let size = 0
  for (const key of Object.keys(map)) {
    for (const problem of qualifiedName(key.toLowerCase())) errors.push(invalid(field, key, problem))
    size += Buffer.byteLength(key) + Buffer.byteLength(map[key] ?? '')
  }
  if (size > 262_144) errors.push({ type: 'TooLong', field, message: 'Too long: may not be more than 262144 bytes' })
}

/** Metadata of templates: labels, annotations and finalizers only. */
export function templateMetadata(errors: Errors, metadata: Part, field: string): void {
  annotations(errors, metadata?.annotations, `${field}.annotations`)
  labels(errors, metadata?.labels, `${field}.labels`)
}

/** `metav1.LabelSelector` */
export function labelSelector(errors: Errors, selector: Part, field: string): void {
  if (!selector) return
  labels(errors, selector.matchLabels, `${field}.matchLabels`)
  for (const [i, expression] of entries(selector.matchExpressions)) {
    const at = `${field}.matchExpressions[${i}]`
    const { key = '', operator = '', values = [] } = expression
    if (operator === 'In' || operator === 'NotIn') {
      if ((values ?? []).length === 0) errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if ((values ?? []).length > 0)
        errors.push(forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    } else errors.push(invalid(`${at}.operator`, operator, 'not a valid selector operator'))
    for (const problem of qualifiedName(key)) errors.push(invalid(`${at}.key`, key, problem))
    for (const [j, value] of entries(values)) syntax(errors, value as string, `${at}.values[${j}]`, labelValue)
  }
}

export const isEmptySelector = (selector: Part) =>
  !selector || (Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0)

/** Whether labels fit a `metav1.LabelSelector` that has been found valid. */
export function selects(selector: Part, map: Record<string, string> | undefined | null): boolean {
  const own = new Map(Object.entries(map ?? {}))
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) if (own.get(key) !== value) return false
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const value = own.get(key)
    if (operator === 'In' && (value == null || !values.includes(value))) return false
    if (operator === 'NotIn' && value != null && values.includes(value)) return false
    if (operator === 'Exists' && value == null) return false
    if (operator === 'DoesNotExist' && value != null) return false
  }
  return true
}

/** Index and member of a list that may be missing. */
export function entries(list: readonly Part[] | undefined | null): Iterable<[number, Part]> {
  return list ? list.entries() : []
}

export const count = (list: readonly unknown[] | undefined | null) => (list ? list.length : 0)

export function nonNegativeQuantity(errors: Errors, text: string, field: string): void {
  if (parseQuantity(text).nanos < 0n) errors.push(invalid(field, text, NOT_NEGATIVE))
}

export function positiveQuantity(errors: Errors, text: string, field: string): void {
  if (parseQuantity(text).nanos <= 0n) errors.push(invalid(field, text, 'must be greater than zero'))
}

/** A number or a percentage, as `intstr.IntOrString`. */
export function positiveIntOrPercent(errors: Errors, value: number | string, field: string): void {
  if (typeof value === 'number') nonNegative(errors, value, field)
  else for (const problem of percent(value)) errors.push(invalid(field, value, problem))
}

export function notOverHundredPercent(errors: Errors, value: number | string, field: string): void {
  if (typeof value === 'string' && /^[0-9]+%$/.test(value) && Number.parseInt(value, 10) > 100) {
    errors.push(invalid(field, value, 'must not be greater than 100%'))
  }
}

/** 0 and `0%`. */
export const isZeroAmount = (value: number | string | undefined | null) =>
  value === 0 || (typeof value === 'string' && Number.parseInt(value, 10) === 0)

/** Names that are plain words of the system, and those of vendors. */
const STANDARD_RESOURCES = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'requests.storage',
  'services.nodeports',
  'services.loadbalancers',
])
export const isStandardResource = (name: string) => STANDARD_RESOURCES.has(name)
const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage'])
export const isHugePages = (name: string) => name.startsWith('hugepages-')
export const isExtended = (name: string) => name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.')

export function resourceName(errors: Errors, name: string, field: string): void {
  for (const problem of qualifiedName(name)) errors.push(invalid(field, name, problem))
  if (qualifiedName(name).length === 0 && !name.includes('/') && !STANDARD_RESOURCES.has(name) && !isHugePages(name)) {
    errors.push(invalid(field, name, 'must be a standard resource type or fully qualified'))
  }
}

export function containerResourceName(errors: Errors, name: string, field: string): void {
  resourceName(errors, name, field)
  if (name.includes('/')) return
  if (!CONTAINER_RESOURCES.has(name) && !isHugePages(name)) errors.push(invalid(field, name, 'must be a standard resource for containers'))
}

/** Not negative, and whole for all but the resources that may be shared in parts. */
export function resourceValue(errors: Errors, name: string, text: string, field: string): void {
  nonNegativeQuantity(errors, text, field)
  const whole = !CONTAINER_RESOURCES.has(name) && !/^(requests|limits)\./.test(name) && !name.includes('storage')
  if (whole && !isHugePages(name) && !isWhole(parseQuantity(text))) errors.push(invalid(field, text, 'must be an integer'))
}

export const less = (a: string, b: string) => compareQuantities(parseQuantity(a), parseQuantity(b)) < 0
export const sameQuantity = (a: string, b: string) => compareQuantities(parseQuantity(a), parseQuantity(b)) === 0

export function localName(errors: Errors, name: string | undefined, field: string): void {
  if (requiredText(errors, name, field)) syntax(errors, name as string, field, dnsSubdomain)
}

export function labelText(errors: Errors, name: string, field: string): void {
  syntax(errors, name, field, dnsLabel)
}

/** Kinds with field selectors of their own say it so of those they do not know. */
export const unknownLabel = (field: string): ApiError => badRequest(`field label not supported: ${field}`)

/** Sets a member that is not there. */
export function setDefault(part: Part, member: string, value: unknown): void {
  if (part[member] == null || part[member] === null || part[member] === '') part[member] = value
}
