/** Job and CronJob. */
import { duplicate, type FieldError, invalid, notSupported, required } from '../../field-error.ts'
import { cloneJson, equalJson } from '../../json.ts'
import { dnsLabel, qualifiedName } from '../../names.ts'
import { badRequest } from '../../status.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import {
  type Errors,
  entries,
  immutable,
  labelSelector,
  nonNegative,
  oneOf,
  type Part,
  requiredOneOf,
  selects,
  setDefault,
} from './common.ts'
import { cronProblem } from './cron.ts'
import { defaultPodSpec } from './pod-defaults.ts'
import { validateTemplate } from './pod-spec.ts'
import { podSpecWarnings, templateWarnings } from './pod-warnings.ts'

const MISMATCH = '`selector` does not match template `labels`'
const UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid']
const NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name']

export const job: Strategy = {
  generation: true,
  defaultPropagation: 'Orphan',
  deletionWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  defaults({ metadata, spec }) {
    if (spec.completions == null && spec.parallelism == null) spec.completions = 1
    spec.parallelism ??= 1
    spec.backoffLimit ??= spec.backoffLimitPerIndex == null ? 6 : 2_147_483_647
    const own = spec.template.metadata?.labels
    if (own && (!metadata.labels || Object.keys(metadata.labels).length === 0)) metadata.labels = own
    setDefault(spec, 'completionMode', 'NonIndexed')
    spec.suspend ??= false
    setDefault(spec, 'podReplacementPolicy', spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed')
    spec.manualSelector ??= false
    defaultPodSpec(spec.template.spec)
    for (const [, rule] of entries(spec.podFailurePolicy?.rules))
      for (const [, pattern] of entries(rule.onPodConditions)) setDefault(pattern, 'status', 'True')
  },
  prepareForCreate(object) {
    if (object.spec.manualSelector !== true) generateSelector(object)
  },
  validate({ metadata, spec }) {
    const errors: Errors = []
    validateGeneratedSelector(errors, metadata, spec)
    validateSpec(errors, spec, 'spec')
    validateSelector(errors, spec)
    if (spec.completionMode === 'Indexed' && spec.completions > 0) {
      const hostname = `${metadata.name}-${spec.completions - 1}`
      if (dnsLabel(hostname).length > 0) {
        errors.push(invalid('metadata.name', metadata.name, `will not able to create pod with invalid DNS label: ${hostname}`))
      }
    }
    return errors
  },
  validateUpdate(object, old, { subresource }) {
    return subresource === 'status' ? [] : validateUpdate(object, old)
  },
  warnings: templateWarnings,
  unknownFieldSelector: (field) => badRequest(`field label ${JSON.stringify(field)} not supported for Job`),
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
}

/** The pods of a job are found by its uid, unless the user brings a selector of his own. */
function generateSelector({ metadata, spec }: ApiObject): void {
  spec.template.metadata ??= {}
  // A job without labels takes over those of its template, the generated ones too.
  const takesOver = !metadata.labels || metadata.labels === spec.template.metadata.labels
  const labels = { ...spec.template.metadata.labels }
  for (const label of NAME_LABELS) labels[label] ??= metadata.name
  for (const label of UID_LABELS) labels[label] ??= metadata.uid
  spec.template.metadata.labels = labels
  if (takesOver) metadata.labels = { ...labels }
  spec.selector = { ...spec.selector, matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid, ...spec.selector?.matchLabels } }
}

function validateGeneratedSelector(errors: Errors, metadata: Part, spec: Part): void {
  if (spec.manualSelector === true) return
  if (!spec.selector) return
  const own = spec.template.metadata?.labels ?? {}
  const expected: [string, string][] = [
    ...UID_LABELS.map((label) => [label, metadata.uid] as [string, string]),
    ...NAME_LABELS.map((label) => [label, metadata.name] as [string, string]),
  ]
  for (const [label, value] of expected) {
    if (own[label] !== value) {
      errors.push(invalid('spec.template.metadata.labels', own, `must be '${value}'`))
    }
  }
  if (!selects(spec.selector, Object.fromEntries(expected))) {
    errors.push(invalid('spec.selector', spec.selector, '`selector` not auto-generated'))
  }
}

function validateSelector(errors: Errors, spec: Part): void {
  if (!spec.selector) errors.push(required('spec.selector'))
  else labelSelector(errors, spec.selector, 'spec.selector')
  if (!spec.selector || !selects(spec.selector, spec.template.metadata?.labels)) {
    errors.push(invalid('spec.template.metadata.labels', spec.template.metadata?.labels ?? null, MISMATCH))
  }
}

