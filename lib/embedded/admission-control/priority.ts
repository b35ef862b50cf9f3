/** A pod's priority comes from its PriorityClass, and there is one default class at most. */
import type { AdmissionPlugin, AdmissionRequest, Core } from '../core.ts'
import type { ApiObject } from '../types.ts'
import { isResource, refusal } from './refusal.ts'

const CLASSES = 'scheduling.k8s.io/priorityclasses'

export function priority(core: Core): AdmissionPlugin {
  const classes = () => core.lookup.list('scheduling.k8s.io', 'priorityclasses')
  const defaultClass = () =>
    classes()
      .filter((each) => each.globalDefault === true)
      .sort((a, b) => a.value - b.value)[0]

  function establish(request: AdmissionRequest, name: string): ApiObject | undefined {
    if (name === '') return defaultClass()
    const found = core.lookup.get('scheduling.k8s.io', 'priorityclasses', '', name)
    if (found === undefined) throw refusal(request, `no PriorityClass with name ${name} was found`)
    return found
  }

  return {
    name: 'Priority',
    mutate(request) {
      const { object, old, operation } = request
      if (object === undefined || !isResource(request, '/pods')) return
      const { spec } = object
      if (operation === 'UPDATE') {
        if (spec.priority === undefined && old?.spec.priority !== undefined) spec.priority = old.spec.priority
        if (spec.preemptionPolicy === undefined && old?.spec.preemptionPolicy !== undefined)
          spec.preemptionPolicy = old.spec.preemptionPolicy
        return
      }
      const found = establish(request, spec.priorityClassName ?? '')
      const value = found?.value ?? 0
      const policy = found?.preemptionPolicy ?? 'PreemptLowerPriority'
      const computed = `priority admission controller computed ${value} from the given PriorityClass name`
      if (spec.priority !== undefined && spec.priority !== value) {
        throw refusal(request, `the integer value of priority (${spec.priority}) must not be provided in pod spec; ${computed}`)
      }
      if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
        const text = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec`
        throw refusal(request, `${text}; priority admission controller computed ${policy} from the given PriorityClass name`)
      }
      if (found !== undefined) spec.priorityClassName = found.metadata.name
      spec.priority = value
      spec.preemptionPolicy = policy
    },
    validate(request) {
      const { object, operation } = request
      if (object?.globalDefault !== true || operation === 'DELETE' || !isResource(request, CLASSES)) return
      const other = defaultClass()
      if (other === undefined || (operation === 'UPDATE' && other.metadata.name === object.metadata.name)) return
      throw refusal(request, `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`)
    },
  }
}
