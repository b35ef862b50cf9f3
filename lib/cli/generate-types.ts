/** `tsop generate types` */

import { typeFiles } from '../generate/types.ts'
import type { CustomResourceDefinition } from '../resource/kind.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator } from './generator.ts'
import { readManifests } from './read-manifests.ts'

export const types: Generator = {
  takes: 'files',
  about:
    'Reads CustomResourceDefinitions of others (YAML or JSON, several documents, directories; other manifests are passed over) and writes a TypeScript file for each: a typed reference to the kind for @owns, @watches and ctx.client, in all versions that are served, with the descriptions of the fields.',
  output: 'types',
  options: [],
  generate({ paths, cwd }) {
    const definitions = readManifests(paths, cwd).filter(({ kind }) => kind === 'CustomResourceDefinition')
    if (definitions.length === 0)
      throw new CliError(exitCodes.configuration, `generate types: no CustomResourceDefinition is in ${paths.join(', ')}`)
    const names = definitions.map(({ metadata }) => metadata.name)
    const twice = names.find((name, i) => names.indexOf(name) !== i)
    if (twice !== undefined) throw new CliError(exitCodes.configuration, `generate types: ${twice} is defined twice in ${paths.join(', ')}`)
    try {
      return typeFiles(definitions as readonly object[] as readonly CustomResourceDefinition[])
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw new CliError(exitCodes.configuration, error.message.replace(/^resourceFrom/, 'generate types'), { cause: error })
    }
  },
}