function validateSpec(errors: Errors, spec: Part, field: string): void {
  for (const member of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ]) {
    nonNegative(errors, spec[member], `${field}.${member}`)
  }
  if (spec.maxFailedIndexes != null && spec.backoffLimitPerIndex == null) {
    errors.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
  }
  const mode = spec.completionMode ?? 'NonIndexed'
  if (mode !== 'NonIndexed' && mode !== 'Indexed') errors.push(notSupported(`${field}.completionMode`, mode, ['NonIndexed', 'Indexed']))
  if (mode === 'Indexed') {
    if (spec.completions == null) errors.push(required(`${field}.completions`, 'when completion mode is Indexed'))
    if (spec.parallelism > 100_000) {
      errors.push(invalid(`${field}.parallelism`, spec.parallelism, 'must be less than or equal to 100000 when completion mode is Indexed'))
    }
    if (spec.maxFailedIndexes > spec.completions) {
      errors.push(invalid(`${field}.maxFailedIndexes`, spec.maxFailedIndexes, 'must be less than or equal to completions'))
    }
  }
  if (mode === 'NonIndexed') {
    for (const member of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
      if (spec[member] != null) errors.push(invalid(`${field}.${member}`, spec[member], 'requires indexed completion mode'))
    }
    if (spec.successPolicy) errors.push(invalid(`${field}.successPolicy`, spec.successPolicy, 'requires indexed completion mode'))
  }
  if (spec.podFailurePolicy) validateFailurePolicy(errors, spec, `${field}.podFailurePolicy`)
  validateReplacement(errors, spec, `${field}.podReplacementPolicy`)
  validateTemplate(errors, spec.template, `${field}.template`)
  const policy = spec.template?.spec?.restartPolicy
  const at = `${field}.template.spec.restartPolicy`
  if (policy === 'Always' || !policy) errors.push(required(at, 'valid values: "OnFailure", "Never"'))
  else if (policy !== 'OnFailure' && policy !== 'Never') errors.push(notSupported(at, policy, ['OnFailure', 'Never']))
  else if (spec.podFailurePolicy && policy !== 'Never')
    errors.push(invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified'))
}

