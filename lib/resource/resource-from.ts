/** `resourceFrom()`: a kind that somebody else defines, taken from its CustomResourceDefinition. */

import { isObject } from './is-object.ts'
import type { CustomResourceDefinition, CustomResourceVersion, KindRef, KubeObject, StatusSupport } from './kind.ts'
import { parseYaml, type YamlDocument, YamlError } from './yaml.ts'

/** An object of which only the definition is known. Give `resourceFrom` a type of your own to know more. */
export interface ForeignObject extends KubeObject {
  spec?: Record<string, unknown>
  status?: Record<string, unknown>
}

export interface ForeignKind<O> extends KindRef<O> {
  readonly plural: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly crd: CustomResourceDefinition
  /** tsop does not install the definition: it belongs to somebody else. */
  readonly foreign: true
}

/**
 * A reference to a kind defined elsewhere, by its CustomResourceDefinition as an object or as YAML (one document).
 * What the engine may write to its status is read from the schema: what that does not know, the API server would drop.
 *
 * @param options.version default: the version it is stored in
 * @throws TypeError where it is no CustomResourceDefinition of `apiextensions.k8s.io/v1`, or does not serve the version
 *
 * @example
 * export type Certificate = KubeObject & { spec: { secretName: string } }
 * export const Certificate = resourceFrom<Certificate>(readFileSync(new URL('certificates.yaml', import.meta.url), 'utf8'))
 */
export function resourceFrom<O = ForeignObject>(definition: object | string, options: { version?: string } = {}): ForeignKind<O> {
  const crd = checked(typeof definition === 'string' ? parsed(definition) : definition)
  const version = chosen(crd, options.version)
  const status = statusSupport(version)
  return {
    apiVersion: `${crd.spec.group}/${version.name}`,
    kind: crd.spec.names.kind,
    plural: crd.spec.names.plural,
    scope: crd.spec.scope,
    ...(status === undefined ? {} : { status }),
    crd,
    foreign: true,
  }
}

function parsed(text: string): unknown {
  const [only, ...others] = documents(text)
  if (only === undefined) throw new TypeError('resourceFrom: the text is empty; expected a CustomResourceDefinition as YAML')
  if (others.length > 0)
    throw new TypeError(`resourceFrom: expected one YAML document, not ${1 + others.length}; hand over each definition by itself`)
  return only.value
}

function documents(text: string): YamlDocument[] {
  try {
    return parseYaml(text)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const { message, line, column } = error
    throw new TypeError(`resourceFrom: the text is no YAML: ${message} (line ${line}, column ${column})`, { cause: error })
  }
}

function checked(value: unknown): CustomResourceDefinition {
  const crd = value as Partial<CustomResourceDefinition> | null
  if (typeof crd !== 'object' || crd === null || Array.isArray(crd))
    throw new TypeError('resourceFrom: expected a CustomResourceDefinition')
  const { apiVersion, kind } = crd as { apiVersion?: unknown; kind?: unknown }
  if (kind !== 'CustomResourceDefinition')
    throw new TypeError(`resourceFrom: expected a CustomResourceDefinition, not ${JSON.stringify(kind) ?? 'an object without a kind'}`)
  if (apiVersion !== 'apiextensions.k8s.io/v1') {
    const old =
      apiVersion === 'apiextensions.k8s.io/v1beta1' ? ', which Kubernetes 1.22 dropped: take a newer release of the definition' : ''
    throw new TypeError(`resourceFrom: expected apiVersion apiextensions.k8s.io/v1, not ${JSON.stringify(apiVersion)}${old}`)
  }
  const name = isText(crd.metadata?.name) ? crd.metadata.name : 'without a name'
  const problem = shapeProblem(crd.spec)
  if (problem !== undefined) throw new TypeError(`resourceFrom: the definition ${name} is not complete: ${problem}`)
  const { group, names, versions } = crd.spec as CustomResourceDefinition['spec']
  // They become names of files and words of code: those of a definition that no API server has looked at may say anything.
  for (const [field, text, form] of [
    ['group', group, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/],
    ['names.plural', names.plural, DNS_LABEL],
    ['names.kind', names.kind.toLowerCase(), DNS_LABEL],
    ...versions.map((version) => ['versions[].name', version.name, DNS_LABEL] as const),
  ] as const) {
    if (!form.test(text))
      throw new TypeError(`resourceFrom: the definition ${name} has a spec.${field} that is none: ${JSON.stringify(text)}`)
  }
  for (const version of versions) {
    const wrong = versionProblem(version)
    if (wrong !== undefined) throw new TypeError(`resourceFrom: the definition ${name}, version ${version.name}: ${wrong}`)
  }
  return crd as CustomResourceDefinition
}

