/**
 * What looks like a function and is a loop or a test: `has`, `all`, `exists`, `exists_one`, `map`, `filter`, their
 * two-variable forms, `optMap`, `optFlatMap` and `sortBy`.
 */
import { type Call, type Comprehension, copyNode, type Node } from './ast.ts'
import type { Value } from './values.ts'

export class MacroError extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** The accumulator of a loop; it can be named in an expression, as in the real server. */
export const ACCUMULATOR = '__result__'
/** The variable of a loop over nothing: such a loop only binds a name. */
export const UNUSED = '#unused'

type Expand = (at: number, target: Node, args: readonly Node[]) => Node | undefined

const MEMBER_MACROS: Readonly<Record<string, Expand>> = {
  'all/2': (at, target, args) => quantifier(at, target, args, all),
  'exists/2': (at, target, args) => quantifier(at, target, args, exists),
  'exists_one/2': (at, target, args) => quantifier(at, target, args, existsOne),
  'all/3': (at, target, args) => quantifier2(at, target, args, all),
  'exists/3': (at, target, args) => quantifier2(at, target, args, exists),
  'exists_one/3': (at, target, args) => quantifier2(at, target, args, existsOne),
  'existsOne/3': (at, target, args) => quantifier2(at, target, args, existsOne),
  'map/2': map,
  'map/3': map,
  'filter/2': filter,
  'transformList/3': (at, target, args) => transform(at, target, args, appendToList, list(at, [])),
  'transformList/4': (at, target, args) => transform(at, target, args, appendToList, list(at, [])),
  'transformMap/3': (at, target, args) => transform(at, target, args, insertValue, { kind: 'map', at, entries: [] }),
  'transformMap/4': (at, target, args) => transform(at, target, args, insertValue, { kind: 'map', at, entries: [] }),
  'transformMapEntry/3': (at, target, args) => transform(at, target, args, insertEntry, { kind: 'map', at, entries: [] }),
  'transformMapEntry/4': (at, target, args) => transform(at, target, args, insertEntry, { kind: 'map', at, entries: [] }),
  'optMap/2': (at, target, args) => optional(at, 'optMap', target, args),
  'optFlatMap/2': (at, target, args) => optional(at, 'optFlatMap', target, args),
  'sortBy/2': sortBy,
}

/** Undefined: an ordinary call. @throws MacroError */
export function expandMacro(at: number, name: string, target: Node | undefined, args: readonly Node[]): Node | undefined {
  if (target === undefined) return name === 'has' && args.length === 1 ? has(at, args[0] as Node) : undefined
  const key = `${name}/${args.length}`
  return Object.hasOwn(MEMBER_MACROS, key) ? MEMBER_MACROS[key]?.(at, target, args) : undefined
}

function has(at: number, argument: Node): Node {
  if (argument.kind !== 'select' || argument.test) throw new MacroError(argument.at, 'invalid argument to has() macro')
  return { kind: 'select', at, operand: argument.operand, field: argument.field, test: true }
}

interface LoopParts {
  readonly initial: Node
  readonly condition: Node
  readonly step: Node
  readonly result: Node
}

function all(at: number, predicate: Node): LoopParts {
  return {
    initial: literal(at, true),
    condition: call(at, '@not_strictly_false', [accumulator(at)]),
    step: call(at, '_&&_', [accumulator(at), predicate]),
    result: accumulator(at),
  }
}

function exists(at: number, predicate: Node): LoopParts {
  return {
    initial: literal(at, false),
    condition: call(at, '@not_strictly_false', [call(at, '!_', [accumulator(at)])]),
    step: call(at, '_||_', [accumulator(at), predicate]),
    result: accumulator(at),
  }
}

function existsOne(at: number, predicate: Node): LoopParts {
  return {
    initial: literal(at, 0n),
    condition: literal(at, true),
    step: call(at, '_?_:_', [predicate, call(at, '_+_', [accumulator(at), literal(at, 1n)]), accumulator(at)]),
    result: call(at, '_==_', [accumulator(at), literal(at, 1n)]),
  }
}

function quantifier(at: number, range: Node, args: readonly Node[], parts: (at: number, predicate: Node) => LoopParts): Node {
  const variable = name(args[0] as Node, 'argument must be a simple name')
  return loop(at, range, variable, undefined, parts(at, args[1] as Node))
}

function quantifier2(at: number, range: Node, args: readonly Node[], parts: (at: number, predicate: Node) => LoopParts): Node {
  const [first, second] = twoNames(args)
  return loop(at, range, first, second, parts(at, args[2] as Node))
}

