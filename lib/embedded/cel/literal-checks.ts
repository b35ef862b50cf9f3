/** Literals that can only fail when they run are refused before: durations, times, patterns, formats, mixed lists and maps. */
import { type Call, children, type List, type MapNode, type Node, walk } from './ast.ts'
import { regexes } from './library/core.ts'
import { type Clause, FormatError, interpolate, REFUSALS } from './library/format-text.ts'
import { timestamp } from './operators.ts'
import type { Issue } from './source.ts'
import { parseDuration, parseTimestamp } from './time.ts'
import { type CelType, isOptional, sameType, showType } from './types.ts'
import { isError, type Value } from './values.ts'

export function checkLiterals(root: Node): Issue[] {
  const issues: Issue[] = []
  for (const node of walk(root)) if (node.kind === 'call') issues.push(...checkCall(node))
  issues.push(...checkAggregates(root, false))
  return issues
}

const VALID: Readonly<Record<string, (value: Value) => boolean>> = {
  duration: (value) => typeof value === 'string' && parseDuration(value) !== undefined,
  timestamp: (value) => {
    if (typeof value === 'bigint') return !isError(timestamp(value * 1_000_000_000n))
    const time = typeof value === 'string' ? parseTimestamp(value) : undefined
    return typeof value !== 'string' || (time !== undefined && !isError(timestamp(time.ns)))
  },
  matches: (value) => typeof value === 'string' && typeof regexes.compile(value) !== 'string',
}

function checkCall(node: Call): Issue[] {
  const argument = node.args[0]
  if (argument?.kind === 'literal' && Object.hasOwn(VALID, node.name) && !VALID[node.name]?.(argument.value)) {
    return [{ at: argument.at, message: `invalid ${node.name} argument` }]
  }
  const isFormat = node.name === 'format' && node.target?.kind === 'literal' && argument?.kind === 'list'
  return isFormat ? checkFormat(node, argument) : []
}

/** Wraps the place of an argument that a clause refuses. */
class Refused extends FormatError {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

function checkFormat(node: Call, { elements }: List): Issue[] {
  const format = (node.target as { value: Value }).value
  if (typeof format !== 'string') return []
  let used = 0
  try {
    interpolate(
      format,
      (index, clause) => {
        used++
        refuse(clause, elements[index] as Node)
        return ''
      },
      elements.length,
    )
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return [{ at: error instanceof Refused ? error.at : node.at, message: error.message }]
  }
  if (elements.length <= used) return []
  return [{ at: node.at, message: `too many arguments supplied to string.format (expected ${used}, got ${elements.length})` }]
}

const TAKES: Readonly<Record<Clause, readonly string[]>> = {
  s: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
}

function refuse(clause: Clause, node: Node): void {
  const type = node.type as CelType
  if (type.kind !== 'dyn' && !TAKES[clause].includes(type.kind)) {
    throw new Refused(node.at, `error during formatting: ${REFUSALS[clause]}, was given ${type.name}`)
  }
  if (clause === 's' && (node.kind === 'list' || node.kind === 'map')) for (const child of children(node)) refuse('s', child)
}

/** The arguments of `format` may be of any types. */
function checkAggregates(node: Node, exempt: boolean): Issue[] {
  const below = exempt || (node.kind === 'call' && node.name === 'format')
  const own = exempt ? [] : node.kind === 'list' ? mixedList(node) : node.kind === 'map' ? mixedMap(node) : []
  return [...own, ...children(node).flatMap((child) => checkAggregates(child, below))]
}

const mismatch = (node: Node, expected: CelType, actual: CelType): Issue => ({
  at: node.at,
  message: `expected type '${showType(expected)}' but found '${showType(actual)}'`,
})

function elementType(node: Node, optional: boolean): CelType {
  const type = node.type as CelType
  return optional && isOptional(type) ? (type.params[0] as CelType) : type
}

function mixedList(node: List): Issue[] {
  const types = node.elements.map((each, i) => elementType(each, node.optional.has(i)))
  const odd = types.findIndex((type) => !equivalent(types[0] as CelType, type))
  return odd < 0 ? [] : [mismatch(node.elements[odd] as Node, types[0] as CelType, types[odd] as CelType)]
}

function mixedMap(node: MapNode): Issue[] {
  const first = node.entries[0]
  if (first === undefined) return []
  const keyType = first.key.type as CelType
  const valueType = elementType(first.value, first.optional)
  return node.entries.flatMap(({ key, value, optional }) => {
    const type = elementType(value, optional)
    return [
      ...(equivalent(keyType, key.type as CelType) ? [] : [mismatch(key, keyType, key.type as CelType)]),
      ...(equivalent(valueType, type) ? [] : [mismatch(value, valueType, type)]),
    ]
  })
}

/** Type variables of whatever name are the same. */
function equivalent(a: CelType, b: CelType): boolean {
  if (a.kind === 'param' && b.kind === 'param') return true
  if (a.params.length === 0 || a.kind !== b.kind) return sameType(a, b)
  return a.name === b.name && a.params.length === b.params.length && a.params.every((each, i) => equivalent(each, b.params[i] as CelType))
}
