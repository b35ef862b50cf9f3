/** What expressions of admission policies know of their variables before they run. */
import { AUTHORIZER, RESOURCE_CHECK } from './library/authorization.ts'
import { BOOL, type CelType, DYN, INT, listOf, mapOf, STRING, struct, TIMESTAMP } from './types.ts'

const TEXTS = listOf(STRING)

function object(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return struct(`kubernetes.${name}`, new Map(Object.entries(fields)))
}

const texts = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, STRING]))

const KIND = object('GroupVersionKind', texts('group', 'version', 'kind'))
const RESOURCE = object('GroupVersionResource', texts('group', 'version', 'resource'))

const REQUEST = object('AdmissionRequest', {
  ...texts('subResource', 'requestSubResource', 'name', 'namespace', 'operation'),
  kind: KIND,
  resource: RESOURCE,
  requestKind: KIND,
  requestResource: RESOURCE,
  userInfo: object('UserInfo', { ...texts('username', 'uid'), groups: TEXTS, extra: mapOf(STRING, TEXTS) }),
  dryRun: BOOL,
  options: DYN,
})

const NAMESPACE = object('Namespace', {
  metadata: object('NamespaceMetadata', {
    ...texts('name', 'generateName', 'namespace', 'UID', 'resourceVersion'),
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    creationTimestamp: TIMESTAMP,
    deletionTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    generation: INT,
    finalizers: TEXTS,
  }),
  spec: object('NamespaceSpec', { finalizers: TEXTS }),
  status: object('NamespaceStatus', {
    phase: STRING,
    conditions: listOf(object('NamespaceCondition', { ...texts('status', 'type', 'message', 'reason'), lastTransitionTime: TIMESTAMP })),
  }),
})

const TYPES: ReadonlyMap<string, CelType> = new Map([
  ['request', REQUEST],
  ['namespaceObject', NAMESPACE],
  ['authorizer', AUTHORIZER],
  ['authorizer.requestResource', RESOURCE_CHECK],
])

/** `members`: of `variables`, each with what its expression gives; undefined: nobody knows them. */
export function policyTypes(names: readonly string[], members?: ReadonlyMap<string, CelType>): ReadonlyMap<string, CelType> {
  const variables = members === undefined ? DYN : struct('kubernetes.variables', members)
  return new Map(names.map((name) => [name, name === 'variables' ? variables : (TYPES.get(name) ?? DYN)]))
}
