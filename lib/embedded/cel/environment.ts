/** What an expression may refer to: variables, and functions with their overloads. */
import type { CelType } from './types.ts'
import type { Value } from './values.ts'

export interface Overload {
  readonly id: string
  readonly member: boolean
  readonly args: readonly CelType[]
  readonly result: CelType
  /** Absent: built into the evaluator. Arguments are never errors, and of the declared types unless `loose`. */
  readonly call?: (...args: never[]) => Value
  /** Complains itself about arguments of other types. */
  readonly loose?: boolean
}

export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
}

export interface Environment {
  function(name: string): FunctionDeclaration | undefined
  variable(name: string): CelType | undefined
}

/** A library: overloads by the name of their function. */
export type Library = Readonly<Record<string, readonly Overload[]>>

export const overload = (id: string, args: readonly CelType[], result: CelType, call?: Overload['call']): Overload => ({
  id,
  member: false,
  args,
  result,
  ...(call === undefined ? {} : { call }),
})

export const member = (id: string, args: readonly CelType[], result: CelType, call?: Overload['call']): Overload => ({
  ...overload(id, args, result, call),
  member: true,
})

/** Marks overloads that look at their arguments themselves. */
export const loose = (...overloads: readonly Overload[]): readonly Overload[] => overloads.map((each) => ({ ...each, loose: true }))

/** One table of several libraries; overloads of the same name come together. */
export function functionTable(libraries: readonly Library[]): ReadonlyMap<string, FunctionDeclaration> {
  const table = new Map<string, Overload[]>()
  for (const library of libraries) {
    for (const [name, overloads] of Object.entries(library)) table.set(name, [...(table.get(name) ?? []), ...overloads])
  }
  return new Map([...table].map(([name, overloads]) => [name, { name, overloads }]))
}
