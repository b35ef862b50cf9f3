/** Bounds of numbers, with integers and floats told apart as Go's library does. */
import { broken, type Findings, faulty, general } from './findings.ts'
import { formatNumber, isInt64, isJsonInteger } from './go.ts'
import type { SchemaNode } from './node.ts'

export function checkNumber(node: SchemaNode, value: number | bigint, path: string, out: Findings): void {
  // Limits are floats in Go, however many digits a definition gives them.
  const { schema } = node
  if (!fits(node, value)) out.add(general(`Checked value ${mustBe(node, path)}`))
  if (schema.multipleOf !== undefined) checkMultiple(node, value, Number(schema.multipleOf), path, out)
  if (schema.minimum !== undefined) {
    const limit = boundary(node, value, Number(schema.minimum), 'Minimum', path, out)
    if (schema.exclusiveMinimum ? value <= limit : value < limit) {
      out.add(broken(path, value, `should be greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${formatNumber(limit)}`))
    }
  }
  if (schema.maximum !== undefined) {
    const limit = boundary(node, value, Number(schema.maximum), 'Maximum', path, out)
    if (schema.exclusiveMaximum ? value >= limit : value > limit) {
      out.add(broken(path, value, `should be less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${formatNumber(limit)}`))
    }
  }
}

/** An integer is compared with the limit cut to an integer; a limit that the type cannot hold is an error of its own. */
function boundary(node: SchemaNode, value: number | bigint, limit: number, name: string, path: string, out: Findings): number | bigint {
  if (!fits(node, limit)) {
    out.add(general(`${name} boundary value ${mustBe(node, path)}`))
    return limit
  }
  return isInt64(value) ? truncate(limit) : limit
}

function checkMultiple(node: SchemaNode, value: number | bigint, factor: number, path: string, out: Findings): void {
  const ok = fits(node, factor)
  if (!ok) out.add(general(`MultipleOf value ${mustBe(node, path)}`))
  if (ok && isInt64(value)) {
    const step = BigInt(truncate(factor))
    if (step <= 0n) out.add(mustBePositive(path, step))
    else if (BigInt(value) % step !== 0n) out.add(broken(path, value, `should be a multiple of ${step}`))
    return
  }
  if (factor <= 0) out.add(mustBePositive(path, factor))
  else if (!isJsonInteger(factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor)) {
    out.add(broken(path, value, `should be a multiple of ${formatNumber(factor)}`))
  }
}

const mustBePositive = (path: string, factor: number | bigint) =>
  faulty(path, factor, `factor MultipleOf declared for ${path} must be positive: ${formatNumber(factor)}`)

/** `int64(limit)` */
function truncate(limit: number): number | bigint {
  const whole = Math.trunc(limit)
  return Number.isSafeInteger(whole) ? whole : BigInt(whole)
}

/** Within the range of the schema's type and format. */
function fits(node: SchemaNode, value: number | bigint): boolean {
  const type = node.types.length === 1 ? node.types[0] : ''
  if (type === 'integer') {
    if (typeof value === 'number' && !Number.isInteger(value)) return false
    if (Number.isSafeInteger(value)) return node.format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31)
    const whole = BigInt(value)
    return node.format === 'int32' ? whole >= -(2n ** 31n) && whole < 2n ** 31n : whole >= -(2n ** 63n) && whole < 2n ** 63n
  }
  return type !== 'number' || node.format !== 'float' || Math.abs(Number(value)) <= 3.4028235677973366e38
}

function mustBe(node: SchemaNode, path: string): string {
  const type = node.types.length === 1 ? node.types[0] : ''
  const format = type === 'integer' || type === 'number' ? node.format : ''
  return `must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`} in ${path}`
}
