/** The kinds that a definition defines: one `ResourceType` for each version. */
import type { FieldError } from '../field-error.ts'
import { cloneJson, encodeJson } from '../json.ts'
import { compareVersions } from '../registry.ts'
import { conforms } from '../schema/conforms.ts'
import { rulesSkipped, validateCustomResource } from '../schema/custom-resource.ts'
import { applyDefaults } from '../schema/defaults.ts'
import { NO_FIELD } from '../schema/findings.ts'
import { prune } from '../schema/prune.ts'
import { ApiError, badRequest } from '../status.ts'
import type { ApiObject, ResourceType, Schema, Strategy, WriteContext } from '../types.ts'
import { printerColumns } from './columns.ts'
import { type Definition, type DefinitionVersion, isTrue } from './definition.ts'
import { compileJsonPath } from './json-path.ts'
import { lazyRules, type Rules } from './rules.ts'
import { scaleSpecErrors, scaleStatusErrors } from './scale.ts'

const ROOT = { root: true }
const STORED = { root: true, lenient: true }
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const VERBS_WHILE_TERMINATING = ['delete', 'deletecollection', 'get', 'list', 'watch']

/** Converts whole objects to another version, by the definition's webhook. */
export type Converter = (object: ApiObject, apiVersion: string) => Promise<ApiObject>

/** Of all versions, served or not. `converter` undefined: only apiVersion changes between them. */
export function resourceTypes(definition: Definition, converter?: Converter): ResourceType[] {
  const { spec } = definition
  const schemas = new Map(spec.versions.map((each) => [`${spec.group}/${each.name}`, each.schema?.openAPIV3Schema ?? {}]))
  return spec.versions.map((version) => resourceType(definition, version, schemas, converter))
}

type Schemas = ReadonlyMap<string, Schema>

function resourceType(definition: Definition, version: DefinitionVersion, schemas: Schemas, converter?: Converter): ResourceType {
  const { group, names, scope, versions } = definition.spec
  const apiVersion = `${group}/${version.name}`
  const schema = schemas.get(apiVersion) ?? {}
  const terminating = isTrue(definition, 'Terminating')
  const scale = version.subresources?.scale
  const columns = printerColumns(version.additionalPrinterColumns)
  const rules = lazyRules(schema)
  const convert = converting(schemas, converter)
  return {
    group,
    version: version.name,
    resource: names.plural,
    singular: names.singular ?? '',
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    custom: true,
    verbs: terminating ? VERBS_WHILE_TERMINATING : VERBS,
    subresources: [...(version.subresources?.status ? ['status'] : []), ...(scale ? ['scale'] : [])],
    bucket: `${group}/${names.plural}`,
    storageVersion: `${group}/${versions.find((each) => each.storage)?.name ?? version.name}`,
    ...(version.deprecated ? { deprecation: deprecation(definition, version) } : {}),
    ...(terminating ? { terminating } : {}),
    ...(scale
      ? {
          scale: {
            spec: scale.specReplicasPath,
            status: scale.statusReplicasPath,
            ...(scale.labelSelectorPath ? { selector: scale.labelSelectorPath } : {}),
          },
        }
      : {}),
    schema: { root: schema, resolve: (each) => each },
    strategy: strategyOf(version),
    ...(columns === undefined ? {} : { columns }),
    prune: (object) => pruneBody(object, schema, names.kind, version.name),
    applySchemaDefaults: (object) => applyDefaults(object, schema),
    validateSchema: (object, old, context) => validateObject(object, old, schema, version, rules, context),
    convert,
    convertsByWebhook: converter !== undefined,
    fromStorage: reading(apiVersion, schemas, convert),
  }
}

