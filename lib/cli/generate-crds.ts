/** `tsop generate crds` */

import { crdFiles, definitionsOf } from '../generate/crds.ts'
import { endpointOf, injected, injectFrom } from '../generate/webhooks.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator } from './generator.ts'
import { OPERATOR_OPTIONS, operatorModel } from './operator-model.ts'

/** The operator's Service, which is asked for conversions. */
const WHERE_OPTIONS = OPERATOR_OPTIONS.filter(({ name }) => name === 'name' || name === 'home')

export const crds: Generator = {
  takes: 'handlers',
  about:
    'Writes a CustomResourceDefinition for each kind that the handlers name and that was made with resource(), a file each. What an API server would refuse, such as a rule with a mistake or one that costs too much, is told here.',
  output: 'config/crd',
  options: [
    ...WHERE_OPTIONS,
    { name: 'cert-manager', sentence: 'Have cert-manager say whom to trust about conversions, as in generate webhooks --cert-manager.' },
  ],
  async generate(input) {
    const { paths } = input
    const model = operatorModel(input)
    const made = definitionsOf(model.specs, endpointOf(model))
    const definitions = input.options.flag('cert-manager') ? made.map((crd) => injected(crd, injectFrom(model))) : made
    if (definitions.length === 0)
      throw new CliError(
        exitCodes.configuration,
        `generate crds: the handlers in ${paths.join(', ')} name no kind that was made with resource(), so there is nothing to define`,
      )
    const { checkDefinitions } = await import('./check-definitions.ts')
    await checkDefinitions(definitions)
    return crdFiles(definitions)
  },
}
