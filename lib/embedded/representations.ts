/** An object or a list in the form that the client asked for. */
import type { Core } from './core.ts'
import type { ListMetadata } from './list.ts'
import type { Representation } from './negotiate.ts'
import { ApiError, plainError } from './status.ts'
import { includeObject, toPartial, toPartialList, toTable } from './table.ts'
import type { ApiObject, ResourceType } from './types.ts'

export function objectBody(core: Core, type: ResourceType, object: ApiObject, form: Representation, query: URLSearchParams): object {
  switch (form.as) {
    case undefined:
      return object
    case 'PartialObjectMetadata':
      return toPartial(object, form.version)
    case 'Table': {
      const { resourceVersion = '' } = object.metadata
      return toTable(type, [object], { resourceVersion }, includeObject(query), core.clock.now(), form.version)
    }
    default: {
      if (type.custom) throw plainError('content is not a list')
      const wanted = 'you requested PartialObjectMetadataList, but the requested object is not a list'
      throw new ApiError(406, 'NotAcceptable', `${wanted} (${goName(type, type.kind)})`)
    }
  }
}

export function listBody(
  core: Core,
  type: ResourceType,
  items: readonly ApiObject[],
  metadata: ListMetadata,
  form: Representation,
  query: URLSearchParams,
): object {
  switch (form.as) {
    case 'PartialObjectMetadata':
      throw new ApiError(
        406,
        'NotAcceptable',
        `you requested PartialObjectMetadata, but the requested object is a list (${goName(type, type.listKind)})`,
      )
    case 'PartialObjectMetadataList':
      return toPartialList(items, metadata, form.version)
    case 'Table':
      return toTable(type, items, metadata, includeObject(query), core.clock.now(), form.version)
    case undefined:
      return plainList(type, items, metadata)
  }
}

/** Items of custom kinds say what they are, those of built-in kinds do not. */
function plainList(type: ResourceType, items: readonly ApiObject[], metadata: ListMetadata): object {
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  if (type.custom) return { apiVersion, items, kind: type.listKind, metadata: { continue: '', ...metadata } }
  return { kind: type.listKind, apiVersion, metadata, items: items.map(withoutType) }
}

function withoutType(item: ApiObject): object {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = item
  return rest
}

/** The type as the real server, written in Go, has it in its messages. */
function goName({ custom, group }: ResourceType, kind: string): string {
  if (custom) return `*unstructured.Unstructured${kind.endsWith('List') ? 'List' : ''}`
  return `*${group === '' ? 'core' : group.split('.')[0]}.${kind}`
}
