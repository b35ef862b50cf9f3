/** From the least to the most: sizes and costs. More than a uint64 holds is its largest value. */

export interface Range {
  readonly min: number
  readonly max: number
}

const MOST = 2 ** 64

const clamp = (value: number) => Math.min(value, MOST)

export const UNKNOWN: Range = { min: 0, max: MOST }
export const fixed = (value: number): Range => ({ min: clamp(value), max: clamp(value) })
export const addRange = (a: Range, b: Range): Range => ({ min: clamp(a.min + b.min), max: clamp(a.max + b.max) })
export const multiply = (a: Range, b: Range): Range => ({ min: product(a.min, b.min), max: product(a.max, b.max) })
export const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })
/** Times a fraction, rounded up. */
export const factor = (range: Range, by: number): Range => ({
  min: clamp(Math.ceil(product(range.min, by))),
  max: clamp(Math.ceil(product(range.max, by))),
})

/** Nothing times anything is nothing. */
export const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : clamp(a * b))
