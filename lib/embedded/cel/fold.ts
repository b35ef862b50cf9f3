/** Loops over lists and maps: `all`, `map` and their like, once the parser has made them one form. */
import { goType, type Step } from './frame.ts'
import { CelError, GrowingList, isError, ListValue, MapValue, PlainList, PlainMap, type Value } from './values.ts'

export function loadSlot(slot: number, initial: Step | undefined): Step {
  if (initial === undefined) return (frame) => frame.slots[slot] as Value
  return (frame) => {
    const value = frame.slots[slot]
    if (value !== undefined) return value as Value
    const first = initial(frame)
    frame.slots[slot] = first
    return first
  }
}

/** What a loop collects may grow in place; nothing else sees it before the loop is done. */
export function lazyInitial(initial: Step): Step {
  return (frame) => {
    const value = initial(frame)
    if (value instanceof ListValue && value.size === 0) return new GrowingList()
    return value instanceof MapValue && value.size === 0 ? new PlainMap() : value
  }
}

interface Fold {
  readonly range: Step
  /** Undefined: always true. */
  readonly condition: Step | undefined
  readonly step: Step
  readonly result: Step
  readonly accumulator: number
  readonly variable: number
  readonly variable2: number | undefined
}

export function fold({ range, condition, step, result, accumulator, variable, variable2 }: Fold): Step {
  return (frame) => {
    const { slots } = frame
    slots[accumulator] = undefined
    const values = range(frame)
    if (isError(values)) return values
    const turn = (first: Value, second?: Value): boolean => {
      slots[variable] = first
      if (variable2 !== undefined) slots[variable2] = second
      if (condition?.(frame) === false) return false
      slots[accumulator] = step(frame)
      return true
    }
    if (values instanceof ListValue) {
      for (let i = 0; i < values.size; i++) {
        const item = values.at(i)
        if (!(variable2 === undefined ? turn(item) : turn(BigInt(i), item))) break
      }
    } else if (values instanceof MapValue) {
      for (const key of values.keys()) {
        if (!(variable2 === undefined ? turn(key) : turn(key, values.find(key)))) break
      }
    } else {
      return new CelError(`got '${goType(values)}', expected iterable type`)
    }
    const value = result(frame)
    return value instanceof GrowingList ? new PlainList(value.items) : value
  }
}
