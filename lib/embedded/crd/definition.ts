/** CustomResourceDefinition of `apiextensions.k8s.io/v1`, as it is stored. */
import type { ApiObject, Schema } from '../types.ts'

export const GROUP = 'apiextensions.k8s.io'
export const BUCKET = 'apiextensions.k8s.io/customresourcedefinitions'
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'

export interface Names {
  plural: string
  singular?: string
  shortNames?: string[]
  kind: string
  listKind?: string
  categories?: string[]
}

export interface ScalePaths {
  specReplicasPath: string
  statusReplicasPath: string
  labelSelectorPath?: string
}

export interface PrinterColumn {
  name: string
  type: string
  jsonPath: string
  format?: string
  description?: string
  priority?: number
}

export interface DefinitionVersion {
  name: string
  served: boolean
  storage: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: { openAPIV3Schema?: Schema }
  subresources?: { status?: object; scale?: ScalePaths }
  additionalPrinterColumns?: PrinterColumn[]
  selectableFields?: { jsonPath: string }[]
}

export interface WebhookClient {
  url?: string
  service?: { namespace?: string; name?: string; path?: string; port?: number }
  caBundle?: string
}

export interface Conversion {
  strategy: string
  webhook?: { clientConfig?: WebhookClient; conversionReviewVersions?: string[] }
}

export interface DefinitionSpec {
  group: string
  names: Names
  scope: string
  versions: DefinitionVersion[]
  conversion?: Conversion
  preserveUnknownFields?: boolean
}

export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  lastTransitionTime?: string
  reason?: string
  message?: string
}

export interface DefinitionStatus {
  conditions: Condition[] | null
  acceptedNames: Names
  storedVersions: string[]
}

export interface Definition extends ApiObject {
  spec: DefinitionSpec
  status: DefinitionStatus
}

export function conditionOf({ status }: Definition, type: string): Condition | undefined {
  return status?.conditions?.find((each) => each.type === type)
}

export const isTrue = (definition: Definition, type: string): boolean => conditionOf(definition, type)?.status === 'True'

/** The time moves only with the status. */
export function setCondition(definition: Definition, { type, status, reason = '', message = '' }: Condition, now: string): void {
  const conditions = definition.status.conditions ?? []
  const old = conditions.find((each) => each.type === type)
  const since = old?.status === status ? (old.lastTransitionTime ?? now) : now
  const next: Condition = { type, status, lastTransitionTime: since, reason, message }
  definition.status.conditions = old === undefined ? [...conditions, next] : conditions.map((each) => (each === old ? next : each))
}
