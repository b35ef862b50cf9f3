/**
 * The server's inner form of a definition: what is the same in all versions is moved to the top, which shows in the field
 * paths of errors (`spec.validation.openAPIV3Schema`, even for a single version) and in the values they quote.
 */
import { equalJson } from '../json.ts'
import type { DefinitionSpec, DefinitionVersion } from './definition.ts'

const MEMBERS = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const
export type Member = (typeof MEMBERS)[number]

export interface Hoisted {
  /** Members that all versions have alike, and that are there. */
  readonly top: Pick<DefinitionVersion, Member>
  /** The versions without these. */
  readonly versions: readonly DefinitionVersion[]
}

export function hoist(spec: DefinitionSpec): Hoisted {
  const versions = spec.versions ?? []
  const top: Pick<DefinitionVersion, Member> = {}
  const rest = versions.map((version) => ({ ...version }))
  const [first] = versions
  if (first === undefined) return { top, versions: rest }
  for (const member of MEMBERS) {
    const value = present(first[member])
    if (!versions.every((version) => equalJson(present(version[member]), value))) continue
    if (value !== undefined) Object.assign(top, { [member]: value })
    for (const version of rest) delete version[member]
  }
  return { top, versions: rest }
}

/** An empty list is as good as none. */
function present<T>(value: T): T | undefined {
  return value === null || (Array.isArray(value) && value.length === 0) ? undefined : value
}
