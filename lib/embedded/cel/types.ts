/** The static types of CEL, and when one may stand for another. */

export type TypeKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'timestamp'
  | 'list'
  | 'map'
  /** An object with declared fields. */
  | 'struct'
  /** A named type with parameters and nothing else: `optional_type(int)`, `net.IP`. */
  | 'opaque'
  | 'type'
  /** A type variable. */
  | 'param'

export interface CelType {
  readonly kind: TypeKind
  readonly name: string
  readonly params: readonly CelType[]
  /** Of a struct: by name as an expression writes it. Undefined: a struct without fields to select. */
  readonly fields?: ReadonlyMap<string, CelType>
}

const simple = (kind: TypeKind, name: string = kind): CelType => ({ kind, name, params: [] })

export const DYN = simple('dyn')
export const ERROR = simple('error', '!error!')
export const NULL = simple('null', 'null_type')
export const BOOL = simple('bool')
export const INT = simple('int')
export const UINT = simple('uint')
export const DOUBLE = simple('double')
export const STRING = simple('string')
export const BYTES = simple('bytes')
export const DURATION = simple('duration', 'google.protobuf.Duration')
export const TIMESTAMP = simple('timestamp', 'google.protobuf.Timestamp')

export const listOf = (element: CelType): CelType => ({ kind: 'list', name: 'list', params: [element] })
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', name: 'map', params: [key, value] })
export const optionalOf = (value: CelType): CelType => ({ kind: 'opaque', name: 'optional_type', params: [value] })
export const typeOf = (type: CelType): CelType => ({ kind: 'type', name: 'type', params: [type] })
export const param = (name: string): CelType => simple('param', name)
export const opaque = (name: string): CelType => simple('opaque', name)
export const struct = (name: string, fields?: ReadonlyMap<string, CelType>): CelType => ({
  kind: 'struct',
  name,
  params: [],
  ...(fields === undefined ? {} : { fields }),
})

/** As issues name it. */
export function showType(type: CelType): string {
  switch (type.kind) {
    case 'duration':
    case 'timestamp':
    case 'null':
      return type.kind
    default:
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(showType).join(', ')})`
  }
}

/** By its full name: `google.protobuf.Timestamp`. */
export function nameType(type: CelType): string {
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(nameType).join(', ')})`
}

/** `(int, string)`, or `list(int).(string)` of a call with a target. */
export function showSignature(args: readonly CelType[], member: boolean): string {
  const shown = args.map(showType)
  return member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
}

export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false
  return a.params.every((each, i) => sameType(each, b.params[i] as CelType))
}

export const isOptional = (type: CelType): boolean => type.kind === 'opaque' && type.name === 'optional_type'
const isDynOrError = (type: CelType) => type.kind === 'dyn' || type.kind === 'error'

/** What type variables stand for. */
export class Substitutions {
  #bound: Map<string, CelType>

  constructor(bound: ReadonlyMap<string, CelType> = new Map()) {
    this.#bound = new Map(bound)
  }

  /** Whether a value of one type may be used as the other; binds variables, but only when it may. */
  assign(from: CelType, to: CelType): boolean {
    return this.#tentative(() => this.#assignable(from, to))
  }

  assignAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    return from.length === to.length && this.#tentative(() => from.every((each, i) => this.#assignable(each, to[i] as CelType)))
  }

  bind(name: string, type: CelType): void {
    this.#bound.set(name, type)
  }

  /** Bound variables replaced; unbound ones too, by dyn, where `final`. */
  apply(type: CelType, final = false): CelType {
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name)
      if (bound !== undefined) return this.apply(bound, final)
      return final ? DYN : type
    }
    if (type.params.length === 0) return type
    return { ...type, params: type.params.map((each) => this.apply(each, final)) }
  }

  #tentative(attempt: () => boolean): boolean {
    const before = this.#bound
    this.#bound = new Map(before)
    if (attempt()) return true
    this.#bound = before
    return false
  }

  #assignable(from: CelType, to: CelType): boolean {
    if (to.kind === 'param') {
      const { valid, bound } = this.#substitutable(from, to)
      if (valid) return true
      if (bound) return false
    }
    if (from.kind === 'param') return this.#substitutable(to, from).valid
    if (isDynOrError(from) || isDynOrError(to)) return true
    if (from.kind === 'null') return isNullable(to)
    if (to.kind === 'null') return isNullable(from)
    switch (from.kind) {
      case 'type':
        return to.kind === 'type'
      case 'opaque':
      case 'list':
      case 'map':
        return (
          from.kind === to.kind &&
          from.name === to.name &&
          from.params.length === to.params.length &&
          from.params.every((each, i) => this.#assignable(each, to.params[i] as CelType))
        )
      default:
        return from.kind === to.kind && from.name === to.name
    }
  }

  /** Whether `type` may be what the variable stands for, and whether it stood for something already. */
  #substitutable(type: CelType, variable: CelType): { valid: boolean; bound: boolean } {
    if (sameType(type, variable)) return { valid: true, bound: true }
    const bound = this.#bound.get(variable.name)
    if (bound === undefined) {
      if (!this.#absentFrom(variable, type)) return { valid: false, bound: false }
      this.#bound.set(variable.name, type)
      return { valid: true, bound: false }
    }
    if (sameType(type, bound)) return { valid: true, bound: true }
    if (!this.#assignable(type, bound)) return { valid: false, bound: true }
    const general = mostGeneral(type, bound)
    if (this.#absentFrom(variable, general)) this.#bound.set(variable.name, general)
    return { valid: true, bound: true }
  }

  /** A variable must not stand for something that contains it. */
  #absentFrom(variable: CelType, type: CelType): boolean {
    if (sameType(variable, type)) return false
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name)
      return bound === undefined || this.#absentFrom(variable, bound)
    }
    return type.params.every((each) => this.#absentFrom(variable, each))
  }
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  return isLessSpecific(a, b) ? a : b
}

function isLessSpecific(a: CelType, b: CelType): boolean {
  if (a.kind === 'dyn' || a.kind === 'param') return true
  if (b.kind === 'dyn' || b.kind === 'param') return false
  if (a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  if (a.name !== b.name || a.params.length !== b.params.length) return false
  return a.params.every((each, i) => isLessSpecific(each, b.params[i] as CelType))
}

const isNullable = (type: CelType) => ['null', 'opaque', 'struct', 'duration', 'timestamp'].includes(type.kind)
