/** `tsop generate fence` */

import { fenceFiles } from '../generate/fence.ts'
import { UnknownPluralError } from '../generate/permissions.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator } from './generator.ts'
import { OPERATOR_OPTIONS, operatorModel } from './operator-model.ts'

export const fence: Generator = {
  takes: 'handlers',
  about:
    'Writes a policy by which the API server takes the writes of the operator only from the pod that holds its Lease, so that a former leader gets nothing done, and the Lease itself. It covers all that the role of generate rbac lets the operator write.',
  output: 'config/fence',
  options: OPERATOR_OPTIONS,
  generate(input) {
    try {
      return fenceFiles(operatorModel(input))
    } catch (error) {
      if (error instanceof UnknownPluralError) throw new CliError(exitCodes.configuration, error.message, { cause: error })
      throw error
    }
  },
}