function pruneBody(object: ApiObject, schema: Schema, kind: string, version: string): string[] {
  try {
    return prune(object, schema, ROOT)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${error.message}`)
  }
}

function strategyOf(version: DefinitionVersion): Strategy {
  const status = version.subresources?.status !== undefined
  return {
    generation: true,
    allowUnconditionalUpdate: false,
    selectableFields: selectable(version),
    unknownFieldSelector: (field) => badRequest(`field label not supported: ${field}`),
    resetFields: status ? { '': [['status']], status: [['metadata'], ['spec']] } : {},
  }
}

function selectable({ selectableFields = [] }: DefinitionVersion): Record<string, (object: ApiObject) => string> {
  const fields: Record<string, (object: ApiObject) => string> = Object.create(null)
  for (const { jsonPath } of selectableFields) {
    const find = compileJsonPath(jsonPath)
    fields[jsonPath.replace(/^\./, '')] = (object) => {
      const value = find(object)?.[0] ?? ''
      return typeof value === 'object' ? encodeJson(value) : String(value)
    }
  }
  return fields
}

function deprecation({ spec }: Definition, { name, deprecationWarning }: DefinitionVersion): string {
  if (deprecationWarning !== undefined) return deprecationWarning
  const better = spec.versions
    .filter((each) => each.served && !each.deprecated && compareVersions(each.name, name) < 0)
    .map((each) => each.name)
    .sort(compareVersions)[0]
  const says = `${spec.group}/${name} ${spec.names.kind} is deprecated`
  return better === undefined ? says : `${says}; use ${spec.group}/${better} ${spec.names.kind}`
}

function validateObject(
  object: ApiObject,
  old: ApiObject | undefined,
  schema: Schema,
  { subresources }: DefinitionVersion,
  rules: Rules,
  { subresource }: WriteContext,
): { errors: FieldError[]; warnings: string[] } {
  const errors = validateCustomResource(object, old, schema, subresource)
  const scale = subresources?.scale
  if (scale !== undefined) {
    if (subresource !== 'status') errors.push(...scaleSpecErrors(object, scale))
    errors.push(...scaleStatusErrors(object, scale))
  }
  if (!rules.any) return { errors, warnings: [] }
  const skipped = rulesSkipped(errors)
  if (skipped !== undefined) return { errors: [...errors, skipped], warnings: [] }
  const found = rules.validate(object, old)
  // A rule of the root speaks of no field.
  const broken = found.errors.map((error) => (error.field === '' ? { ...error, field: NO_FIELD } : error))
  return { errors: [...errors, ...broken], warnings: found.warnings }
}

/** A copy in another version, without what that version's schema does not have. */
function converting(schemas: Schemas, converter: Converter | undefined): NonNullable<ResourceType['convert']> {
  const coerce = (object: ApiObject): ApiObject => {
    const schema = schemas.get(object.apiVersion)
    if (schema === undefined || conforms(object, schema, false)) return object
    const copy = cloneJson(object)
    prune(copy, schema, STORED)
    return copy
  }
  return (object, apiVersion) => {
    if (converter !== undefined && object.apiVersion !== apiVersion) return converter(object, apiVersion).then(coerce)
    return coerce({ ...object, apiVersion })
  }
}

/**
 * What is stored may be older than its schema: it is pruned and defaulted by the schema of the version it is in, and then
 * converted. Objects in the store never change, so the result is kept with them.
 */
function reading(apiVersion: string, schemas: Schemas, convert: NonNullable<ResourceType['convert']>) {
  const seen = new WeakMap<ApiObject, ApiObject | Promise<ApiObject>>()
  return (stored: ApiObject): ApiObject | Promise<ApiObject> => {
    const known = seen.get(stored)
    if (known !== undefined) return known
    const object = current(stored, schemas.get(stored.apiVersion))
    const result = object.apiVersion === apiVersion ? object : convert(object, apiVersion)
    seen.set(stored, result)
    if (result instanceof Promise) {
      const settled = (value: ApiObject) => void seen.set(stored, value)
      result.then(settled, () => void seen.delete(stored))
    }
    return result
  }
}

function current(stored: ApiObject, schema: Schema | undefined): ApiObject {
  if (schema === undefined || conforms(stored, schema)) return stored
  const copy = cloneJson(stored)
  prune(copy, schema, STORED)
  applyDefaults(copy, schema)
  return copy
}
