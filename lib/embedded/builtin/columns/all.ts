/** Which built-in kind has which printer columns. */
import { recordedColumns } from '../../data/recorded.ts'
import type { ApiObject, TableColumn, TableColumns } from '../../types.ts'

type Cells = (object: ApiObject, now: number) => unknown[]

const CELLS = new Map<string, Cells>()

/** Of `group/version/resource`; undefined: Name and Age. */
export function builtinColumns(key: string): TableColumns | undefined {
  const cells = CELLS.get(key)
  return cells === undefined ? undefined : new RecordedColumns(key, cells)
}

class RecordedColumns implements TableColumns {
  readonly #key: string
  readonly cells: Cells

  constructor(key: string, cells: Cells) {
    this.#key = key
    this.cells = cells
  }

  /** Read with the first Table. */
  get columns(): readonly TableColumn[] {
    return recordedColumns(this.#key) ?? []
  }
}
