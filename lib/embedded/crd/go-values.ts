/** Values of a definition as the server's errors quote them: as JSON of its inner Go types, which have no JSON names. */
import type { Schema } from '../types.ts'
import type { DefinitionVersion } from './definition.ts'

/** Absent stays absent: `spec.versions` of nothing is quoted as null. */
export function goVersions(versions: readonly DefinitionVersion[] | undefined): unknown {
  return versions?.map(goVersion)
}

function goVersion(version: DefinitionVersion): object {
  const { subresources, additionalPrinterColumns: columns, selectableFields } = version
  return {
    Name: version.name ?? '',
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: version.schema ? { OpenAPIV3Schema: goSchema(version.schema.openAPIV3Schema) } : null,
    Subresources: subresources
      ? {
          Status: subresources.status ? {} : null,
          Scale: subresources.scale
            ? {
                SpecReplicasPath: subresources.scale.specReplicasPath ?? '',
                StatusReplicasPath: subresources.scale.statusReplicasPath ?? '',
                LabelSelectorPath: subresources.scale.labelSelectorPath ?? null,
              }
            : null,
        }
      : null,
    AdditionalPrinterColumns:
      columns?.map(({ name, type, format = '', description = '', priority = 0, jsonPath }) => ({
        Name: name,
        Type: type,
        Format: format,
        Description: description,
        Priority: priority,
        JSONPath: jsonPath,
      })) ?? null,
    SelectableFields: selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
  }
}

export function goSchema(schema: Schema | undefined): object | null {
  if (schema === undefined || schema === null) return null
  const all = (list: readonly Schema[] | undefined) => list?.map(goSchema) ?? null
  const table = (members: Record<string, Schema> | undefined) =>
    members === undefined ? null : Object.fromEntries(Object.entries(members).map(([name, each]) => [name, goSchema(each)]))
  const { additionalProperties: more } = schema
  const raw = schema as Readonly<Record<string, unknown>>
  return {
    ID: raw['id'] ?? '',
    Schema: raw['$schema'] ?? '',
    Ref: schema.$ref ?? null,
    Description: schema.description ?? '',
    Type: schema.type ?? '',
    Nullable: schema.nullable ?? false,
    Format: schema.format ?? '',
    Title: schema.title ?? '',
    Default: schema.default ?? null,
    Maximum: schema.maximum ?? null,
    ExclusiveMaximum: schema.exclusiveMaximum ?? false,
    Minimum: schema.minimum ?? null,
    ExclusiveMinimum: schema.exclusiveMinimum ?? false,
    MaxLength: schema.maxLength ?? null,
    MinLength: schema.minLength ?? null,
    Pattern: schema.pattern ?? '',
    MaxItems: schema.maxItems ?? null,
    MinItems: schema.minItems ?? null,
    UniqueItems: schema.uniqueItems ?? false,
    MultipleOf: schema.multipleOf ?? null,
    Enum: schema.enum ?? null,
    MaxProperties: schema.maxProperties ?? null,
    MinProperties: schema.minProperties ?? null,
    Required: schema.required ?? null,
    Items: schema.items ? { Schema: goSchema(schema.items), JSONSchemas: null } : null,
    AllOf: all(schema.allOf),
    OneOf: all(schema.oneOf),
    AnyOf: all(schema.anyOf),
    Not: goSchema(schema.not),
    Properties: table(schema.properties),
    AdditionalProperties: more === undefined ? null : { Allows: more !== false, Schema: typeof more === 'object' ? goSchema(more) : null },
    PatternProperties: null,
    Dependencies: null,
    AdditionalItems: null,
    Definitions: null,
    ExternalDocs: schema.externalDocs ?? null,
    Example: schema.example ?? null,
    XPreserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] ?? null,
    XEmbeddedResource: schema['x-kubernetes-embedded-resource'] ?? false,
    XIntOrString: schema['x-kubernetes-int-or-string'] ?? false,
    XListMapKeys: schema['x-kubernetes-list-map-keys'] ?? null,
    XListType: schema['x-kubernetes-list-type'] ?? null,
    XMapType: schema['x-kubernetes-map-type'] ?? null,
    XValidations: schema['x-kubernetes-validations'] ?? null,
  }
}
