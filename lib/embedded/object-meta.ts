/**
 * The rules of `metadata`, the same for all kinds: what a client may not set, what must hold on creation and on update
 * (`k8s.io/apimachinery/pkg/api/validation`), and the names the server makes.
 */
import { type FieldError, forbidden, invalid, required, tooLong } from './field-error.ts'
import { equalJson } from './json.ts'
import { byteLength, labelName, labelValue, pathSegmentName, qualifiedName, subdomainName } from './names.ts'
import type { ApiObject, ManagedFieldsEntry, Metadata, OwnerReference, ResourceType } from './types.ts'

/** Finalizers that stand for a deletion's propagation policy. */
export const FOREGROUND = 'foregroundDeletion'
export const ORPHAN = 'orphan'

const ANNOTATIONS_LIMIT = 256 * 1024
const MANAGER_LIMIT = 128
const SUBRESOURCE_LIMIT = 256

/** What only the server sets: forgotten when a client sends it on a create. */
export function wipeSystemFields(metadata: Metadata): void {
  delete metadata.creationTimestamp
  delete metadata.uid
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
}

/** RFC 3339 in seconds, as `metav1.Time`. */
export function timestamp(milliseconds: number): string {
  // As toISOString gives it, without the three digits of a second's parts.
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

export function newUid(random: () => number): string {
  const hex = [word(random), word(random), word(random), word(random)].join('')
  const variant = '89ab'[Math.floor(random() * 4)]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

const word = (random: () => number) =>
  Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, '0')

// No vowels and nothing that looks like another letter, so that no words come out (`k8s.io/apimachinery/pkg/util/rand`).
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const LONGEST_BASE = 58

export function generateName(base: string, random: () => number): string {
  let name = base.slice(0, LONGEST_BASE)
  for (let i = 0; i < 5; i++) name += ALPHABET[Math.floor(random() * ALPHABET.length)]
  return name
}

export function validateOnCreate(type: ResourceType, metadata: Metadata): FieldError[] {
  const errors = validateMetadata(metadata, type.namespaced, type.strategy.validateName ?? subdomainName)
  return metadata.finalizers === undefined || !checksFinalizers(type) ? errors : [...errors, ...unqualifiedFinalizers(metadata.finalizers)]
}

// The groups whose kinds take any finalizer that is a qualified name, as custom kinds do.
const ANY_FINALIZER = new Set(['admissionregistration.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io', 'coordination.k8s.io'])
const STANDARD_FINALIZERS = new Set(['kubernetes', ORPHAN, FOREGROUND])

const checksFinalizers = ({ custom, group }: ResourceType) => !custom && !ANY_FINALIZER.has(group)

function unqualifiedFinalizers(finalizers: readonly string[]): FieldError[] {
  return finalizers.flatMap((each, i) =>
    each.includes('/') || STANDARD_FINALIZERS.has(each)
      ? []
      : [invalid(`metadata.finalizers[${i}]`, each, 'name is neither a standard finalizer name nor is it fully qualified')],
  )
}

/** Kinds that check the whole of an object, with its metadata, also when it is updated. */
const CHECKED_WHOLE = new Set([
  '/configmaps',
  '/limitranges',
  '/persistentvolumeclaims',
  '/persistentvolumes',
  '/pods',
  '/secrets',
  '/serviceaccounts',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
])

/**
 * What is checked of an object that changes. The real server runs the rules twice (for all kinds, and in each kind's
 * strategy), which shows in causes that come twice: kept, clients count them.
 */
export function validateOnUpdate(type: ResourceType, metadata: Metadata, old: Metadata): FieldError[] {
  // Nearly all updates leave metadata as it was but for managedFields: nothing to check then.
  if (sameMetadata(metadata, old)) return NONE
  const update = updateErrors(metadata, old)
  const common = validateMetadata(metadata, type.namespaced, pathSegmentName)
  const finalizers = checksFinalizers(type) && metadata.finalizers !== undefined ? unqualifiedFinalizers(metadata.finalizers) : NONE
  if (update.length === 0 && common.length === 0 && finalizers.length === 0) return NONE
  const whole = CHECKED_WHOLE.has(type.bucket) ? validateOnCreate(type, metadata) : NONE
  return [...common, ...update, ...update, ...finalizers, ...whole]
}

const NONE: FieldError[] = []

function sameMetadata(a: Metadata, b: Metadata): boolean {
  return (
    a.name === b.name &&
    a.namespace === b.namespace &&
    a.uid === b.uid &&
    a.generateName === b.generateName &&
    a.deletionTimestamp === b.deletionTimestamp &&
    a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds &&
    a.generation === b.generation &&
    equalJson(a.labels, b.labels) &&
    equalJson(a.annotations, b.annotations) &&
    equalJson(a.finalizers, b.finalizers) &&
    equalJson(a.ownerReferences, b.ownerReferences) &&
    validateManagedFields(a.managedFields).length === 0
  )
}

type NameRule = (name: string, prefix: boolean) => string[]

/** All rules that hold for one state of `metadata`; paths begin with `metadata`. */
export function validateMetadata(metadata: Metadata, namespaced: boolean, nameRule: NameRule): FieldError[] {
  const errors: FieldError[] = []
  if (metadata.generateName) {
    for (const text of nameRule(metadata.generateName, true)) errors.push(invalid('metadata.generateName', metadata.generateName, text))
  }
  if (!metadata.name) errors.push(required('metadata.name', 'name or generateName is required'))
  else for (const text of nameRule(metadata.name, false)) errors.push(invalid('metadata.name', metadata.name, text))
  if (namespaced) {
    if (!metadata.namespace) errors.push(required('metadata.namespace'))
    else for (const text of labelName(metadata.namespace, false)) errors.push(invalid('metadata.namespace', metadata.namespace, text))
  } else if (metadata.namespace) errors.push(forbidden('metadata.namespace', 'not allowed on this type'))
  if (metadata.generation !== undefined && metadata.generation < 0) {
    errors.push(invalid('metadata.generation', metadata.generation, 'must be greater than or equal to 0'))
  }
  validateMaps(metadata, errors)
  if (metadata.finalizers !== undefined) errors.push(...validateFinalizers(metadata.finalizers))
  errors.push(...validateManagedFields(metadata.managedFields))
  return errors
}

function validateMaps(metadata: Metadata, errors: FieldError[]): void {
  if (metadata.labels !== undefined) errors.push(...validateLabels(metadata.labels, 'metadata.labels'))
  if (metadata.annotations !== undefined) errors.push(...validateAnnotations(metadata.annotations, 'metadata.annotations'))
  if (metadata.ownerReferences !== undefined) errors.push(...validateOwnerReferences(metadata.ownerReferences, 'metadata.ownerReferences'))
}

function updateErrors(metadata: Metadata, old: Metadata): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp) {
    const known = new Set(old.finalizers)
    const added = [...new Set(metadata.finalizers)].filter((each) => !known.has(each)).toSorted()
    if (added.length > 0) {
      const list = added.map((each) => JSON.stringify(each)).join(', ')
      errors.push(
        forbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
        ),
      )
    }
  }
  if (!metadata.resourceVersion)
    errors.push(invalid('metadata.resourceVersion', metadata.resourceVersion ?? '', 'must be specified for an update'))
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid('metadata.generation', metadata.generation ?? 0, 'must not be decremented'))
  }
  for (const name of IMMUTABLE) {
    if (!equalJson(metadata[name] ?? undefined, old[name] ?? undefined)) {
      errors.push(invalid(`metadata.${name}`, metadata[name] ?? (name === 'deletionTimestamp' ? null : ''), 'field is immutable'))
    }
  }
  validateMaps(metadata, errors)
  errors.push(...validateManagedFields(metadata.managedFields))
  return errors
}

