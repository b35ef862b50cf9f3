/**
 * The JSONPath of printer columns and selectable fields, as `k8s.io/client-go/util/jsonpath` reads what is between its
 * braces: fields, `['key']`, indices, slices, wildcards, unions, `..`, and filters such as `[?(@.type=="Ready")]`.
 */
import { isObject } from '../json.ts'

/** All values found, in order; undefined: the path does not fit the object. */
export type JsonPath = (root: unknown) => unknown[] | undefined

/** @throws Error */
export function compileJsonPath(text: string): JsonPath {
  const steps = parse(text)
  return (root) => {
    try {
      return run(steps, [root])
    } catch (error) {
      if (error instanceof Mismatch) return undefined
      throw error
    }
  }
}

/** What is there is not what the path expects, such as a field where it has an index. */
class Mismatch extends Error {}

type Step = (values: unknown[]) => unknown[]

const run = (steps: readonly Step[], values: unknown[]) => steps.reduce((found, step) => step(found), values)

function parse(text: string): Step[] {
  const steps: Step[] = []
  let rest = text
  while (rest !== '') {
    const [step, length] = parseStep(rest)
    if (step !== undefined) steps.push(step)
    rest = rest.slice(length)
  }
  return steps
}

const LITERAL = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([+-]?\d+(?:\.\d+)?)|(true|false)(?![\w]))/

/** A name without a dot stands for nothing that an object has. */
const IDENTIFIER = /^(?!(?:true|false)(?!\w))[\p{L}_][^\s.,[\]$@{}]*/u
const unknownName: Step = () => {
  throw new Mismatch()
}

function parseStep(text: string): [Step | undefined, number] {
  if (text.startsWith('[?(')) return parseFilter(text)
  if (text.startsWith('..')) return [recursive, text.startsWith('..[') || text === '..' ? 2 : 1]
  if (/^[ @$]/.test(text)) return [undefined, 1]
  if (text.startsWith('[')) {
    const end = text.indexOf(']')
    if (end < 0) throw new Error('unterminated array')
    return [parseBrackets(text.slice(1, end)), end + 1]
  }
  if (text.startsWith('.')) {
    const [whole, name = ''] = /^\.((?:\\.|[^\s.,[\]$@{}])*)/s.exec(text) ?? ['.']
    return [name === '*' ? wildcard : field(name.replaceAll('\\', '')), whole.length]
  }
  const identifier = IDENTIFIER.exec(text)
  if (identifier !== null) return [unknownName, identifier[0].length]
  const literal = LITERAL.exec(text)
  if (literal === null) throw new Error(`unrecognized character in action: ${text[0]}`)
  const [whole, double, single, number, boolean] = literal
  const value =
    number !== undefined
      ? Number(number)
      : boolean !== undefined
        ? boolean === 'true'
        : (double ?? single ?? '').replaceAll(/\\(.)/gs, '$1')
  return [() => [value], whole.length]
}

function parseBrackets(text: string): Step {
  if (text === '*') return slice(undefined, undefined, undefined)
  const parts = text.split(',')
  if (parts.length > 1) {
    const union = parts.map((part) => parseBrackets(part.trim()))
    return (values) => union.flatMap((step) => step(values))
  }
  const key = /^'([^']*)'$/.exec(text)
  if (key !== null) return run.bind(undefined, parse(`.${key[1]}`))
  const index = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text)
  if (index === null || text === '') throw new Error(`invalid array index ${text}`)
  const [, from = '', to, by] = index
  const number = (part: string | undefined) =>
    part === undefined || part === '' || part === ':' ? undefined : Number(part.replace(':', ''))
  const start = number(from)
  if (to === undefined) return slice(start, start === -1 ? undefined : (start ?? 0) + 1, undefined)
  return slice(start, number(to), number(by))
}

function parseFilter(text: string): [Step, number] {
  const quoted = '"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\''
  const match = new RegExp(`^\\[\\?\\(((?:${quoted}|[^)"'])*)\\)\\]`, 's').exec(text)
  if (match === null) throw new Error('unterminated filter')
  const comparison = /^([^!<>=]+)([!<>=]+)(.+?)$/s.exec(match[1]!)
  const filter = (keep: (item: unknown) => boolean): Step => {
    return (values) =>
      values.flatMap((value) => {
        if (!Array.isArray(value)) throw new Mismatch()
        return value.filter(keep)
      })
  }
  if (comparison === null) {
    const exists = parse(match[1]!)
    return [filter((item) => run(exists, [item]).length > 0), match[0].length]
  }
  const [, left = '', operator = '', right = ''] = comparison
  const test = COMPARE.get(operator)
  if (test === undefined) throw new Error(`unrecognized filter operator ${operator}`)
  const [a, b] = [parse(left), parse(right)]
  return [filter((item) => compare(run(a, [item]), run(b, [item]), test)), match[0].length]
}

type Scalar = string | number

const COMPARE: ReadonlyMap<string, (a: Scalar, b: Scalar) => boolean> = new Map([
  ['==', (a, b) => a === b],
  ['!=', (a, b) => a !== b],
  ['<', (a, b) => a < b],
  ['>', (a, b) => a > b],
  ['<=', (a, b) => a <= b],
  ['>=', (a, b) => a >= b],
])

function compare(left: unknown[], right: unknown[], test: (a: Scalar, b: Scalar) => boolean): boolean {
  if (left.length === 0 || right.length === 0) return false
  // Only basic values of one kind can be compared.
  if (left.length > 1 || right.length > 1 || typeof left[0] !== typeof right[0] || typeof left[0] === 'object') throw new Mismatch()
  return test(left[0] as Scalar, right[0] as Scalar)
}

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) && value[name] !== undefined ? [value[name]] : []))

const wildcard: Step = (values) =>
  values.flatMap((value) => (Array.isArray(value) ? value : typeof value === 'object' && value !== null ? Object.values(value) : []))

const recursive: Step = (values) =>
  values.flatMap((value) => (typeof value === 'object' && value !== null ? [value, ...recursive(Object.values(value))] : [value]))

function slice(from: number | undefined, to: number | undefined, by: number | undefined): Step {
  if (by !== undefined && by <= 0) throw new Error('step must be > 0')
  return (values) =>
    values.flatMap((value) => {
      if (value === null) return []
      if (!Array.isArray(value)) throw new Mismatch()
      const { length } = value
      const start = from === undefined ? 0 : from < 0 ? from + length : from
      const end = to === undefined ? length : to < 0 ? to + length : to
      if (start === end) return []
      if (start < 0 || start >= length || end < 0 || end > length || start > end) throw new Mismatch()
      return value.slice(start, end).filter((_, i) => i % (by ?? 1) === 0)
    })
}
