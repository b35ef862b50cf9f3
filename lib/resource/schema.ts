/** A schema as a CRD has it (`JSONSchemaProps`), as far as tsop looks into it. */
export interface Schema {
  type?: string
  format?: string
  description?: string
  default?: unknown
  nullable?: boolean
  enum?: unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  not?: Schema
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-validations'?: object[]
  [keyword: string]: unknown
}

/** Part of a `resource()` that a CRD cannot say, or that the API server would refuse. */
export class SchemaError extends Error {
  /** Such as `spec.created`. */
  readonly path: string
  constructor(path: string, text: string) {
    super(`${path}: ${text}`)
    this.name = 'SchemaError'
    this.path = path
  }
}
