/** Pods. */
import { type FieldError, forbidden, invalid } from '../../field-error.ts'
import { equalJson } from '../../json.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import { count, type Errors, entries, type Part, sameSemantically, unknownLabel } from './common.ts'
import { defaultPod, defaultPodSpec } from './pod-defaults.ts'
import { validatePodSpec } from './pod-spec.ts'
import { podWarnings } from './pod-warnings.ts'

export const pod: Strategy = {
  generation: true,
  returnsDeleted: true,
  defaults({ spec, status }) {
    defaultPodSpec(spec)
    defaultPod(spec)
    // The old field and the first of the new one are kept in step.
    if (status?.podIP && status.podIPs?.[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }]
    else if (status && !status.podIP && status.podIPs?.length > 0) status.podIP = status.podIPs[0].ip
  },
  prepareForCreate(object, context) {
    object.status = { phase: 'Pending', qosClass: qualityOfService(object.spec) }
    if (count(object.spec.schedulingGates) > 0) {
      object.status.conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
          lastProbeTime: null,
          lastTransitionTime: `${new Date(context.now()).toISOString().slice(0, 19)}Z`,
        },
      ]
    }
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource !== 'status') return
    object.status ??= {}
    object.status.qosClass ||= old.status?.qosClass
    if (old.metadata.ownerReferences) object.metadata.ownerReferences = old.metadata.ownerReferences
    else delete object.metadata.ownerReferences
  },
  validate(object) {
    const errors: Errors = []
    validatePod(errors, object)
    if (count(object.spec.ephemeralContainers) > 0) errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'))
    if (object.spec.nodeName && count(object.spec.schedulingGates) > 0) {
      errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'))
    }
    return errors
  },
  validateUpdate(object, old, { subresource }) {
    if (subresource !== '') return []
    return validateUpdate(object, old)
  },
  warnings: podWarnings,
  /** A pod that no node runs, or that has ended, is gone at once. */
  gracePeriodSeconds({ spec, status }) {
    if (!spec.nodeName || status?.phase === 'Failed' || status?.phase === 'Succeeded') return 0
    return Math.max(spec.terminationGracePeriodSeconds ?? 30, 1)
  },
  unknownFieldSelector: unknownLabel,
  selectableFields: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    'spec.restartPolicy': ({ spec }) => spec.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork === true),
    'status.phase': ({ status }) => status?.phase ?? '',
    'status.podIP': ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
    'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName ?? '',
  },
  resetFields: {
    '': [['status']],
    status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  },
}

function validatePod(errors: Errors, { spec }: ApiObject): void {
  validatePodSpec(errors, spec, 'spec', true)
  for (const list of ['containers', 'initContainers']) {
    for (const [i, { image = '' }] of entries(spec[list])) {
      if (image !== image.trim()) errors.push(invalid(`spec.${list}[${i}].image`, image, 'must not have leading or trailing whitespace'))
    }
  }
}

const UPDATABLE =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors: Errors = []
  validatePod(errors, object)
  const { spec } = object
  for (const list of ['containers', 'initContainers']) {
    if (count(spec[list]) !== count(old.spec[list])) {
      errors.push(forbidden(`spec.${list}`, 'pod updates may not add or remove containers'))
      return errors
    }
    for (const [i, { image = '' }] of entries(spec[list]))
      if (image === '') errors.push({ type: 'Required', field: `spec.${list}[${i}].image`, message: 'Required value' })
  }
  deadline(errors, spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds)
  onlyAdded(errors, spec.tolerations, old.spec.tolerations)
  const gates = new Set((old.spec.schedulingGates ?? []).map((gate: Part) => gate.name))
  for (const [i, { name }] of entries(spec.schedulingGates)) {
    if (!gates.has(name))
      errors.push(forbidden(`spec.schedulingGates[${i}].name`, `only deletion is allowed, but found new scheduling gate '${name}'`))
  }
  if (!equalJson(munged(spec, old.spec), munged(old.spec, old.spec))) {
    errors.push(forbidden('spec', `pod updates may not change fields other than ${UPDATABLE}`))
  }
  return errors
}

/** The specification but for what an update may change. */
function munged(spec: Part, old: Part): Part {
  const images = (list: string) => (spec[list] ?? []).map((container: Part, i: number) => ({ ...container, image: old[list]?.[i]?.image }))
  const { activeDeadlineSeconds: _a, schedulingGates: _s, tolerations: _t, ...rest } = spec
  const grace =
    old.terminationGracePeriodSeconds < 0 && spec.terminationGracePeriodSeconds === 1
      ? old.terminationGracePeriodSeconds
      : spec.terminationGracePeriodSeconds
  const gated = count(old.schedulingGates) > 0 ? { nodeSelector: undefined, affinity: undefined } : {}
  return {
    ...rest,
    ...gated,
    containers: images('containers'),
    initContainers: images('initContainers'),
    terminationGracePeriodSeconds: grace,
  }
}

function deadline(errors: Errors, value: number | undefined, old: number | undefined): void {
  const field = 'spec.activeDeadlineSeconds'
  if (value == null) {
    if (old != null) errors.push(invalid(field, null, 'must not update from a positive integer to nil value'))
  } else if (old != null && old < value) errors.push(invalid(field, value, 'must be less than or equal to previous value'))
}

function onlyAdded(errors: Errors, tolerations: Part[] = [], old: Part[] = []): void {
  const bare = ({ tolerationSeconds: _, ...rest }: Part) => rest
  for (const each of old) {
    if (tolerations.some((toleration) => sameSemantically(bare(toleration), bare(each)))) continue
    errors.push(forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'))
    return
  }
}

/** Guaranteed: each container limits cpu and memory to what it requests. BestEffort: none asks for anything. */
export function qualityOfService(spec: Part): string {
  let asks = false
  let guaranteed = true
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const { limits = {}, requests = {} } = container.resources ?? {}
    for (const name of ['cpu', 'memory']) {
      const limit = limits[name]
      const request = requests[name]
      if ((limit && limit !== '0') || (request && request !== '0')) asks = true
      if (!limit || limit === '0' || (request != null && request !== limit)) guaranteed = false
    }
  }
  if (!asks) return 'BestEffort'
  return guaranteed ? 'Guaranteed' : 'Burstable'
}
