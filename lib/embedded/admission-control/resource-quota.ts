/**
 * ResourceQuotas: what is asked for, together with what is there, must not exceed what is allowed. The real server goes by the
 * status of the quota; here what is there is counted anew, and the status follows.
 */
import { type AdmissionPlugin, type AdmissionRequest, type Core, SYSTEM } from '../core.ts'
import { equalJson } from '../json.ts'
import { compareQuantities, formatQuantity, parseQuantity, type Quantity, subtractQuantities } from '../quantity.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import type { ResourceList } from './pod-resources.ts'
import { isCounted, matchingNames, missingOfPod, sum, usageOf } from './quota-usage.ts'
import { refusal } from './refusal.ts'

const ZERO = parseQuantity('0')

export function resourceQuota(core: Core): AdmissionPlugin {
  const bucket = core.store.bucket('/resourcequotas')
  const waiting = new Set<string>()
  const onTheWay = new OnTheWay(core)
  /** Counts again when the write is done. */
  const recount = (namespace: string) => {
    if (waiting.has(namespace)) return
    waiting.add(namespace)
    core.tasks.soon(async () => {
      waiting.delete(namespace)
      for (const quota of core.lookup.list('', 'resourcequotas', namespace)) await updateStatus(core, quota)
    })
  }
  bucket.watch(core.store.revision, ({ type, namespace }) => {
    if (type !== 'DELETED') recount(namespace)
  })
  return {
    name: 'ResourceQuota',
    validate(request) {
      const { type, namespace, operation, subresource, dryRun } = request
      if (bucket.size === 0 || !isCounted(type)) return
      const quotas = core.lookup.list('', 'resourcequotas', namespace)
      if (quotas.length === 0) return
      if ((operation === 'CREATE' || operation === 'UPDATE') && subresource === '') {
        for (const quota of quotas) check(core, request, quota, onTheWay)
        if (!dryRun) onTheWay.add(request)
      }
      if (!dryRun) recount(namespace)
    },
  }
}

/**
 * New objects that were let through and are not stored yet: two requests at the same time must not both get the last place.
 * Growing ones are stored under a version that only one of them can have.
 */
class OnTheWay {
  readonly #core: Core
  readonly #requests = new Set<AdmissionRequest>()

  constructor(core: Core) {
    this.#core = core
  }

  add(request: AdmissionRequest): void {
    if (request.operation !== 'CREATE') return
    this.#requests.add(request)
    this.#core.tasks.soon(() => void this.#requests.delete(request))
  }

