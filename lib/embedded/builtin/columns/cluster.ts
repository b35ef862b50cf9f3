/** Columns of namespaces, nodes, events and the other small kinds of the core. */
import { ageOf, humanDuration } from '../../table.ts'
import type { ApiObject } from '../../types.ts'
import { type Cells, conditionOf, NONE, named, quantityText } from './format.ts'

export const configMap: Cells = named(({ data, binaryData }) => [count(data) + count(binaryData)])
export const secret: Cells = named(({ type, data }) => [type ?? '', count(data)])
const count = (members: object | undefined) => Object.keys(members ?? {}).length

export const onlyName: Cells = named(() => [])
export const namespace: Cells = named(({ status }) => [status?.phase ?? ''])
export const lease: Cells = named(({ spec }) => [spec?.holderIdentity ?? ''])
export const runtimeClass: Cells = named(({ handler }) => [handler ?? ''])

export const priorityClass: Cells = ({ metadata, value, globalDefault, preemptionPolicy }, now) => [
  metadata.name ?? '',
  value ?? 0,
  globalDefault ?? false,
  ageOf(metadata.creationTimestamp, now),
  preemptionPolicy ?? '',
]

export const resourceQuota: Cells = named(({ status = {} }) => {
  const hard: Record<string, string> = status.hard ?? {}
  const used: Record<string, string> = status.used ?? {}
  const entries = Object.keys(hard).sort()
  const text = (names: readonly string[]) =>
    names.map((name) => `${name}: ${quantityText(used[name])}/${quantityText(hard[name])}`).join(', ')
  return [text(entries.filter((name) => !name.startsWith('limits.'))), text(entries.filter((name) => name.startsWith('limits.')))]
})

export const node: Cells = ({ metadata, spec = {}, status = {} }, now) => {
  const ready = conditionOf(status.conditions, 'Ready')
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  const info = status.nodeInfo ?? {}
  const kernel = info.kernelVersion || '<unknown>'
  return [
    metadata.name ?? '',
    spec.unschedulable === true ? `${state},SchedulingDisabled` : state,
    rolesOf(metadata.labels ?? {}).join(',') || NONE,
    ageOf(metadata.creationTimestamp, now),
    info.kubeletVersion ?? '',
    addressOf(status.addresses, 'InternalIP'),
    addressOf(status.addresses, 'ExternalIP'),
    info.osImage || '<unknown>',
    info.architecture ? `${kernel} (${info.architecture})` : kernel,
    info.containerRuntimeVersion || '<unknown>',
  ]
}

const ROLE_PREFIX = 'node-role.kubernetes.io/'

function rolesOf(labels: Readonly<Record<string, string>>): string[] {
  const roles = Object.entries(labels).flatMap(([label, value]) => {
    const role = label === 'kubernetes.io/role' ? value : label.startsWith(ROLE_PREFIX) ? label.slice(ROLE_PREFIX.length) : ''
    return role === '' ? [] : [role]
  })
  return [...new Set(roles)].sort()
}

function addressOf(addresses: readonly { type: string; address: string }[] | undefined, type: string): string {
  return addresses?.find((each) => each.type === type)?.address ?? NONE
}

/** Both groups: what one calls `regarding`, `note`, `deprecated…` is the other's `involvedObject`, `message`, … */
export const event: Cells = (object, now) => {
  const { metadata } = object
  const { involved, message, source, firstTime, lastTime, times } = eventParts(object)
  const first = ageOf(firstTime ?? object['eventTime'], now)
  const last = object['series'] === undefined ? lastTime : object['series'].lastObservedTime
  const kind = (involved.kind ?? '').toLowerCase()
  return [
    last === undefined || last === null ? (object['series'] === undefined ? first : '<unknown>') : ageOf(last, now),
    object['type'] ?? '',
    object['reason'] ?? '',
    involved.name ? `${kind}/${involved.name}` : kind,
    involved.fieldPath ?? '',
    eventSource(source.component || controllerOf(object), source.host || instanceOf(object)),
    message.trim(),
    first,
    object['series'] === undefined ? times || 1 : (object['series'].count ?? 0),
    metadata.name ?? '',
  ]
}

interface EventParts {
  readonly involved: { readonly kind?: string; readonly name?: string; readonly fieldPath?: string }
  readonly message: string
  readonly source: { readonly component?: string; readonly host?: string }
  readonly firstTime: string | undefined
  readonly lastTime: string | undefined
  readonly times: number
}

function eventParts(event: ApiObject): EventParts {
  if (event.apiVersion === 'v1') {
    return {
      involved: event['involvedObject'] ?? {},
      message: event['message'] ?? '',
      source: event['source'] ?? {},
      firstTime: event['firstTimestamp'] ?? undefined,
      lastTime: event['lastTimestamp'] ?? undefined,
      times: event['count'] ?? 0,
    }
  }
  return {
    involved: event['regarding'] ?? {},
    message: event['note'] ?? '',
    source: event['deprecatedSource'] ?? {},
    firstTime: event['deprecatedFirstTimestamp'] ?? undefined,
    lastTime: event['deprecatedLastTimestamp'] ?? undefined,
    times: event['deprecatedCount'] ?? 0,
  }
}

const controllerOf = (event: ApiObject): string => event['reportingComponent'] ?? event['reportingController'] ?? ''
const instanceOf = (event: ApiObject): string => event['reportingInstance'] ?? ''
const eventSource = (component: string, instance: string) => (instance === '' ? component : `${component}, ${instance}`)

export const componentStatus: Cells = ({ metadata, conditions }) => {
  const healthy = conditionOf(conditions as { type: string; status: string; message?: string; error?: string }[] | undefined, 'Healthy')
  const status = healthy === undefined ? 'Unknown' : healthy.status === 'True' ? 'Healthy' : 'Unhealthy'
  return [metadata.name ?? '', status, healthy?.message ?? '', healthy?.error ?? '']
}

export const certificateSigningRequest: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  ageOf(metadata.creationTimestamp, now),
  spec.signerName || NONE,
  spec.username ?? '',
  spec.expirationSeconds === undefined ? NONE : humanDuration(spec.expirationSeconds * 1000),
  certificateState(status),
]

function certificateState({ conditions = [], certificate }: { conditions?: { type: string }[]; certificate?: string }): string {
  const has = (type: string) => conditions.some((condition) => condition.type === type)
  const state = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${state}${has('Failed') ? ',Failed' : ''}${certificate ? ',Issued' : ''}`
}