/** What is missing, or of another form. */
function shapeProblem(spec: unknown): string | undefined {
  if (!isObject(spec)) return expected('spec', 'an object', spec)
  const { group, names, scope, versions } = spec
  if (!isText(group)) return expected('spec.group', 'a text', group)
  if (!isObject(names)) return expected('spec.names', 'an object', names)
  for (const field of ['kind', 'plural']) if (!isText(names[field])) return expected(`spec.names.${field}`, 'a text', names[field])
  if (!isText(scope)) return expected('spec.scope', 'a text', scope)
  if (!Array.isArray(versions) || versions.length === 0) return expected('spec.versions', 'a list of versions', versions)
  for (const [i, version] of versions.entries()) {
    if (!isObject(version)) return expected(`spec.versions[${i}]`, 'an object', version)
    if (!isText(version['name'])) return expected(`spec.versions[${i}].name`, 'a text', version['name'])
  }
  return undefined
}

/** A version may have no schema at all; one that is there is read. */
function versionProblem({ schema }: CustomResourceVersion): string | undefined {
  if (schema === undefined) return undefined
  if (!isObject(schema)) return expected('schema', 'an object', schema)
  return schemaProblem(schema['openAPIV3Schema'], 'schema.openAPIV3Schema')
}

/** As deep as anybody looks: null and the like where a schema is to be, and lists that are none. */
function schemaProblem(schema: unknown, path: string): string | undefined {
  if (!isObject(schema)) return expected(path, 'a schema', schema)
  for (const field of ['enum', 'required'])
    if (schema[field] !== undefined && !Array.isArray(schema[field])) return expected(`${path}.${field}`, 'a list', schema[field])
  const { properties = {}, items, additionalProperties } = schema
  if (!isObject(properties)) return expected(`${path}.properties`, 'schemas by name', properties)
  for (const [field, inner] of Object.entries(properties)) {
    const problem = schemaProblem(inner, `${path}.properties.${field}`)
    if (problem !== undefined) return problem
  }
  const inside = [items === undefined ? undefined : schemaProblem(items, `${path}.items`)]
  if (additionalProperties !== undefined && typeof additionalProperties !== 'boolean')
    inside.push(schemaProblem(additionalProperties, `${path}.additionalProperties`))
  return inside.find((problem) => problem !== undefined)
}

function expected(path: string, what: string, value: unknown): string {
  if (value === undefined) return `${path} is missing, expected ${what}`
  const shown = Array.isArray(value)
    ? value.length === 0
      ? 'an empty list'
      : 'a list'
    : isObject(value)
      ? 'an object'
      : JSON.stringify(value)
  return `${path} is ${shown}, expected ${what}`
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#rfc-1035-label-names */
const DNS_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function chosen(crd: CustomResourceDefinition, name: string | undefined): CustomResourceVersion {
  const { versions } = crd.spec
  const stored = versions.find((version) => version.storage && version.served) ?? versions.find((version) => version.served)
  const version = name === undefined ? stored : versions.find((candidate) => candidate.name === name)
  const list = versions.filter((candidate) => candidate.served).map((candidate) => candidate.name)
  if (version === undefined || !version.served) {
    const which = name === undefined ? 'no version' : `no version ${name}`
    throw new TypeError(`resourceFrom: ${crd.spec.names.kind} serves ${which}; it serves ${list.join(', ') || 'none at all'}`)
  }
  return version
}

type Node = Record<string, unknown>

/** Nothing to write without the status subresource: a status inside of the object belongs to whoever writes its spec. */
function statusSupport(version: CustomResourceVersion): StatusSupport | undefined {
  if (version.subresources?.status === undefined || version.subresources.status === null) return undefined
  const root = (version.schema?.openAPIV3Schema ?? {}) as Node
  const status = field(root, 'status')
  const open = keepsUnknown(root) && status === undefined ? true : status !== undefined && keepsUnknown(status)
  const has = (name: string) => status !== undefined && field(status, name) !== undefined
  return {
    conditions: has('conditions') ? conditionsFit(status) : open,
    observedGeneration: open || has('observedGeneration'),
    external: has('external') ? externalFits(status) : open,
  }
}

function field(schema: Node, name: string): Node | undefined {
  return (schema.properties as Record<string, Node> | undefined)?.[name]
}

function keepsUnknown(schema: Node): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true
}

/** Whether a `metav1.Condition` can be kept there whole: some kinds have conditions of another shape. */
function conditionsFit(status: Node | undefined): boolean {
  const conditions = field(status ?? {}, 'conditions')
  const items = conditions?.items as Node | undefined
  if (conditions?.type !== 'array' || items === undefined) return false
  if (keepsUnknown(items)) return true
  const needed = (items.required as string[] | undefined) ?? []
  return needed.every((name) => WRITTEN.includes(name)) && WRITTEN.every((name) => field(items, name) !== undefined)
}

const WRITTEN = ['type', 'status', 'reason', 'message', 'lastTransitionTime', 'observedGeneration']

/** Whether records by name can be kept there, as `resource()` makes it. */
function externalFits(status: Node | undefined): boolean {
  const external = field(status ?? {}, 'external') ?? {}
  const records = external.additionalProperties
  return keepsUnknown(external) || (typeof records === 'object' && records !== null && keepsUnknown(records as Node))
}