  /** Of the same kind and namespace. */
  *others({ type, namespace }: AdmissionRequest): Generator<ApiObject> {
    if (this.#requests.size === 0) return
    const bucket = this.#core.store.bucket(type.bucket)
    for (const { type: other, namespace: in_, name, object } of this.#requests) {
      if (other.bucket === type.bucket && in_ === namespace && object !== undefined && bucket.get(namespace, name) === undefined)
        yield object
    }
  }
}

function check(core: Core, request: AdmissionRequest, quota: ApiObject, onTheWay: OnTheWay): void {
  const { type, object, old } = request
  // A pod's demands do not change after it is made.
  if (object === undefined || (old !== undefined && type.bucket === '/pods')) return
  const hard: Readonly<Record<string, string>> = quota.spec?.hard ?? {}
  const names = matchingNames(type, Object.keys(hard))
  if (names.length === 0 || !inScope(quota, type, object)) return
  const missing = type.bucket === '/pods' ? missingOfPod(names, object) : undefined
  if (missing !== undefined) throw refusal(request, `failed quota: ${quota.metadata.name}: ${missing}`)
  const wanted = usageOf(type, object)
  const before = old === undefined ? new Map<string, Quantity>() : usageOf(type, old)
  const used = countUsed(core, quota, names)
  for (const other of onTheWay.others(request)) if (inScope(quota, type, other)) sum(used, usageOf(type, other), names)
  const requested = new Map<string, Quantity>()
  const exceeded = names.filter((name) => {
    const more = subtractQuantities(wanted.get(name) ?? ZERO, before.get(name) ?? ZERO)
    if (more.nanos <= 0n) return false
    requested.set(name, more)
    const free = subtractQuantities(parseQuantity(hard[name] as string), used.get(name) ?? ZERO)
    return compareQuantities(more, free) > 0
  })
  if (exceeded.length === 0) return
  const print = (value: (name: string) => Quantity) =>
    exceeded
      .sort()
      .map((name) => `${name}=${formatQuantity(value(name))}`)
      .join(',')
  const texts = [
    `requested: ${print((name) => requested.get(name) ?? ZERO)}`,
    `used: ${print((name) => used.get(name) ?? ZERO)}`,
    `limited: ${print((name) => parseQuantity(hard[name] as string))}`,
  ]
  throw refusal(request, `exceeded quota: ${quota.metadata.name}, ${texts.join(', ')}`)
}

/** What there is in the quota's namespace and scope; every name that is about a served kind has a number. */
function countUsed(core: Core, quota: ApiObject, names: readonly string[]): ResourceList {
  const used: ResourceList = new Map()
  const counted = new Set<string>()
  for (const type of core.registry.types()) {
    if (counted.has(type.bucket) || !isCounted(type)) continue
    const own = matchingNames(type, names)
    if (own.length === 0) continue
    counted.add(type.bucket)
    for (const name of own) if (!used.has(name)) used.set(name, ZERO)
    const slash = type.bucket.indexOf('/')
    const objects = core.lookup.list(type.bucket.slice(0, slash), type.bucket.slice(slash + 1), quota.metadata.namespace)
    for (const object of objects) if (inScope(quota, type, object)) sum(used, usageOf(type, object), own)
  }
  return used
}

async function updateStatus(core: Core, quota: ApiObject): Promise<void> {
  const type = core.registry.find('', 'v1', 'resourcequotas')
  const hard: Readonly<Record<string, string>> = quota.spec?.hard ?? {}
  const used = countUsed(core, quota, Object.keys(hard))
  const sorted = [...used].sort(([a], [b]) => (a < b ? -1 : 1))
  const status = { hard, used: Object.fromEntries(sorted.map(([name, value]) => [name, formatQuantity(value)])) }
  if (type === undefined || equalJson(quota.status ?? {}, status)) return
  const { name = '', namespace = '', resourceVersion = '' } = quota.metadata
  const next: ApiObject = { ...quota, metadata: { ...quota.metadata, resourceVersion }, status }
  try {
    await core.operations.update(type, namespace, name, 'status', next, { user: SYSTEM, fieldManager: 'kube-controller-manager' })
  } catch (error) {
    // Somebody changed or deleted it: the change makes for a recount of its own.
    if (!(error instanceof Error) || error.name !== 'ApiError') throw error
  }
}

interface ScopeRule {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** Scopes are about pods; other kinds are outside of a quota that has some. */
function inScope(quota: ApiObject, type: ResourceType, object: ApiObject): boolean {
  const rules: readonly ScopeRule[] = [
    ...((quota.spec?.scopes ?? []) as string[]).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(quota.spec?.scopeSelector?.matchExpressions ?? []),
  ]
  if (rules.length === 0) return true
  return type.bucket === '/pods' && rules.every((rule) => podInScope(rule, object))
}

function podInScope({ scopeName, operator, values = [] }: ScopeRule, { spec, status }: ApiObject): boolean {
  const ending = spec?.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0
  const bestEffort = status?.qosClass === undefined ? isBestEffort(spec) : status.qosClass === 'BestEffort'
  if (scopeName === 'Terminating') return ending
  if (scopeName === 'NotTerminating') return !ending
  if (scopeName === 'BestEffort') return bestEffort
  if (scopeName === 'NotBestEffort') return !bestEffort
  if (scopeName !== 'PriorityClass') return false
  const name: string = spec?.priorityClassName ?? ''
  if (operator === 'Exists') return name !== ''
  if (operator === 'DoesNotExist') return name === ''
  return operator === 'In' ? values.includes(name) : !values.includes(name)
}

function isBestEffort(spec: ApiObject['spec']): boolean {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
  return containers.every(({ resources }) => Object.keys({ ...resources?.limits, ...resources?.requests }).length === 0)
}
