/** What a CustomResourceDefinition must be like (`apiextensions/validation`), with the field paths of the server's inner form. */
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../field-error.ts'
import { equalJson } from '../json.ts'
import { byteLength, dns1035Label, dnsSubdomain } from '../names.ts'
import type { Schema } from '../types.ts'
import { approvalErrors } from './approval.ts'
import { conversionErrors } from './conversion-rules.ts'
import { type Definition, type DefinitionSpec, type DefinitionVersion, isTrue, type Names, type PrinterColumn } from './definition.ts'
import { findField } from './field-path.ts'
import { goVersions } from './go-values.ts'
import { hoist } from './hoisted.ts'
import { schemaErrors } from './schema-errors.ts'

export function validateDefinition(definition: Definition): FieldError[] {
  const { spec, metadata } = definition
  const errors: FieldError[] = []
  if (metadata.name !== `${spec.names?.plural ?? ''}.${spec.group ?? ''}`) {
    errors.push(invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'))
  }
  return [...errors, ...specErrors(spec), ...statusErrors(definition), ...storedVersionErrors(definition), ...approvalErrors(definition)]
}

export function validateDefinitionUpdate(definition: Definition, old: Definition): FieldError[] {
  const { spec } = definition
  const errors = specErrors(spec, old.spec)
  const fixed = (value: unknown, before: unknown, field: string) => {
    if (!equalJson(value, before)) errors.push(invalid(field, value, 'field is immutable'))
  }
  if (isTrue(old, 'Established')) {
    fixed(spec.scope, old.spec.scope, 'spec.scope')
    fixed(spec.names?.kind, old.spec.names.kind, 'spec.names.kind')
  }
  fixed(spec.group, old.spec.group, 'spec.group')
  fixed(spec.names?.plural, old.spec.names.plural, 'spec.names.plural')
  return [...errors, ...statusErrors(definition), ...storedVersionErrors(definition), ...approvalErrors(definition, old)]
}

/** All that is checked of a write to `/status`. */
export function statusErrors({ status }: Definition): FieldError[] {
  return status?.acceptedNames ? nameErrors(status.acceptedNames, 'status.acceptedNames') : []
}

function specErrors(spec: DefinitionSpec, old?: DefinitionSpec): FieldError[] {
  const errors: FieldError[] = []
  const { group = '', scope = '' } = spec
  const versions = spec.versions ?? []
  if (group === '') errors.push(required('spec.group'))
  else {
    const wrong = dnsSubdomain(group)
    if (wrong.length > 0) errors.push(invalid('spec.group', group, wrong.join(',')))
    else if (!group.includes('.')) errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'))
  }
  if (scope === '') errors.push(required('spec.scope'))
  else if (scope !== 'Cluster' && scope !== 'Namespaced') errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']))
  errors.push(...versionErrors(spec, versions, old))
  const { names = { plural: '', kind: '' } } = spec
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[name]) errors.push(required(`spec.names.${name}`))
  }
  errors.push(...nameErrors(names, 'spec.names'), ...conversionErrors(spec.conversion))
  if (spec.preserveUnknownFields === true && old?.preserveUnknownFields !== true) {
    errors.push(
      invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  }
  return errors
}

function versionErrors(spec: DefinitionSpec, versions: readonly DefinitionVersion[], old: DefinitionSpec | undefined): FieldError[] {
  const errors: FieldError[] = []
  const { top, versions: own } = hoist(spec)
  for (const [i, version] of versions.entries()) {
    const at = `spec.versions[${i}]`
    if (version.schema?.openAPIV3Schema === undefined) errors.push(required(`${at}.schema.openAPIV3Schema`))
    const wrong = dns1035Label(version.name ?? '')
    if (wrong.length > 0) {
      errors.push(invalid(`${at}.name`, version.name ?? '', wrong.join(',')))
      // The first one's name is kept in a field of its own, too.
      if (i === 0 && version.name) errors.push(invalid('spec.version', version.name, wrong.join(',')))
    }
    for (const text of deprecationErrors(version)) errors.push(invalid(`${at}.deprecationWarning`, version.deprecationWarning, text))
  }
  // Schemas that all versions share are looked at once, others in their version.
  const places = [
    { at: 'spec.validation', in: 'spec', version: top },
    ...own.map((version, i) => ({ at: `spec.versions[${i}].schema`, in: `spec.versions[${i}]`, version })),
  ]
  const anyStatus = versions.some((version) => version.subresources?.status !== undefined)
  for (const [i, { at, in: inside, version }] of places.entries()) {
    const schema = version.schema?.openAPIV3Schema
    const withStatus = i === 0 ? anyStatus : (version.subresources ?? top.subresources)?.status !== undefined
    if (schema !== undefined) {
      const unchanged = old?.versions.some((each) => equalJson(each.schema?.openAPIV3Schema, schema)) ?? false
      errors.push(...schemaErrors(schema, `${at}.openAPIV3Schema`, { withStatus, unchanged }))
    }
    errors.push(...scaleErrors(version.subresources, `${inside}.subresources`))
    for (const [n, column] of (version.additionalPrinterColumns ?? []).entries()) {
      errors.push(...columnErrors(column, `${inside}.additionalPrinterColumns[${n}]`))
    }
    errors.push(...selectableErrors(version.selectableFields ?? [], schema ?? top.schema?.openAPIV3Schema, `${inside}.selectableFields`))
  }
  const quoted = spec.versions ? goVersions(own) : null
  if (new Set(versions.map((version) => version.name)).size < versions.length) {
    errors.push(invalid('spec.versions', quoted, 'must contain unique version names'))
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    errors.push(invalid('spec.versions', quoted, 'must have exactly one version marked as storage version'))
  }
  return errors
}

