/** The options of a write in its query, checked as the real server checks them. */
import type { DeleteOptions } from '../core.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../field-error.ts'
import { isObject, type JsonObject } from '../json.ts'
import { validateFieldManager } from '../object-meta.ts'
import { badRequest, invalidError } from '../status.ts'
import { goType, noTypeMeta, TYPE_META } from './go-type.ts'

export interface QueryOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  readonly force: boolean | undefined
  /** As admission sees them. */
  readonly raw: object
}

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions'

const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn']

/** @throws ApiError 400, 422 */
export function writeOptions(kind: OptionsKind, query: URLSearchParams, apply = false): QueryOptions {
  // Nearly every write has none of them.
  if (query.size === 0 && !apply) return PLAIN[kind]
  const dryRun = query.getAll('dryRun')
  const fieldManager = query.get('fieldManager') ?? ''
  const fieldValidation = query.get('fieldValidation') ?? ''
  const force = kind === 'PatchOptions' ? parseBoolean('force', query.get('force')) : undefined
  const errors: FieldError[] = []
  if (kind === 'PatchOptions') {
    if (apply && fieldManager === '') errors.push(required('fieldManager', 'is required for apply patch'))
    if (!apply && force !== undefined) errors.push(forbidden('force', 'may not be specified for non-apply patch'))
  }
  errors.push(...validateFieldManager(fieldManager, 'fieldManager'))
  if (dryRun.some((each) => each !== 'All')) errors.push(notSupported('dryRun', dryRun, ['All']))
  if (!VALIDATIONS.includes(fieldValidation)) errors.push(notSupported('fieldValidation', fieldValidation, VALIDATIONS))
  if (errors.length > 0) throw invalidOptions(kind, errors)
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as 'Ignore' | 'Warn' | 'Strict'),
    force,
    raw: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length > 0 ? { dryRun } : {}),
      ...(force === undefined ? {} : { force }),
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(fieldValidation === '' ? {} : { fieldValidation }),
    },
  }
}

const plain = (kind: OptionsKind): QueryOptions => ({
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  force: undefined,
  raw: { kind, apiVersion: 'meta.k8s.io/v1' },
})
const PLAIN: Readonly<Record<OptionsKind, QueryOptions>> = {
  CreateOptions: plain('CreateOptions'),
  UpdateOptions: plain('UpdateOptions'),
  PatchOptions: plain('PatchOptions'),
  DeleteOptions: plain('DeleteOptions'),
}

const POLICIES = ['Foreground', 'Background', 'Orphan']

/** From the body where there is one, else from the query. @throws ApiError 400, 422 */
export function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const options = body === undefined ? fromQuery(query) : fromBody(body)
  const { orphanDependents, propagationPolicy, dryRun = [] } = options
  const errors: FieldError[] = []
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.push(invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'))
  }
  if (propagationPolicy !== undefined && !POLICIES.includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, [...POLICIES, 'nil']))
  }
  if (dryRun.some((each) => each !== 'All')) errors.push(notSupported('dryRun', dryRun, ['All']))
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors)
  return options
}

function fromQuery(query: URLSearchParams): DeleteOptions {
  if (query.size === 0) return {}
  const grace = query.get('gracePeriodSeconds')
  const policy = query.get('propagationPolicy')
  const orphan = parseBoolean('orphanDependents', query.get('orphanDependents'))
  const dryRun = query.getAll('dryRun')
  if (grace !== null && !/^[+-]?\d+$/.test(grace)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`)
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  }
}

const DELETE_FIELDS = new Map([
  ['gracePeriodSeconds', ['number', 'int64']],
  ['orphanDependents', ['bool', 'bool']],
  ['propagationPolicy', ['string', 'v1.DeletionPropagation']],
  ['dryRun', ['array', '[]string']],
  ['preconditions', ['object', 'v1.Preconditions']],
])

function fromBody(body: unknown): DeleteOptions {
  const given = (body ?? {}) as JsonObject
  if (!isObject(given)) throw badRequest(noTypeMeta(`${goType(given)} into Go value of type ${TYPE_META}`))
  const { kind = 'DeleteOptions', apiVersion = '' } = given
  if (kind !== 'DeleteOptions') {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  }
  for (const [name, [type, goName]] of DELETE_FIELDS) {
    const value = given[name]
    if (value === undefined || value === null || goType(value) === type) continue
    throw badRequest(`json: cannot unmarshal ${goType(value)} into Go struct field DeleteOptions.${name} of type ${goName}`)
  }
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, dryRun } = given
  return {
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(typeof orphanDependents === 'boolean' ? { orphanDependents } : {}),
    ...(typeof propagationPolicy === 'string' ? { propagationPolicy } : {}),
    ...(Array.isArray(dryRun) && dryRun.length > 0 ? { dryRun: dryRun.map(String) } : {}),
    ...(isObject(preconditions) ? { preconditions: preconditionsOf(preconditions) } : {}),
  }
}

function preconditionsOf({ uid, resourceVersion }: JsonObject): NonNullable<DeleteOptions['preconditions']> {
  return { ...(typeof uid === 'string' ? { uid } : {}), ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}) }
}

/** As Go's conversion of query values: anything but these is true when the parameter is there. */
function parseBoolean(name: string, text: string | null): boolean | undefined {
  if (text === null) return undefined
  void name
  return !(text === 'false' || text === '0' || text === 'False' || text === 'FALSE' || text === 'f' || text === 'F')
}

const OPTIONS = { group: 'meta.k8s.io', resource: '', kind: '' }

function invalidOptions(kind: OptionsKind, errors: readonly FieldError[]) {
  return invalidError({ ...OPTIONS, kind }, '', errors)
}
