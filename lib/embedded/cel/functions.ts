/** All functions of a Kubernetes 1.36 server. */
import { type FunctionDeclaration, functionTable } from './environment.ts'
import { comprehension } from './library/comprehension.ts'
import { core } from './library/core.ts'
import { lists, sets } from './library/lists.ts'
import { optional } from './library/optional.ts'
import { text } from './library/text.ts'

let table: ReadonlyMap<string, FunctionDeclaration> | undefined

/** Made when the first rule is; constant. */
export function kubernetesFunctions(): ReadonlyMap<string, FunctionDeclaration> {
  table ??= functionTable([core, optional, text, lists, sets, comprehension])
  return table
}
