/** All functions of a Kubernetes 1.36 server. */
import { type FunctionDeclaration, functionTable } from './environment.ts'
import { authorization } from './library/authorization.ts'
import { comprehension } from './library/comprehension.ts'
import { core } from './library/core.ts'
import { findLibrary } from './library/find.ts'
import { lists, sets } from './library/lists.ts'
import { namedFormat } from './library/named-format.ts'
import { network } from './library/network.ts'
import { optional } from './library/optional.ts'
import { quantity } from './library/quantity.ts'
import { semver } from './library/semver.ts'
import { text } from './library/text.ts'
import { urls } from './library/urls.ts'

let table: ReadonlyMap<string, FunctionDeclaration> | undefined

/** Made when the first rule is; constant. */
export function kubernetesFunctions(): ReadonlyMap<string, FunctionDeclaration> {
  table ??= functionTable([
    ...[core, optional, text, lists, sets, comprehension],
    ...[findLibrary, urls, quantity, network, namedFormat, semver, authorization],
  ])
  return table
}
