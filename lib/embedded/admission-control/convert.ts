/** A request as a webhook or policy sees it that is about another version of the resource. */
import type { AdmissionRequest } from '../core.ts'
import type { ApiObject, ResourceType } from '../types.ts'

export interface Versioned {
  readonly object: ApiObject | undefined
  readonly old: ApiObject | undefined
}

export async function versioned(request: AdmissionRequest, type: ResourceType): Promise<Versioned> {
  if (type === request.type) return { object: request.object, old: request.old }
  const { object, old } = request
  return {
    object: object === undefined ? undefined : await convertObject(type, object),
    old: old === undefined ? undefined : await convertObject(type, old),
  }
}

export async function convertObject(type: ResourceType, object: ApiObject): Promise<ApiObject> {
  const apiVersion = apiVersionOf(type)
  if (object.apiVersion === apiVersion) return object
  return (await type.convert?.(object, apiVersion)) ?? { ...object, apiVersion, kind: type.kind }
}

export const apiVersionOf = ({ group, version }: ResourceType) => (group === '' ? version : `${group}/${version}`)