function validateReplacement(errors: Errors, { podReplacementPolicy, podFailurePolicy }: Part, field: string): void {
  oneOf(errors, podReplacementPolicy, field, podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'])
}

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']

function validateFailurePolicy(errors: Errors, spec: Part, field: string): void {
  const containers = [...(spec.template?.spec?.containers ?? []), ...(spec.template?.spec?.initContainers ?? [])].map(
    ({ name }: Part) => name,
  )
  for (const [i, rule] of entries(spec.podFailurePolicy.rules)) {
    const at = `${field}.rules[${i}]`
    if (!rule.action) errors.push(required(`${at}.action`, `valid values: [${ACTIONS.map((action) => `"${action}"`).join(' ')}]`))
    else if (rule.action === 'FailIndex' && spec.backoffLimitPerIndex == null) {
      errors.push(invalid(`${at}.action`, rule.action, 'requires the backoffLimitPerIndex to be set'))
    } else oneOf(errors, rule.action, `${at}.action`, ACTIONS)
    if (rule.onExitCodes) validateExitCodes(errors, rule.onExitCodes, `${at}.onExitCodes`, containers)
    const conditions = (rule.onPodConditions ?? []).length > 0
    for (const [j, { type = '', status }] of entries(rule.onPodConditions)) {
      for (const problem of qualifiedName(type)) errors.push(invalid(`${at}.onPodConditions[${j}].type`, type, problem))
      oneOf(errors, status, `${at}.onPodConditions[${j}].status`, ['False', 'True', 'Unknown'])
    }
    if (Boolean(rule.onExitCodes) === conditions) {
      const text = conditions
        ? 'specifying both OnExitCodes and OnPodConditions is not supported'
        : 'specifying one of OnExitCodes and OnPodConditions is required'
      errors.push({ type: 'Invalid', field: at, message: `Invalid value: ${text}` })
    }
  }
}

function validateExitCodes(errors: Errors, { operator, values, containerName }: Part, at: string, containers: readonly string[]): void {
  if (!operator) errors.push(required(`${at}.operator`, 'valid values: ["In" "NotIn"]'))
  else oneOf(errors, operator, `${at}.operator`, ['In', 'NotIn'])
  if (containerName != null && !containers.includes(containerName)) {
    errors.push(invalid(`${at}.containerName`, containerName, 'must be one of the container or initContainer names in the pod template'))
  }
  const codes: number[] = values ?? []
  if (codes.length === 0) errors.push(invalid(`${at}.values`, [], 'at least one value is required'))
  for (const [i, code] of codes.entries()) {
    if (operator === 'In' && code === 0) errors.push(invalid(`${at}.values[${i}]`, code, 'must not be 0 for the In operator'))
    if (codes.indexOf(code) < i) errors.push(duplicate(`${at}.values[${i}]`, code))
  }
  if (codes.some((code, i) => i > 0 && (codes[i - 1] as number) > code)) errors.push(invalid(`${at}.values`, codes, 'must be ordered'))
}

/** While suspended and not yet started, the template's scheduling may change. */
function validateUpdate({ spec }: ApiObject, old: ApiObject): FieldError[] {
  const errors: Errors = []
  validateSpec(errors, spec, 'spec')
  validateSelector(errors, spec)
  if (spec.completionMode !== 'Indexed') immutable(errors, spec.completions, old.spec.completions, 'spec.completions')
  else if (spec.completions !== old.spec.completions && spec.completions !== spec.parallelism) {
    errors.push(invalid('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism'))
  }
  immutable(errors, spec.selector, old.spec.selector, 'spec.selector')
  const before = cloneJson(old.spec.template)
  const suspended = old.spec.suspend === true
  if (suspended && !old.status?.startTime) relaxTemplate(before, spec.template)
  if (!equalJson(spec.template, before)) {
    const [field, value] = suspended ? ['spec.template.spec', spec.template.spec] : ['spec.template', spec.template]
    errors.push(invalid(field, value, 'field is immutable'))
  }
  for (const member of ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy']) {
    immutable(errors, spec[member], old.spec[member], `spec.${member}`)
  }
  return errors
}

function relaxTemplate(before: Part, now: Part): void {
  before.metadata = now.metadata
  for (const member of ['nodeSelector', 'tolerations', 'schedulingGates', 'affinity']) {
    if (now.spec[member] == null) delete before.spec[member]
    else before.spec[member] = now.spec[member]
  }
  for (const [i, container] of entries(before.spec.containers))
    if (now.spec.containers?.[i]) container.resources = now.spec.containers?.[i].resources
}

export const cronJob: Strategy = {
  generation: true,
  defaults({ spec }) {
    setDefault(spec, 'concurrencyPolicy', 'Allow')
    spec.suspend ??= false
    spec.successfulJobsHistoryLimit ??= 3
    spec.failedJobsHistoryLimit ??= 1
    defaultPodSpec(spec.jobTemplate.spec.template.spec)
  },
  validate({ metadata, spec }) {
    const errors = validateCron(spec, undefined)
    if ((metadata.name ?? '').length > 52) errors.push(invalid('metadata.name', metadata.name, 'must be no more than 52 characters'))
    return errors
  },
  validateUpdate: ({ spec }, old, { subresource }) => (subresource === 'status' ? [] : validateCron(spec, old.spec)),
  warnings: ({ spec }) => podSpecWarnings(spec.jobTemplate.spec.template.spec, 'spec.jobTemplate.spec.template.spec'),
}

function validateCron(spec: Part, old: Part): FieldError[] {
  const errors: Errors = []
  if (!spec.schedule) errors.push(required('spec.schedule'))
  else {
    const problem = cronProblem(spec.schedule)
    if (problem != null) errors.push(invalid('spec.schedule', spec.schedule, problem))
    if (spec.schedule.includes('TZ') && !old?.schedule?.includes('TZ')) {
      errors.push(invalid('spec.schedule', spec.schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
    }
  }
  nonNegative(errors, spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds')
  if (old == null || old.timeZone !== spec.timeZone) validateTimeZone(errors, spec.timeZone)
  requiredOneOf(errors, spec.concurrencyPolicy, 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace'])
  const template = spec.jobTemplate.spec
  validateSpec(errors, template, 'spec.jobTemplate.spec')
  if (template.selector) errors.push(invalid('spec.jobTemplate.spec.selector', template.selector, '`selector` will be auto-generated'))
  if (template.manualSelector === true) errors.push(notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']))
  nonNegative(errors, spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit')
  nonNegative(errors, spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit')
  return errors
}

function validateTimeZone(errors: Errors, zone: string | undefined): void {
  const field = 'spec.timeZone'
  if (zone == null) return
  if (zone === '') errors.push(invalid(field, zone, 'timeZone must be nil or non-empty string'))
  else if (zone.split('/').some((part) => part === '.' || part === '..' || part.startsWith('-') || !/^[A-Za-z.\-_0-9+]*$/.test(part))) {
    errors.push(invalid(field, zone, `unknown time zone ${zone}`))
  } else if (zone.toLowerCase() === 'local') {
    errors.push(invalid(field, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'))
  } else if (!isTimeZone(zone)) errors.push(invalid(field, zone, `unknown time zone ${zone}`))
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
