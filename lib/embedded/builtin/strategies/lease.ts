/** Lease: what leader election holds. */
import { type FieldError, invalid } from '../../field-error.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import type { Errors, Part } from './common.ts'

/** Coordinated leader election is not enabled: what belongs to it is dropped. */
function dropCoordination({ spec }: ApiObject): void {
  if (!spec) return
  delete spec.strategy
  delete spec.preferredHolder
}

export const lease: Strategy = {
  prepareForCreate: dropCoordination,
  prepareForUpdate: dropCoordination,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: ({ spec }) => validateLease(spec),
  validateUpdate: ({ spec }) => validateLease(spec),
}

function validateLease(spec: Part): FieldError[] {
  const errors: Errors = []
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec ?? {}
  if (duration != null && duration <= 0) errors.push(invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'))
  if (transitions != null && transitions < 0) {
    errors.push(invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'))
  }
  return errors
}
