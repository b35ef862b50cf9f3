/** The 409 of an apply that would change what others own. */
import { ApiError, type StatusCause } from '../status.ts'
import { type Path, paths } from './field-set.ts'
import { type ManagerId, parseManagerId } from './managed-fields.ts'
import { showElement } from './path-element.ts'
import type { Conflicts } from './updater.ts'

export function conflictError(conflicts: Conflicts): ApiError {
  const found = [...conflicts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, set]) => ({ by: showManager(id), fields: [...paths(set)].map(showPath) }))
  const causes: StatusCause[] = found.flatMap(({ by, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${by}`, field })),
  )
  return new ApiError(409, 'Conflict', conflictMessage(found, causes.length), { causes })
}

function conflictMessage(found: readonly { by: string; fields: readonly string[] }[], count: number): string {
  const [first] = found
  if (count === 1 && first !== undefined) return `Apply failed with 1 conflict: conflict with ${first.by}: ${first.fields[0]}`
  const lines = found.flatMap(({ by, fields }) => [`conflicts with ${by}:`, ...fields.map((field) => `- ${field}`)])
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`
}

/** `"kubectl" with subresource "status" using v1` */
function showManager(id: ManagerId): string {
  const { manager = '', operation, apiVersion, subresource } = parseManagerId(id)
  let text = JSON.stringify(manager)
  if (subresource) text += ` with subresource ${JSON.stringify(subresource)}`
  return operation === 'Update' ? `${text} using ${apiVersion}` : text
}

export const showPath = (path: Path) => path.map(showElement).join('')
