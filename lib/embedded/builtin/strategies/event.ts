/** Events, of both groups. What they must have depends on the group of the request and on whether they have an `eventTime`. */
import { asCoreEvent } from '../../conversion/events.ts'
import { type FieldError, invalid, required } from '../../field-error.ts'
import { byteLength, dnsSubdomain, pathSegmentName, qualifiedName } from '../../names.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import { type Errors, immutable, type Part, sameSemantically, syntax, unknownLabel } from './common.ts'

const about = (member: string) => (event: ApiObject) => asCoreEvent(event).involvedObject?.[member] ?? ''
const OBJECT_MEMBERS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const controllerOf = (event: ApiObject) => asCoreEvent(event).reportingComponent ?? ''

function selectors(object: string, more: NonNullable<Strategy['selectableFields']>): NonNullable<Strategy['selectableFields']> {
  return {
    ...Object.fromEntries(OBJECT_MEMBERS.map((member) => [`${object}.${member}`, about(member)])),
    ...more,
    reason: ({ reason }) => reason ?? '',
    type: ({ type }) => type ?? '',
  }
}

export const event: Strategy = {
  allowCreateOnUpdate: true,
  validateName: pathSegmentName,
  validate(object, { type }) {
    const seen = asCoreEvent(object)
    const errors = legacyErrors(seen, type.group)
    if (type.group === '') return errors
    seriesErrors(errors, seen.series)
    if (!seen.eventTime) errors.push(required('eventTime'))
    if (seen.type !== 'Normal' && seen.type !== 'Warning') errors.push(invalid('type', '', `has invalid value: ${seen.type ?? ''}`))
    for (const member of ['firstTimestamp', 'lastTimestamp', 'count'])
      if (seen[member]) errors.push(invalid(member, '', 'needs to be unset'))
    if (seen.source?.component || seen.source?.host) errors.push(invalid('source', '', 'needs to be unset'))
    for (const problem of dnsSubdomain(object.metadata.name ?? '')) errors.push(invalid('metadata.name', object.metadata.name, problem))
    return errors
  },
  validateUpdate(object, old, { type }) {
    const [now, before] = [asCoreEvent(object), asCoreEvent(old)]
    const errors = legacyErrors(now, type.group)
    if (type.group === '') return errors
    if (!sameSemantically(now.series, before.series)) seriesErrors(errors, now.series)
    for (const member of [
      'involvedObject',
      'reason',
      'message',
      'source',
      'firstTimestamp',
      'lastTimestamp',
      'count',
      'reason',
      'type',
      'eventTime',
      'action',
      'related',
    ]) {
      immutable(errors, now[member], before[member], member)
    }
    immutable(errors, now.reportingComponent, before.reportingComponent, 'reportingController')
    immutable(errors, now.reportingInstance, before.reportingInstance, 'reportingInstance')
    return errors
  },
  unknownFieldSelector: unknownLabel,
  selectableFields: selectors('involvedObject', {
    reportingComponent: controllerOf,
    source: (object) => asCoreEvent(object).source?.component || controllerOf(object),
  }),
}

/** The same objects, found by the names that `events.k8s.io` gives to their fields. */
export const newEvent: Strategy = { ...event, selectableFields: selectors('regarding', { reportingController: controllerOf }) }

function seriesErrors(errors: Errors, series: Part): void {
  if (!series) return
  if (!(series.count >= 2)) errors.push(invalid('series.count', '', 'should be at least 2'))
  if (!series.lastObservedTime) errors.push(required('series.lastObservedTime'))
}

function legacyErrors({ metadata, involvedObject, eventTime, ...seen }: ApiObject, group: string): FieldError[] {
  const errors: Errors = []
  const { namespace = '' } = metadata
  const about: string = involvedObject?.namespace ?? ''
  const mismatch = () => errors.push(invalid('involvedObject.namespace', about, 'does not match event.namespace'))
  if (!eventTime) {
    if (about === '' ? namespace !== '' && namespace !== 'default' : namespace !== about) mismatch()
  } else {
    if (about === '' && namespace !== 'default' && namespace !== 'kube-system') mismatch()
    const controller: string = seen.reportingComponent ?? ''
    const field = group === '' ? 'reportingComponent' : 'reportingController'
    if (controller === '') errors.push(required(field))
    syntax(errors, controller, field, qualifiedName)
    for (const [member, limit] of [
      ['reportingInstance', 128],
      ['action', 128],
      ['reason', 128],
    ] as const) {
      const text: string = seen[member] ?? ''
      if (text === '') errors.push(required(member))
      if (byteLength(text) > limit) errors.push(invalid(member, '', `can have at most ${limit} characters`))
    }
    if (byteLength(seen.message ?? '') > 1024) errors.push(invalid('message', '', 'can have at most 1024 characters'))
  }
  syntax(errors, namespace, 'namespace', dnsSubdomain)
  return errors
}