function deprecationErrors({ deprecated, deprecationWarning: text }: DefinitionVersion): string[] {
  if (text === undefined) return []
  if (!deprecated) return ['can only be set for deprecated versions']
  const errors: string[] = []
  if (byteLength(text) > 256) errors.push('must be <= 256 characters long')
  if (text === '') errors.push('must not be an empty string')
  const odd = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.exec(text)
  if (odd !== null) {
    const index = byteLength(text.slice(0, odd.index))
    errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`)
  }
  return errors
}

function nameErrors(names: Names, field: string): FieldError[] {
  const errors: FieldError[] = []
  const label = (value: string | undefined, at: string, prefix = '') => {
    if (!value) return
    const wrong = dns1035Label(prefix === '' ? value : value.toLowerCase())
    if (wrong.length > 0) errors.push(invalid(at, value, `${prefix}${wrong.join(',')}`))
  }
  const mixed = 'may have mixed case, but should otherwise match: '
  label(names.plural, `${field}.plural`)
  label(names.singular, `${field}.singular`)
  label(names.kind, `${field}.kind`, mixed)
  label(names.listKind, `${field}.listKind`, mixed)
  for (const [i, name] of (names.shortNames ?? []).entries()) label(name, `${field}.shortNames[${i}]`)
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid(`${field}.listKind`, names.listKind, 'kind and listKind may not be the same'))
  }
  for (const [i, name] of (names.categories ?? []).entries()) label(name, `${field}.categories[${i}]`)
  return errors
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

function columnErrors(column: PrinterColumn, field: string): FieldError[] {
  const errors: FieldError[] = []
  const { name = '', type = '', format = '', jsonPath = '' } = column
  const oneOf = (values: readonly string[]) => `must be one of ${values.join(',')}`
  if (name === '') errors.push(required(`${field}.name`))
  if (type === '') errors.push(required(`${field}.type`, oneOf(COLUMN_TYPES)))
  else if (!COLUMN_TYPES.includes(type)) errors.push(invalid(`${field}.type`, type, oneOf(COLUMN_TYPES)))
  if (format !== '' && !COLUMN_FORMATS.includes(format)) errors.push(invalid(`${field}.format`, format, oneOf(COLUMN_FORMATS)))
  if (jsonPath === '') errors.push(required(`${field}.JSONPath`))
  else if (!jsonPath.startsWith('.')) errors.push(mustStartWithDot(`${field}.JSONPath`, jsonPath))
  return errors
}

const mustStartWithDot = (field: string, path: string) => invalid(field, path, 'must be a simple json path starting with .')

function scaleErrors(subresources: DefinitionVersion['subresources'], field: string): FieldError[] {
  const scale = subresources?.scale
  if (scale === undefined) return []
  const errors: FieldError[] = []
  const check = (name: 'specReplicasPath' | 'statusReplicasPath' | 'labelSelectorPath', under: readonly string[], says: string) => {
    const path = scale[name] ?? ''
    const at = `${field}.scale.${name}`
    if (path === '') {
      if (name !== 'labelSelectorPath') errors.push(required(at))
    } else if (!path.startsWith('.')) errors.push(mustStartWithDot(at, path))
    else if (!under.some((prefix) => path.startsWith(prefix))) errors.push(invalid(at, path, `should be a json path under ${says}`))
  }
  check('specReplicasPath', ['.spec.'], '.spec')
  check('statusReplicasPath', ['.status.'], '.status')
  check('labelSelectorPath', ['.spec.', '.status.'], 'either .spec or .status')
  return errors
}

const SELECTABLE_LIMIT = 8
const SELECTABLE_TYPES = new Set(['string', 'boolean', 'integer'])

function selectableErrors(fields: readonly { jsonPath: string }[], schema: Schema | undefined, at: string): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { jsonPath = '' }] of fields.entries()) {
    const field = `${at}[${i}].jsonPath`
    if (jsonPath === '') {
      errors.push(required(field))
      continue
    }
    try {
      const found = findField(jsonPath, schema ?? {}, { brackets: false })
      if (found.root === 'metadata') errors.push(invalid(field, jsonPath, 'must not point to fields in metadata'))
      if (!SELECTABLE_TYPES.has(found.schema.type ?? '')) {
        errors.push(
          invalid(
            field,
            jsonPath,
            'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
          ),
        )
      }
      if (seen.has(found.path)) errors.push(duplicate(field, jsonPath))
      seen.add(found.path)
    } catch (error) {
      errors.push(invalid(field, jsonPath, `is an invalid path: ${(error as Error).message}`))
    }
  }
  if (seen.size > SELECTABLE_LIMIT) errors.push(tooMany(at, seen.size, SELECTABLE_LIMIT))
  return errors
}

function storedVersionErrors({ spec, status }: Definition): FieldError[] {
  const stored = status?.storedVersions ?? []
  if (stored.length === 0) return [invalid('status.storedVersions', null, 'must have at least one stored version')]
  const errors: FieldError[] = []
  for (const { name, storage } of spec.versions ?? []) {
    if (storage && !stored.includes(name)) errors.push(invalid('status.storedVersions', stored, `must have the storage version ${name}`))
  }
  for (const [i, name] of stored.entries()) {
    if (spec.versions?.some((version) => version.name === name)) continue
    errors.push(
      invalid(
        `status.storedVersions[${i}]`,
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    )
  }
  return errors
}
