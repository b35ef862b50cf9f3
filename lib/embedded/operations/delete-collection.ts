/** Deletes what a list finds. */
import type { Core, DeleteOptions } from '../core.ts'
import { type ListResult, list } from '../list.ts'
import { ApiError } from '../status.ts'
import type { ResourceType } from '../types.ts'
import type { WriteOptions } from './context.ts'
import { remove } from './delete.ts'

export async function deleteCollection(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  query: URLSearchParams,
  deletion: DeleteOptions,
  options: WriteOptions,
): Promise<ListResult> {
  const found = await list(core, type, namespace, query)
  for (const { metadata } of found.items) {
    try {
      await remove(core, type, metadata.namespace ?? '', metadata.name ?? '', deletion, options)
    } catch (error) {
      // Somebody else was faster: it is what was wanted.
      if (!(error instanceof ApiError) || error.code !== 404) throw error
    }
  }
  return found
}
