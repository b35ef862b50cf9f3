/** `tsop generate rbac` */

import { REVIEWS } from '../generate/deploy.ts'
import { UnknownPluralError } from '../generate/permissions.ts'
import { rbacFiles } from '../generate/rbac.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator } from './generator.ts'
import { OPERATOR_OPTIONS, operatorModel } from './operator-model.ts'

export const rbac: Generator = {
  takes: 'handlers',
  about:
    'Writes a service account for the operator and the narrowest role it works with: from the decorators, and from what @onReconcile says that the class uses. Beside it, roles to view and to edit the kinds, added to those that every cluster has.',
  output: 'config/rbac',
  options: OPERATOR_OPTIONS,
  generate(input) {
    try {
      const model = operatorModel(input)
      return rbacFiles(model, { more: model.metricsSecure ? REVIEWS : [] })
    } catch (error) {
      if (error instanceof UnknownPluralError) throw new CliError(exitCodes.configuration, error.message, { cause: error })
      throw error
    }
  },
}
