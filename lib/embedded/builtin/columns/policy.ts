/** Columns of who may do what: RBAC, admission, priority and fairness, APIs, devices. */
import { ageOf } from '../../table.ts'
import { type Cells, conditionOf, NONE, named, UNSET } from './format.ts'

interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export const binding: Cells = ({ metadata, roleRef = {}, subjects }, now) => {
  const of = (kind: string) => ((subjects ?? []) as Subject[]).filter((subject) => subject.kind === kind)
  const names = (kind: string) => of(kind).map(({ name }) => name)
  return [
    metadata.name ?? '',
    `${roleRef.kind ?? ''}/${roleRef.name ?? ''}`,
    ageOf(metadata.creationTimestamp, now),
    names('User').join(', '),
    names('Group').join(', '),
    of('ServiceAccount')
      .map(({ namespace = '', name }) => `${namespace}/${name}`)
      .join(', '),
  ]
}

export const webhooks: Cells = named(({ webhooks: all }) => [(all ?? []).length])
export const validatingPolicy: Cells = named(({ spec = {} }) => [(spec.validations ?? []).length, parameterKind(spec)])
export const mutatingPolicy: Cells = named(({ spec = {} }) => [(spec.mutations ?? []).length, parameterKind(spec)])

function parameterKind({ paramKind }: { paramKind?: { apiVersion?: string; kind?: string } }): string {
  return paramKind === undefined ? UNSET : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`
}

export const policyBinding: Cells = named(({ spec = {} }) => [spec.policyName ?? '', parameters(spec.paramRef)])

interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: Parameters<typeof goSelector>[0]
}

function parameters(ref: ParamRef | undefined): string {
  // Whether a parameter without a namespace is cluster-scoped cannot be seen from here.
  if (ref?.name) return `${ref.namespace || '*'}/${ref.name}`
  return ref?.selector === undefined ? UNSET : goSelector(ref.selector)
}

/** As Go prints the struct. */
function goSelector(selector: {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}): string {
  const labels = Object.entries(selector.matchLabels ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join('')
  const expressions = (selector.matchExpressions ?? [])
    .map(({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`)
    .join('')
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`
}

export const apiService: Cells = named(({ spec = {}, status = {} }) => {
  const available = conditionOf(status.conditions as Parameters<typeof conditionOf>[0], 'Available')
  const service = spec.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local'
  if (available === undefined) return [service, 'Unknown']
  const told = available.status !== 'True' && available.reason ? `${available.status} (${available.reason})` : available.status
  return [service, told]
})

export const flowSchema: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  spec.priorityLevelConfiguration?.name ?? '',
  spec.matchingPrecedence ?? 0,
  spec.distinguisherMethod?.type ?? NONE,
  ageOf(metadata.creationTimestamp, now),
  conditionOf(status.conditions as Parameters<typeof conditionOf>[0], 'Dangling')?.status ?? '?',
]

export const priorityLevel: Cells = named(({ spec = {} }) => {
  const queuing = spec.limited?.limitResponse?.queuing
  return [
    spec.type ?? '',
    spec.limited === undefined ? NONE : (spec.limited.nominalConcurrencyShares ?? 0),
    queuing?.queues ?? NONE,
    queuing?.handSize ?? NONE,
    queuing?.queueLengthLimit ?? NONE,
  ]
})

export const resourceClaim: Cells = named(({ metadata, status = {} }) => {
  const deleted = metadata.deletionTimestamp !== undefined
  const reserved = (status.reservedFor ?? []).length > 0 ? ['reserved'] : []
  const states = status.allocation === undefined ? (deleted ? [] : ['pending']) : ['allocated', ...reserved]
  return [[...(deleted ? ['deleted'] : []), ...states].join(',')]
})

export const resourceSlice: Cells = named(({ spec = {} }) => [spec.nodeName ?? '', spec.driver ?? '', spec.pool?.name ?? ''])