function map(at: number, range: Node, args: readonly Node[]): Node {
  const variable = name(args[0] as Node, 'argument is not an identifier')
  const append = appendToList(at, args[args.length - 1] as Node)
  const step = args.length === 3 ? call(at, '_?_:_', [args[1] as Node, append, accumulator(at)]) : append
  return loop(at, range, variable, undefined, collect(at, list(at, []), step))
}

function filter(at: number, range: Node, args: readonly Node[]): Node {
  const variable = name(args[0] as Node, 'argument is not an identifier')
  const step = call(at, '_?_:_', [args[1] as Node, appendToList(at, args[0] as Node), accumulator(at)])
  return loop(at, range, variable, undefined, collect(at, list(at, []), step))
}

type Accumulate = (at: number, transformed: Node, key?: string) => Node
const appendToList: Accumulate = (at, transformed) => call(at, '_+_', [accumulator(at), list(at, [transformed])])
const insertValue: Accumulate = (at, transformed, key) => call(at, 'cel.@mapInsert', [accumulator(at), ident(at, key ?? ''), transformed])
const insertEntry: Accumulate = (at, transformed) => call(at, 'cel.@mapInsert', [accumulator(at), transformed])

function transform(at: number, range: Node, args: readonly Node[], accumulate: Accumulate, initial: Node): Node {
  const [first, second] = twoNames(args)
  const append = accumulate(at, args[args.length - 1] as Node, first)
  const step = args.length === 4 ? call(at, '_?_:_', [args[2] as Node, append, accumulator(at)]) : append
  return loop(at, range, first, second, collect(at, initial, step))
}

const collect = (at: number, initial: Node, step: Node): LoopParts => ({
  initial,
  condition: literal(at, true),
  step,
  result: accumulator(at),
})

function optional(at: number, macro: 'optMap' | 'optFlatMap', target: Node, args: readonly Node[]): Node {
  const variable = args[0] as Node
  if (variable.kind !== 'ident') throw new MacroError(variable.at, `${macro}() variable name must be a simple identifier`)
  const bound = bind(at, variable.name, call(at, 'value', [], copyNode(target)), args[1] as Node)
  return call(at, '_?_:_', [
    call(at, 'hasValue', [], target),
    macro === 'optMap' ? call(at, 'optional.of', [bound]) : bound,
    call(at, 'optional.none', []),
  ])
}

function sortBy(at: number, target: Node, args: readonly Node[]): Node {
  if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct') {
    throw new MacroError(target.at, 'sortBy can only be applied to a list, identifier, comprehension, call or select expression')
  }
  const input = '@__sortBy_input__'
  const keys = map(at, ident(at, input), args)
  return bind(at, input, target, call(at, '@sortByAssociatedKeys', [keys], ident(at, input)))
}

function bind(at: number, variable: string, value: Node, result: Node): Node {
  return {
    kind: 'comprehension',
    at,
    range: list(at, []),
    variable: UNUSED,
    variable2: undefined,
    accumulator: variable,
    initial: value,
    condition: literal(at, false),
    step: ident(at, variable),
    result,
  }
}

function loop(at: number, range: Node, variable: string, variable2: string | undefined, parts: LoopParts): Comprehension {
  return { kind: 'comprehension', at, range, variable, variable2, accumulator: ACCUMULATOR, ...parts }
}

function twoNames(args: readonly Node[]): [string, string] {
  const [first, second] = args as [Node, Node]
  for (const each of [first, second]) if (each.kind !== 'ident') throw new MacroError(each.at, 'argument must be a simple name')
  const names: [string, string] = [(first as { name: string }).name, (second as { name: string }).name]
  if (names[0] === names[1]) throw new MacroError(second.at, `duplicate variable name: ${names[0]}`)
  for (const each of [first, second]) name(each, '')
  return names
}

function name(node: Node, complaint: string): string {
  if (node.kind !== 'ident') throw new MacroError(node.at, complaint)
  if (node.name === ACCUMULATOR) throw new MacroError(node.at, 'iteration variable overwrites accumulator variable')
  return node.name
}

const literal = (at: number, value: Value): Node => ({ kind: 'literal', at, value })
const ident = (at: number, name: string): Node => ({ kind: 'ident', at, name })
const accumulator = (at: number): Node => ident(at, ACCUMULATOR)
const list = (at: number, elements: readonly Node[]): Node => ({ kind: 'list', at, elements, optional: new Set() })
const call = (at: number, name: string, args: readonly Node[], target?: Node): Call => ({
  kind: 'call',
  at,
  name,
  target,
  args,
  overloads: [],
})
