/**
 * Paths (`self.a.b[0]`, `x.?y`): each step costs 1, and reading the whole 1 more. After an optional step everything further may be
 * absent.
 */
import { charge, type Frame, goType, type Plan, ProgramError, type Step } from './frame.ts'
import { unwrapOptional } from './schema-value.ts'
import { CelError, isError, keyText, ListValue, MapValue, NONE, OptionalValue, showValue, typeName, Uint, type Value } from './values.ts'

/** One step of a path. */
export interface Qualifier {
  readonly optional: boolean
  /** The value, or an error. */
  qualify(frame: Frame, object: Value): Value
  /** Undefined: it is not there. */
  qualifyIfPresent(frame: Frame, object: Value): Value | undefined
}

export interface Path {
  /** Without the cost of the path itself. */
  readonly resolve: Step
  /** What reading it costs beside its steps. */
  readonly cost: 0 | 1
  readonly add: (qualifier: Qualifier) => void
}

export function pathPlan(path: Path): Plan {
  const { resolve, cost } = path
  if (cost === 0) return { step: resolve, path }
  return {
    step: (frame) => {
      const value = resolve(frame)
      charge(frame, cost)
      return value
    },
    path,
  }
}

export function basePath(load: Step): Path {
  const qualifiers: Qualifier[] = []
  return {
    cost: 1,
    resolve: (frame) => {
      const object = load(frame)
      return qualifiers.length === 0 || isError(object) ? object : applyQualifiers(frame, object, qualifiers)
    },
    add: (qualifier) => qualifiers.push(qualifier),
  }
}

/** After an optional step everything further may be absent too, and the whole is optional. */
function applyQualifiers(frame: Frame, start: Value, qualifiers: readonly Qualifier[]): Value {
  let object = start
  let optional = object instanceof OptionalValue
  if (object instanceof OptionalValue) {
    if (object.value === undefined) return object
    object = unwrapOptional(object.value)
  }
  for (const qualifier of qualifiers) {
    optional ||= qualifier.optional
    const next = optional ? qualifier.qualifyIfPresent(frame, object) : qualifier.qualify(frame, object)
    if (next === undefined) return NONE
    if (isError(next)) return next
    object = next
  }
  return optional ? new OptionalValue(object) : object
}

export function constantQualifier(key: Value, optional: boolean): Qualifier {
  if (keyText(key) === undefined) throw new ProgramError(`invalid qualifier type: ${goType(key)}`)
  return {
    optional,
    qualify: (frame, object) => {
      const value = access(object, key)
      charge(frame, 1)
      return value === undefined ? missing(object, key) : value
    },
    qualifyIfPresent: (frame, object) => {
      const value = access(object, key)
      if (value !== undefined && !isError(value)) charge(frame, 1)
      return value
    },
  }
}

/** The key is a path or another expression; a path as a key does not pay for itself. */
export function computedQualifier(resolve: Step, optional: boolean): Qualifier {
  return {
    optional,
    qualify: (frame, object) => {
      const key = resolve(frame)
      const value = isError(key) ? key : access(object, key)
      charge(frame, 1)
      return value === undefined ? missing(object, key) : value
    },
    qualifyIfPresent: (frame, object) => {
      const key = resolve(frame)
      const value = isError(key) ? key : access(object, key)
      if (value !== undefined && !isError(value)) charge(frame, 1)
      return value
    },
  }
}

/** The last step of `has(…)`: gives whether it is there. After an optional step, one that is not there costs nothing. */
export function presenceQualifier(inner: Qualifier): Qualifier {
  return {
    optional: false,
    qualify: (frame, object) => {
      const before = frame.cost
      const value = inner.qualifyIfPresent(frame, object)
      if (frame.cost === before) charge(frame, 1)
      return value !== undefined && isError(value) ? value : value !== undefined
    },
    qualifyIfPresent: inner.qualifyIfPresent,
  }
}

/** A test costs its steps only; one of a conditional even takes 1 off, as in cel-go. */
export function presenceStep({ resolve, cost }: Path): Step {
  return (frame) => {
    const value = resolve(frame)
    frame.cost += cost - 1
    return value instanceof OptionalValue ? value.value !== undefined : value
  }
}

/** A member of a map or list. Undefined: not there; an error where such a key cannot be. */
function access(object: Value, key: Value): Value | undefined {
  if (object instanceof MapValue) return object.find(key)
  if (!(object instanceof ListValue)) return undefined
  const index = listIndex(key)
  if (typeof index !== 'number') return index
  return index >= 0 && index < object.size ? object.at(index) : undefined
}

function listIndex(key: Value): number | CelError {
  if (typeof key === 'bigint') return Number(key)
  if (key instanceof Uint) return Number(key.value)
  if (typeof key !== 'number') return new CelError(`unsupported index type '${typeName(key)}' in list`)
  return Number.isInteger(key) ? key : new CelError(`unsupported index value ${showValue(key)} in list`)
}

const missing = (object: Value, key: Value) =>
  new CelError(`${object instanceof ListValue ? 'index out of bounds' : 'no such key'}: ${showValue(key)}`)
