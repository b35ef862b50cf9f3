/** What one write carries along, made once from the request. */
import type { AdmissionRequest, Core, RequestOptions } from '../core.ts'
import { type ApiError, notFound } from '../status.ts'
import type { ApiObject, ResourceType, WriteContext } from '../types.ts'

/** Of a write as the request handler starts it; a caller within the server needs only the public ones. */
export interface WriteOptions extends RequestOptions {
  /** What decoding of the body found besides: duplicate members. */
  readonly decodingErrors?: readonly string[]
  /** The same as the parts of a strict error; default: the same texts. */
  readonly strictErrors?: readonly string[]
  /** The body as it came, for errors that quote it. */
  readonly source?: string
  /** CreateOptions, UpdateOptions or PatchOptions, for admission. */
  readonly raw?: object
  /** Whether the server knows this kind in another version, served or not; default: it does. */
  knows?(apiVersion: string): boolean
  /** The object belongs to this write: it need not be copied. */
  readonly owned?: boolean
}

export function writeContext(
  core: Core,
  type: ResourceType,
  namespace: string,
  operation: 'create' | 'update',
  subresource: string,
  options: RequestOptions,
): WriteContext {
  return {
    type,
    operation,
    subresource,
    namespace,
    user: options.user,
    dryRun: options.dryRun === true,
    now: () => core.clock.now(),
    lookup: core.lookup,
  }
}

export const managerOf = (options: RequestOptions) => options.fieldManager ?? options.user.name

export function warnAll(options: RequestOptions, texts: readonly string[]): void {
  if (options.warn === undefined) return
  for (const text of texts) options.warn(text)
}

/** Whom an error is about: the Events of both groups are those of the core group. */
export const errorSubject = (type: ResourceType): ResourceType => (type.bucket === '/events' ? { ...type, group: '' } : type)

const NO_WARNING = () => {}

/** What a plugin is asked about. */
export function admissionRequest(
  operation: AdmissionRequest['operation'],
  type: ResourceType,
  subresource: string,
  namespace: string,
  name: string,
  object: ApiObject | undefined,
  old: ApiObject | undefined,
  options: WriteOptions,
): AdmissionRequest {
  return {
    operation,
    type,
    subresource,
    namespace,
    name,
    object,
    old,
    user: options.user,
    dryRun: options.dryRun === true,
    options: options.raw ?? {},
    warn: options.warn === undefined ? NO_WARNING : (text) => options.warn?.(text),
  }
}

/** Only plugins that really wait make the write wait. */
export async function mutate(core: Core, request: AdmissionRequest): Promise<void> {
  for (const plugin of core.admission) {
    const waiting = plugin.mutate?.(request)
    if (waiting !== undefined) await waiting
  }
}

export async function validate(core: Core, request: AdmissionRequest): Promise<void> {
  for (const plugin of core.admission) {
    const waiting = plugin.validate?.(request)
    if (waiting !== undefined) await waiting
  }
}

/** The object as it is read in the version of `type`; shared when nothing has to change. */
export function fromStorage(type: ResourceType, stored: ApiObject): ApiObject | Promise<ApiObject> {
  return type.fromStorage === undefined ? convertTo(type, stored, apiVersionOf(type)) : type.fromStorage(stored)
}

export function toStorage(type: ResourceType, object: ApiObject): ApiObject | Promise<ApiObject> {
  return convertTo(type, object, type.storageVersion)
}

export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`
}

function convertTo(type: ResourceType, object: ApiObject, apiVersion: string): ApiObject | Promise<ApiObject> {
  if (object.apiVersion === apiVersion) return object
  if (type.convert !== undefined) return type.convert(object, apiVersion)
  return { ...object, apiVersion }
}

/** Also fills in defaults that a stored object lacks because the schema got them later. */
export async function read(type: ResourceType, stored: ApiObject): Promise<ApiObject> {
  const converted = fromStorage(type, stored)
  return converted instanceof Promise ? await converted : converted
}

export const missing = (type: ResourceType, name: string): ApiError => notFound(type, name)
