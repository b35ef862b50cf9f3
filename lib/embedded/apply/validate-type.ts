/** Whether a value fits its type. Texts are those of structured-merge-diff, which clients see in a 500. */
import { isObject, type Json, type JsonObject } from '../json.ts'
import { goType } from '../patch/go-format.ts'
import type { FieldType, ListType, MapType, Scalar } from './field-type.ts'
import { asGoSyntax } from './go-syntax.ts'
import { fieldElement, type PathElement, showElement } from './path-element.ts'
import { boxed, firstPart, listElement, partOf, type TypedProblem, typedError } from './typed.ts'

/** `repeats`: lists may have several items of the same keys, as stored objects sometimes have. @throws TypedError */
export function requireType(value: Json, type: FieldType, repeats: boolean): void {
  const problems = check(value, type, repeats)
  if (problems.length > 0) throw typedError(problems)
}

function check(value: Json, type: FieldType, repeats: boolean): TypedProblem[] {
  switch (partOf(type, value) ?? firstPart(type)) {
    case 'map':
      return checkMap(value, type.map as MapType, repeats)
    case 'list':
      return checkList(value, type.list as ListType, repeats)
    default:
      return checkScalar(value, type.scalar as Scalar)
  }
}

const problem = (message: string): TypedProblem[] => [{ path: '', message }]

function checkMap(value: Json, type: MapType, repeats: boolean): TypedProblem[] {
  if (value === null) return []
  if (!isObject(value)) return problem(`expected map, got ${boxed(value)}`)
  const problems: TypedProblem[] = []
  for (const key of Object.keys(value as JsonObject)) {
    const member = value[key]
    if (member === undefined) continue
    const inner = type.field(key)
    if (inner === undefined) {
      problems.push({ path: showElement(fieldElement(key)), message: 'field not declared in schema' })
      return problems
    }
    problems.push(...under(fieldElement(key), check(member, inner, repeats)))
  }
  return problems
}

function checkList(value: Json, type: ListType, repeats: boolean): TypedProblem[] {
  if (value === null) return []
  if (!Array.isArray(value)) return problem(`expected list, got ${boxed(value)}`)
  const problems: TypedProblem[] = []
  const seen = new Set<PathElement>()
  for (const [i, item] of value.entries()) {
    let element: PathElement = `i:${i}`
    if (!type.atomic) {
      try {
        element = listElement(type, item)
      } catch (error) {
        problems.push(...problem(`element ${i}: ${(error as Error).message}`))
        return problems
      }
      if (seen.has(element) && !repeats) problems.push(...problem(`duplicate entries for key ${showElement(element)}`))
      seen.add(element)
    }
    problems.push(...under(element, check(item, type.element, repeats)))
  }
  return problems
}

function under(element: PathElement, problems: TypedProblem[]): TypedProblem[] {
  if (problems.length === 0) return problems
  const prefix = showElement(element)
  return problems.map(({ path, message }) => ({ path: prefix + path, message }))
}

function checkScalar(value: Json, scalar: Scalar): TypedProblem[] {
  if (value === null) return []
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  switch (scalar) {
    case 'numeric':
      return isNumber ? [] : problem(`expected numeric (int or float), got ${goType(value)}`)
    case 'string':
      return typeof value === 'string' ? [] : problem(`expected string, got &value.valueUnstructured{Value:${asGoSyntax(value)}}`)
    case 'boolean':
      return typeof value === 'boolean' ? [] : problem(`expected boolean, got ${boxed(value)}`)
    default:
      return typeof value === 'object' ? problem(`expected any scalar, got ${boxed(value)}`) : []
  }
}
