/** The variables that expressions of policies and match conditions may use, with what is known of their types. */
import { AUTHORIZER, RESOURCE_CHECK } from '../cel/library/authorization.ts'
import { BOOL, type CelType, DYN, INT, listOf, mapOf, STRING, struct } from '../cel/types.ts'

const fields = (name: string, members: Readonly<Record<string, CelType>>): CelType =>
  struct(`kubernetes.${name}`, new Map(Object.entries(members)))

const LABELS = mapOf(STRING, STRING)
const KIND = fields('GroupVersionKind', { group: STRING, version: STRING, kind: STRING })
const RESOURCE = fields('GroupVersionResource', { group: STRING, version: STRING, resource: STRING })

const REQUEST = fields('AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: fields('UserInfo', { username: STRING, uid: STRING, groups: listOf(STRING), extra: mapOf(STRING, listOf(STRING)) }),
  dryRun: BOOL,
  options: DYN,
})

const NAMESPACE = fields('Namespace', {
  metadata: fields('NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: LABELS,
    annotations: LABELS,
    UID: STRING,
    // Times; as text here.
    creationTimestamp: DYN,
    deletionTimestamp: DYN,
    deletionGracePeriodSeconds: INT,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: fields('NamespaceSpec', { finalizers: listOf(STRING) }),
  status: fields('NamespaceStatus', { conditions: listOf(DYN), phase: STRING }),
})

export interface Declarations {
  /** There is `params`. */
  readonly params: boolean
  /** There is `authorizer`. */
  readonly authorizer: boolean
  /** Members of `variables`; undefined: there is no such variable. */
  readonly variables?: ReadonlyMap<string, CelType>
}

export function declaredTypes({ params, authorizer, variables }: Declarations): ReadonlyMap<string, CelType> {
  const types = new Map([
    ['object', DYN],
    ['oldObject', DYN],
    ['request', REQUEST],
    ['namespaceObject', NAMESPACE],
  ])
  if (params) types.set('params', DYN)
  if (authorizer) types.set('authorizer', AUTHORIZER).set('authorizer.requestResource', RESOURCE_CHECK)
  if (variables !== undefined) types.set('variables', struct('kubernetes.variables', variables))
  return types
}
