/** `tsop generate crds` */

import { crdFiles, definitionsOf } from '../generate/crds.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator } from './generator.ts'

export const crds: Generator = {
  takes: 'handlers',
  about: 'Writes a CustomResourceDefinition for each kind that the handlers name and that was made with resource(), a file each.',
  output: 'config/crd',
  options: [],
  generate({ handlers, paths }) {
    const definitions = definitionsOf(handlers.map(({ spec }) => spec))
    if (definitions.length === 0) {
      const what = "a kind of one's own is made with resource()"
      throw new CliError(exitCodes.configuration, `generate crds: the handlers in ${paths.join(', ')} name no kind of their own; ${what}`)
    }
    return crdFiles(definitions)
  },
}
