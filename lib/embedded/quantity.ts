/**
 * Amounts of resources (`100m`, `1.5Gi`, `1e3`) as `k8s.io/apimachinery/pkg/api/resource` reads and writes them. The value is exact:
 * a count of billionths, the smallest part a quantity knows.
 */

export type QuantityFormat = 'decimal' | 'binary' | 'exponent'

export interface Quantity {
  /** The value times 10⁹. */
  readonly nanos: bigint
  readonly format: QuantityFormat
  /** Kept from the client where the server would not rewrite it. */
  readonly text: string | undefined
}

const GIGA = 1_000_000_000n
const MAX_INT64 = 9_223_372_036_854_775_807n
const FORMAT_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const SUFFIX_TEXT = "unable to parse quantity's suffix"
/** Nothing meaningful is larger; keeps `1e999999999` from filling the memory. */
const LARGEST_EXPONENT = 300

const DECIMAL = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const BINARY = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
])
const DECIMAL_SUFFIX = new Map([...DECIMAL].map(([suffix, exponent]) => [exponent, suffix]))
const BINARY_SUFFIX = new Map([...BINARY].map(([suffix, exponent]) => [exponent, suffix]).concat([[0, '']]) as [number, string][])

const SYNTAX = /^([+-]?)0*(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/

/** @throws Error with Go's text */
export function parseQuantity(value: string | number | bigint): Quantity {
  const text = String(value).trim()
  const match = text === '' ? null : SYNTAX.exec(text)
  if (match === null) throw new Error(FORMAT_TEXT)
  const [, sign = '', stripped = '', fraction = '', suffix = ''] = match
  const { base, exponent, format } = interpret(suffix)
  const digits = (stripped === '' ? '0' : stripped) + fraction
  const magnitude = scale(BigInt(digits), fraction.length, base, exponent)
  const capped = format === 'binary' && magnitude > MAX_INT64 * GIGA ? MAX_INT64 * GIGA : magnitude
  const nanos = sign === '-' ? -capped : capped
  const tiny = format === 'binary' && magnitude < GIGA && magnitude > 0n && fraction !== ''
  return {
    nanos,
    format: tiny ? 'decimal' : format,
    text: isKept(digits, stripped === '' ? 1 : stripped.length, fraction.length, exponent, format) ? text : undefined,
  }
}

/** How the server writes it: `1000m` is `1`, `1024Mi` is `1Gi`, `0.5` is `500m`. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text
  const { nanos } = quantity
  if (nanos === 0n) return '0'
  const whole = nanos % GIGA === 0n
  if (quantity.format === 'binary' && whole && (nanos >= 1024n * GIGA || nanos <= -1024n * GIGA)) return binaryText(nanos / GIGA)
  return decimalText(nanos, quantity.format === 'exponent')
}

/** @throws Error with Go's text */
export const canonicalQuantity = (value: string | number | bigint) => formatQuantity(parseQuantity(value))

/** Negative, zero or positive, as a comparator answers. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
}

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format, text: undefined }
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos - b.nanos, format: a.nanos === 0n ? b.format : a.format, text: undefined }
}

export const isWhole = (quantity: Quantity) => quantity.nanos % GIGA === 0n

/** Rounded up, as `Quantity.Value`. */
export function wholeValue(quantity: Quantity): bigint {
  const { nanos } = quantity
  const value = nanos / GIGA
  return nanos > 0n && nanos % GIGA !== 0n ? value + 1n : value
}

function interpret(suffix: string): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  const decimal = DECIMAL.get(suffix)
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'decimal' }
  const binary = BINARY.get(suffix)
  if (binary !== undefined) return { base: 2, exponent: binary, format: 'binary' }
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1]
  if (exponent === undefined || Math.abs(Number(exponent)) > LARGEST_EXPONENT) throw new Error(SUFFIX_TEXT)
  return { base: 10, exponent: Number(exponent), format: 'exponent' }
}

/** In billionths; what is smaller than one rounds up, so that who asks for something gets something. */
function scale(digits: bigint, fractionDigits: number, base: 2 | 10, exponent: number): bigint {
  const shift = (base === 10 ? exponent : 0) - fractionDigits + 9
  const value = base === 2 ? digits << BigInt(exponent) : digits
  if (shift >= 0) return value * 10n ** BigInt(shift)
  const divisor = 10n ** BigInt(-shift)
  return value / divisor + (value % divisor === 0n ? 0n : 1n)
}

/** The real server keeps the client's text where a quick look says that it is canonical (it is not always: `1.500` stays). */
function isKept(digits: string, wholeDigits: number, fractionDigits: number, exponent: number, format: QuantityFormat): boolean {
  if (format === 'binary') {
    if (fractionDigits > 0 || 15 - wholeDigits - Math.trunc((exponent * 3) / 10) - 1 < 0) return false
    return (BigInt(digits) & 7n) !== 0n
  }
  const places = exponent - fractionDigits
  if (digits.length > 18 || places < -9) return false
  return places % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0'
}

function binaryText(value: bigint): string {
  let rest = value
  let exponent = 0
  while ((rest >= 1024n || rest <= -1024n) && rest % 1024n === 0n) {
    rest /= 1024n
    exponent += 10
  }
  return `${rest}${BINARY_SUFFIX.get(exponent) ?? ''}`
}

function decimalText(nanos: bigint, exponential: boolean): string {
  let rest = nanos
  let exponent = -9
  while (rest % 1000n === 0n && (exponential || exponent < 18)) {
    rest /= 1000n
    exponent += 3
  }
  if (exponential) return exponent === 0 ? `${rest}` : `${rest}e${exponent}`
  return `${rest}${DECIMAL_SUFFIX.get(exponent) ?? ''}`
}
