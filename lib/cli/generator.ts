/** What a generator is to `tsop generate`: it makes texts; reading handlers, comparing and writing is done for it. */

import type { GeneratedFile } from '../generate/plan.ts'
import type { LoadedHandler } from './load-handlers.ts'
import type { OptionRow, ParsedOptions } from './option-rows.ts'

export interface GeneratorInput {
  /** Empty where the generator takes files. */
  readonly handlers: readonly LoadedHandler[]
  /** The directories and files that were named, or `['handlers']` for a generator that takes handlers. */
  readonly paths: readonly string[]
  /** The generator's own options, and `output`. */
  readonly options: ParsedOptions
  /** The operator's name, from the package.json nearest to the first of `paths`. */
  readonly name: string
  readonly cwd: string
}

export interface Generator {
  /** What the arguments are: directories and files with handlers (default `handlers`), or files of another kind (at least one). */
  readonly takes: 'handlers' | 'files'
  /** What it is for, in sentences for `--help`. */
  readonly about: string
  /** The folder that the paths of its files are below, unless `--output` says otherwise. */
  readonly output: string
  /** Beside those that every generator has: output, check, dry-run, force, debug, help. */
  readonly options: readonly OptionRow[]
  /** The content of each file without the lines that say who made it. Throws a `CliError` for what the user must repair. */
  generate(input: GeneratorInput): Promise<readonly GeneratedFile[]> | readonly GeneratedFile[]
}
