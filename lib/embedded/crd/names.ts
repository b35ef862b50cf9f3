/** Who may have which names: within a group each plural, singular, short name, kind and list kind is one definition's. */
import { equalJson } from '../json.ts'
import type { Condition, Definition, Names } from './definition.ts'

export const sameNames = (a: Names, b: Names): boolean => equalJson(full(a), full(b))

const full = ({ shortNames = [], categories = [], singular = '', listKind = '', ...rest }: Names) => ({
  ...rest,
  shortNames,
  categories,
  singular,
  listKind,
})

/** The names that it gets of those it wants, and the condition `NamesAccepted`; the last conflict is the one told. */
export function acceptNames({ spec, status }: Definition, all: readonly Definition[]): { names: Names; condition: Condition } {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const each of all) {
    if (each.spec.group !== spec.group || !each.status) continue
    const { plural, singular, shortNames = [], kind, listKind } = each.status.acceptedNames
    for (const name of [plural, singular ?? '', ...shortNames]) resources.add(name)
    for (const name of [kind, listKind ?? '']) kinds.add(name)
  }
  const wanted = spec.names
  const had = status.acceptedNames
  const names: Names = { ...had }
  let condition: Condition = { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  const refuse = (reason: string, messages: readonly string[]) => {
    const message = messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
    condition = { type: 'NamesAccepted', status: 'False', reason, message }
  }
  const inUse = (name: string) => `${JSON.stringify(name)} is already in use`
  const take = (member: 'plural' | 'singular' | 'kind' | 'listKind', used: ReadonlySet<string>, reason: string) => {
    const name = wanted[member] ?? ''
    if (name !== (had[member] ?? '') && used.has(name)) refuse(reason, [inUse(name)])
    else names[member] = name
  }
  take('plural', resources, 'PluralConflict')
  take('singular', resources, 'SingularConflict')
  const taken = (wanted.shortNames ?? []).filter((name) => !had.shortNames?.includes(name) && resources.has(name))
  if (taken.length > 0) refuse('ShortNamesConflict', taken.map(inUse))
  else if (wanted.shortNames !== undefined) names.shortNames = wanted.shortNames
  else delete names.shortNames
  take('kind', kinds, 'KindConflict')
  take('listKind', kinds, 'ListKindConflict')
  if (wanted.categories !== undefined) names.categories = wanted.categories
  else delete names.categories
  return { names: ordered(names), condition }
}

/** As the Go type has them. */
function ordered({ plural, singular, shortNames, kind, listKind, categories }: Names): Names {
  return {
    plural,
    ...(singular ? { singular } : {}),
    ...(shortNames?.length ? { shortNames } : {}),
    kind,
    ...(listKind ? { listKind } : {}),
    ...(categories?.length ? { categories } : {}),
  }
}
