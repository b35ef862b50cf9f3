/** Lease: what leader election holds. */
import { type FieldError, forbidden, invalid, notSupported } from '../../field-error.ts'
import { qualifiedName } from '../../names.ts'
import type { Strategy } from '../../types.ts'
import { type Errors, type Part, syntax } from './common.ts'

export const lease: Strategy = {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: ({ spec }) => validateLease(spec),
  validateUpdate: ({ spec }) => validateLease(spec),
}

function validateLease(spec: Part): FieldError[] {
  const errors: Errors = []
  const { leaseDurationSeconds: duration, leaseTransitions: transitions, strategy, preferredHolder } = spec ?? {}
  if (duration !== undefined && duration <= 0) errors.push(invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'))
  if (transitions !== undefined && transitions < 0) {
    errors.push(invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'))
  }
  if (strategy !== undefined && strategy !== 'OldestEmulationVersion') {
    if (strategy.includes('/')) syntax(errors, strategy, 'spec.strategy.strategy', qualifiedName)
    else errors.push(notSupported('spec.strategy.strategy', strategy, ['OldestEmulationVersion']))
  }
  if (preferredHolder && !strategy) errors.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
  return errors
}