const IMMUTABLE = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

export function validateLabels(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(labels)) {
    for (const text of qualifiedName(key)) errors.push(invalid(field, key, text))
    for (const text of labelValue(value)) errors.push(invalid(field, value, text))
  }
  return errors
}

export function validateAnnotations(annotations: Readonly<Record<string, string>>, field: string): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    for (const text of qualifiedName(key.toLowerCase())) errors.push(invalid(field, key, text))
    size += byteLength(key) + byteLength(value)
  }
  if (size > ANNOTATIONS_LIMIT) errors.push(tooLong(field, ANNOTATIONS_LIMIT))
  return errors
}

function validateOwnerReferences(references: readonly OwnerReference[], field: string): FieldError[] {
  const errors: FieldError[] = []
  let controller = ''
  for (const { apiVersion = '', kind = '', name = '', uid = '', ...rest } of references) {
    // As schema.ParseGroupVersion: more than one slash makes nothing.
    const parts = apiVersion.split('/')
    const version = parts.length > 2 ? '' : (parts.at(-1) ?? '')
    if (version === '') errors.push(invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'))
    if (kind === '') errors.push(invalid(`${field}.kind`, kind, 'must not be empty'))
    if (name === '') errors.push(invalid(`${field}.name`, name, 'must not be empty'))
    if (uid === '') errors.push(invalid(`${field}.uid`, uid, 'must not be empty'))
    if (apiVersion === 'v1' && kind === 'Event') {
      errors.push(invalid(field, { apiVersion, kind, name, uid, ...rest }, '/v1, Kind=Event is disallowed from being an owner'))
    }
    if (rest.controller !== true) continue
    const found = `${kind}/${name}`
    if (controller !== '') {
      errors.push(
        invalid(
          field,
          references,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${found}`,
        ),
      )
    } else controller = found
  }
  return errors
}

function validateFinalizers(finalizers: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  for (const finalizer of finalizers) {
    for (const text of qualifiedName(finalizer)) errors.push(invalid('metadata.finalizers', finalizer, text))
  }
  if (finalizers.includes(FOREGROUND) && finalizers.includes(ORPHAN)) {
    errors.push(invalid('metadata.finalizers', finalizers, `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`))
  }
  return errors
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined): FieldError[] {
  if (entries === undefined || entries.length === 0) return NONE
  const errors: FieldError[] = []
  for (const [i, entry] of entries.entries()) {
    const field = `metadata.managedFields[${i}]`
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalid(`${field}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`'))
    }
    if (entry.fieldsType !== undefined && (entry.fieldsType as string) !== '' && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalid(`${field}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'))
    }
    errors.push(...validateFieldManager(entry.manager ?? '', `${field}.manager`))
    if (byteLength(entry.subresource ?? '') > SUBRESOURCE_LIMIT) errors.push(tooLong(`${field}.subresource`, SUBRESOURCE_LIMIT))
  }
  return errors
}

// What Go's unicode.IsPrint refuses: controls, separators but the space, what is not assigned.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u

export function validateFieldManager(manager: string, field: string): FieldError[] {
  if (manager === '') return NONE
  const errors: FieldError[] = []
  if (byteLength(manager) > MANAGER_LIMIT) errors.push(tooLong(field, MANAGER_LIMIT))
  if (!UNPRINTABLE.test(manager)) return errors
  let position = 0
  for (const character of manager) {
    if (UNPRINTABLE.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalid(field, manager, `invalid character U+${code} (at position ${position})`))
    }
    position += byteLength(character)
  }
  return errors
}

/** Of custom kinds: finalizers that may meet somebody else's. */
export function finalizerWarnings(finalizers: readonly string[] | undefined): string[] {
  return (finalizers ?? [])
    .filter((each) => !each.includes('/') && each !== ORPHAN && each !== FOREGROUND)
    .map((each) => {
      const path = each.includes('.') ? ' including a path (/)' : ''
      return `metadata.finalizers: ${JSON.stringify(each)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
    })
}

/** Removes owner references that are there twice; what is warned of then. `afterAdmission`: a webhook made them. */
export function dropDuplicateOwners(object: ApiObject, afterAdmission: boolean): string | undefined {
  const references = object.metadata.ownerReferences
  if (references === undefined || references.length < 2) return undefined
  const kept: OwnerReference[] = []
  const dropped: string[] = []
  for (const reference of references) {
    if (kept.some((each) => each.uid === reference.uid && equalJson(each, reference))) dropped.push(reference.uid)
    else kept.push(reference)
  }
  if (dropped.length === 0) return undefined
  object.metadata.ownerReferences = kept
  return `.metadata.ownerReferences contains duplicate entries${afterAdmission ? ' after mutating admission happens' : ''}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${dropped.join(', ')}`
}
