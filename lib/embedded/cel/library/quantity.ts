/** Kubernetes quantities. */
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity, subtractQuantities } from '../../quantity.ts'
import { type Library, member, overload } from '../environment.ts'
import { BOOL, DOUBLE, INT, STRING, struct } from '../types.ts'
import { CelError, INT_MAX, INT_MIN, noSuchOverload, Opaque, type Value } from '../values.ts'

const TYPE = struct('kubernetes.Quantity')
const BILLION = 1_000_000_000n
const SYNTAX_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/** `value` times ten to the power of `scale`: how Go holds quantities with few digits. Only those can be integers. */
interface Amount {
  readonly value: bigint
  readonly scale: number
}

export class QuantityValue extends Opaque {
  readonly typeName = TYPE.name
  readonly quantity: Quantity
  readonly amount: Amount | undefined

  constructor(quantity: Quantity, amount: Amount | undefined) {
    super()
    this.quantity = quantity
    this.amount = amount
  }

  equals(other: Value): Value {
    return other instanceof QuantityValue ? compareQuantities(this.quantity, other.quantity) === 0 : noSuchOverload()
  }

  override asText(): string {
    return formatQuantity(this.quantity)
  }
}

function parse(text: string): QuantityValue | CelError {
  if (/\s/.test(text)) return new CelError(SYNTAX_ERROR)
  try {
    return new QuantityValue(parseQuantity(text), amountOf(text))
  } catch (error) {
    return new CelError((error as Error).message)
  }
}

const EXPONENTS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const SHIFTS: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }

/** Undefined: too many digits, or a fraction of a power of two. */
function amountOf(text: string): Amount | undefined {
  const [, sign, whole = '', fraction = '', suffix = ''] = /^([+-]?)0*(\d*)\.?(\d*)(.*)$/.exec(text) as RegExpExecArray
  const digits = (whole === '' ? 1 : whole.length) + fraction.length
  const value = BigInt(`${whole}${fraction}` || '0') * (sign === '-' ? -1n : 1n)
  const shift = SHIFTS[suffix]
  if (shift !== undefined) {
    const fits = fraction === '' && 14 - digits - Math.trunc(Math.fround(Math.fround(shift) * 3) / 10) >= 0
    return fits ? inRange({ value: value << BigInt(shift), scale: 0 }) : undefined
  }
  const scale = (EXPONENTS[suffix] ?? Number(suffix.slice(1))) - fraction.length
  return digits <= 18 && scale >= -9 ? { value, scale } : undefined
}

const inRange = (amount: Amount) => (amount.value > INT_MAX || amount.value < INT_MIN ? undefined : amount)

function sum(a: QuantityValue, b: QuantityValue, sign: 1n | -1n): QuantityValue {
  const quantity = sign === 1n ? addQuantities(a.quantity, b.quantity) : subtractQuantities(a.quantity, b.quantity)
  return new QuantityValue(quantity, a.amount && b.amount && sumAmounts(a.amount, b.amount, sign))
}

function sumAmounts(a: Amount, b: Amount, sign: 1n | -1n): Amount | undefined {
  if (a.value === 0n) return { value: sign * b.value, scale: b.scale }
  if (b.value === 0n) return a
  const scale = Math.min(a.scale, b.scale)
  const scaled = (amount: Amount) => amount.value * 10n ** BigInt(amount.scale - scale)
  return inRange({ value: scaled(a) + sign * scaled(b), scale })
}

function whole(value: bigint): QuantityValue {
  return new QuantityValue({ nanos: value * BILLION, format: 'exponent', text: undefined }, { value, scale: 0 })
}

const order = (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity)

function asInteger({ amount }: QuantityValue): bigint | undefined {
  if (amount === undefined || amount.scale < 0) return undefined
  return inRange({ value: amount.value * 10n ** BigInt(amount.scale), scale: 0 })?.value
}

function asFloat({ amount, quantity }: QuantityValue): number {
  if (amount === undefined) return Number(quantity.nanos) / 1e9
  return amount.scale === 0 ? Number(amount.value) : Number(amount.value) * 10 ** amount.scale
}

export const quantity: Library = {
  quantity: [overload('string_to_quantity', [STRING], TYPE, parse)],
  isQuantity: [overload('is_quantity_string', [STRING], BOOL, (text: string) => parse(text) instanceof QuantityValue)],
  sign: [overload('quantity_sign', [TYPE], INT, ({ quantity: { nanos } }: QuantityValue) => (nanos > 0n ? 1n : nanos < 0n ? -1n : 0n))],
  isGreaterThan: [member('quantity_is_greater_than', [TYPE, TYPE], BOOL, (a: QuantityValue, b: QuantityValue) => order(a, b) > 0)],
  isLessThan: [member('quantity_is_less_than', [TYPE, TYPE], BOOL, (a: QuantityValue, b: QuantityValue) => order(a, b) < 0)],
  compareTo: [member('quantity_compare_to', [TYPE, TYPE], INT, (a: QuantityValue, b: QuantityValue) => BigInt(order(a, b)))],
  asApproximateFloat: [member('quantity_get_float', [TYPE], DOUBLE, asFloat)],
  asInteger: [
    member('quantity_get_int', [TYPE], INT, (value: QuantityValue) => asInteger(value) ?? new CelError('cannot convert value to integer')),
  ],
  isInteger: [member('quantity_is_integer', [TYPE], BOOL, (value: QuantityValue) => asInteger(value) !== undefined)],
  add: [
    member('quantity_add', [TYPE, TYPE], TYPE, (a: QuantityValue, b: QuantityValue) => sum(a, b, 1n)),
    member('quantity_add_int', [TYPE, INT], TYPE, (a: QuantityValue, b: bigint) => sum(a, whole(b), 1n)),
  ],
  sub: [
    member('quantity_sub', [TYPE, TYPE], TYPE, (a: QuantityValue, b: QuantityValue) => sum(a, b, -1n)),
    member('quantity_sub_int', [TYPE, INT], TYPE, (a: QuantityValue, b: bigint) => sum(a, whole(b), -1n)),
  ],
}
