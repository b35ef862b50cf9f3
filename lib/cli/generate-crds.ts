/** `tsop generate crds` */

import { crdFiles, definitionsOf } from '../generate/crds.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator } from './generator.ts'

export const crds: Generator = {
  takes: 'handlers',
  about:
    'Writes a CustomResourceDefinition for each kind that the handlers name and that was made with resource(), a file each. What an API server would refuse, such as a rule with a mistake or one that costs too much, is told here.',
  output: 'config/crd',
  options: [],
  async generate({ handlers, paths }) {
    const definitions = definitionsOf(handlers.map(({ spec }) => spec))
    if (definitions.length === 0)
      throw new CliError(
        exitCodes.configuration,
        `generate crds: the handlers in ${paths.join(', ')} name no kind that was made with resource(), so there is nothing to define`,
      )
    const { definitionErrors } = await import('./check-definitions.ts')
    const errors = await definitionErrors(definitions)
    if (errors.length > 0)
      throw new CliError(exitCodes.configuration, `an API server would refuse this:\n${errors.map((line) => `  ${line}`).join('\n')}`)
    return crdFiles(definitions)
  },
}
