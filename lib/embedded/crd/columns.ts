/** Columns of `kubectl get` that a definition asks for (`additionalPrinterColumns`). */
import { show } from '../field-error.ts'
import { formatNumber, sortMembers } from '../schema/go.ts'
import { ageOf, NAME_COLUMN } from '../table.ts'
import { parseTime } from '../times.ts'
import type { TableColumns } from '../types.ts'
import type { PrinterColumn } from './definition.ts'
import { compileJsonPath, type JsonPath } from './json-path.ts'

/** Undefined: none asked for, so the table has Name and Age. A path that cannot be read ends the columns before it. */
export function printerColumns(columns: readonly PrinterColumn[] | undefined): TableColumns | undefined {
  if (columns === undefined || columns.length === 0) return undefined
  const paths: JsonPath[] = []
  for (const { jsonPath } of columns) {
    try {
      paths.push(compileJsonPath(jsonPath))
    } catch {
      break
    }
  }
  const shown = columns.slice(0, paths.length)
  return {
    columns: [
      NAME_COLUMN,
      ...shown.map(({ name, type, format = '', description = '', priority = 0, jsonPath }) => ({
        name,
        type,
        format,
        description: description === '' ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
        priority,
      })),
    ],
    cells: (object, now) => [object.metadata.name ?? '', ...shown.map(({ type }, i) => cell(type, paths[i]!(object), now))],
  }
}

function cell(type: string, found: readonly unknown[] | undefined, now: number): unknown {
  if (found === undefined || found.length === 0) return null
  // A path with several results shows the first.
  const [value] = found
  if (type === 'string') return textOf(value)
  if (type === 'date') return typeof value === 'string' ? dateCell(value, now) : null
  if (type === 'boolean') return typeof value === 'boolean' ? value : null
  if (typeof value !== 'number' && typeof value !== 'bigint') return null
  return type === 'integer' && typeof value === 'number' ? Math.trunc(value) : value
}

/** As Go prints it: objects and lists as JSON, a null as `<no value>`. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null) return '<no value>'
  if (typeof value === 'number' || typeof value === 'bigint') return formatNumber(value)
  return typeof value === 'boolean' ? String(value) : show(sortMembers(value))
}

function dateCell(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  try {
    return ageOf(parseTime(text), now)
  } catch {
    return '<invalid>'
  }
}
