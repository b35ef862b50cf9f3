/** Kinds that operators seldom write: defaults, and the fields that must be there. */
import { type FieldError, invalid, required } from '../../field-error.ts'
import { labelName } from '../../names.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import { count, type Errors, immutable, nonNegative, unknownLabel } from './common.ts'
import { keepMetadata, STATUS_ALONE } from './status.ts'

export const runtimeClass: Strategy = {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate({ handler }) {
    if (!handler) return [required('handler')]
    return labelName(handler, false).map((problem) => invalid('handler', handler, problem))
  },
  validateUpdate({ handler }, old) {
    const errors: Errors = []
    immutable(errors, handler, old.handler, 'handler')
    return errors
  },
}

export const flowSchema: Strategy = {
  generation: true,
  prepareForUpdate: keepMetadata,
  resetFields: STATUS_ALONE,
  defaults({ spec }) {
    if (!spec.matchingPrecedence) spec.matchingPrecedence = 1000
  },
}

export const priorityLevelConfiguration: Strategy = {
  generation: true,
  prepareForUpdate: keepMetadata,
  resetFields: STATUS_ALONE,
  defaults({ spec }) {
    const { exempt, limited } = spec ?? {}
    if (exempt) {
      exempt.nominalConcurrencyShares ??= 0
      exempt.lendablePercent ??= 0
    }
    if (!limited) return
    limited.nominalConcurrencyShares ??= 30
    limited.lendablePercent ??= 0
    const queuing = limited.limitResponse?.queuing
    if (!queuing) return
    if (!queuing.queues) queuing.queues = 64
    if (!queuing.handSize) queuing.handSize = 8
    if (!queuing.queueLengthLimit) queuing.queueLengthLimit = 50
  },
}

export const controllerRevision: Strategy = {
  validate({ revision, data }) {
    const errors: Errors = []
    nonNegative(errors, revision, 'revision')
    if (data == null) errors.push(required('data', 'data is mandatory'))
    else if (typeof data !== 'object' || Array.isArray(data)) errors.push(required('data', 'data must be a valid JSON object'))
    return errors
  },
  validateUpdate({ revision, data }, old) {
    const errors: Errors = []
    nonNegative(errors, revision, 'revision')
    immutable(errors, data, old.data, 'data')
    return errors
  },
}

export const volumeAttributesClass: Strategy = {
  returnsDeleted: true,
  validate({ driverName, parameters }) {
    const errors: Errors = []
    if (!driverName) errors.push(required('driverName', ''))
    if (Object.keys(parameters ?? {}).length === 0) errors.push(required('parameters', 'must contain at least one key/value pair'))
    return errors
  },
  validateUpdate(object, old) {
    const errors: Errors = []
    for (const member of ['driverName', 'parameters']) immutable(errors, object[member], old[member], member)
    return errors
  },
}

export const certificateSigningRequest: Strategy = {
  validate: validateRequest,
  unknownFieldSelector: unknownLabel,
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
}

function validateRequest({ spec }: ApiObject): FieldError[] {
  const errors: Errors = []
  const { request, usages, signerName = '' } = spec ?? {}
  if (
    !Buffer.from(request ?? '', 'base64')
      .toString()
      .includes('CERTIFICATE REQUEST')
  ) {
    errors.push(invalid('spec.request', '', 'PEM block type must be CERTIFICATE REQUEST'))
  }
  if (count(usages) === 0) errors.push(required('spec.usages'))
  if (!/^[^/]+\.[^/]+\/.+$/.test(signerName)) {
    errors.push(invalid('spec.signerName', signerName, "must be a fully qualified domain and path of the form 'example.com/signer-name'"))
  }
  return errors
}

/** Kinds with nothing of their own but a status that is written alone. */
export const statusAlone: Strategy = { prepareForUpdate: keepMetadata, resetFields: STATUS_ALONE }
