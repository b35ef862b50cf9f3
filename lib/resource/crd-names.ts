/** Checks the names of a definition as the API server will, but with an error at the place where they are written. */

interface CrdNames {
  readonly plural: string
  readonly singular: string
}

interface Named {
  readonly group: string
  readonly version: string
  readonly versions?: readonly { readonly version: string }[]
  readonly kind: string
  readonly scope?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly annotations?: Readonly<Record<string, string>>
}

/** RFC 1035, in lower case. */
const LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/
const DOMAIN = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+$/
const VERSION = /^v[0-9]+((alpha|beta)[0-9]+)?$/
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/
/** Needs https://github.com/kubernetes/enhancements/pull/1111. */
const PROTECTED = /(^|\.)(k8s|kubernetes)\.io$/

/** @throws TypeError */
export function checkNames(definition: Named, names: CrdNames): void {
  const { group, kind, scope, shortNames = [], categories = [] } = definition
  const refuse = (field: string, expected: string, value: unknown): never => {
    throw new TypeError(`resource ${String(kind)}: ${field}: expected ${expected}, not ${JSON.stringify(value)}`)
  }
  if (!matches(KIND, kind)) refuse('kind', "a CamelCase word such as 'Database'", kind)
  if (!matches(DOMAIN, group)) refuse('group', "a domain with at least one dot, in lower case, such as 'db.example.com'", group)
  if (PROTECTED.test(group) && definition.annotations?.['api-approved.kubernetes.io'] === undefined) {
    refuse('group', 'a domain of your own (the Kubernetes project keeps *.k8s.io and *.kubernetes.io)', group)
  }
  for (const { version } of [definition, ...(definition.versions ?? [])])
    if (!matches(VERSION, version)) refuse('version', "'v1', 'v1beta1', 'v2alpha3' or the like", version)
  if (scope !== undefined && scope !== 'Namespaced' && scope !== 'Cluster') refuse('scope', "'Namespaced' or 'Cluster'", scope)
  if (!matches(LABEL, names.plural)) refuse('plural', "lower-case letters, digits and dashes, such as 'databases'", names.plural)
  if (!matches(LABEL, names.singular)) refuse('singular', "lower-case letters, digits and dashes, such as 'database'", names.singular)
  for (const name of shortNames)
    if (!matches(LABEL, name)) refuse('shortNames', "lower-case letters, digits and dashes, such as 'db'", name)
  for (const name of categories)
    if (!matches(LABEL, name)) refuse('categories', "lower-case letters, digits and dashes, such as 'all'", name)
}

function matches(pattern: RegExp, value: unknown): boolean {
  return typeof value === 'string' && pattern.test(value)
}
