import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import { expect } from 'chai'
import { compileExpression, isMistake } from '../../../../lib/embedded/cel/expression.ts'
import { ABSENT } from '../../../../lib/embedded/cel/frame.ts'
import {
  CelError,
  equal,
  PlainList,
  PlainMap,
  showValue,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from '../../../../lib/embedded/cel/values.ts'

/** As the suite has them: protobuf in JSON. */
type ProtoValue = Record<string, unknown>

interface Example {
  name: string
  expr: string
  value?: ProtoValue
  evalError?: object
  typeEnv?: unknown[]
  bindings?: object
  container?: string
}

interface Suite {
  name: string
  suites?: Suite[]
  tests?: { original: Example }[]
}

/** What a Kubernetes server does not have, or has in an older version. */
const NOT_THERE =
  /^(?:bindings_ext|block_ext|encoders_ext|math_ext|plumbing|type_deductions)\/|^fields\/quoted|^string_ext\/(?:format|value_errors)$/
/** Messages of protobuf: a rule cannot make them. */
const MESSAGES = /proto2|proto3|TestAllTypes|google\.protobuf|cel\.expr/
/** Expressions that Kubernetes refuses before they run: names it does not know, mixed lists, types that do not fit. */
const REFUSED = /undeclared reference|expected type|no matching overload|invalid qualifier type/
/** Kubernetes tolerates steps into what has no members, after an optional one; and keys twice. */
const OTHERWISE = new Set([
  '{true:1,false:2,true:3}[true]',
  "{'null_key': dyn(null)}.?null_key.invalid.hasValue()",
  '{true: dyn(0)}[?true].absent.hasValue()',
])

function* examples(suite: Suite, path: readonly string[] = []): Generator<[string, Example]> {
  for (const { original } of suite.tests ?? []) yield [path.join('/'), original]
  for (const inner of suite.suites ?? []) yield* examples(inner, [...path, inner.name])
}

function wanted(value: ProtoValue): Value {
  const [kind, content] = Object.entries(value)[0] as [string, never]
  switch (kind) {
    case 'int64Value':
      return BigInt(content)
    case 'uint64Value':
      return new Uint(BigInt(content))
    case 'doubleValue':
      return Number(content)
    case 'bytesValue':
      return new Uint8Array(Buffer.from(content, 'base64'))
    case 'typeValue':
      return new TypeValue(content)
    case 'listValue':
      return new PlainList(((content as { values?: ProtoValue[] }).values ?? []).map(wanted))
    case 'mapValue': {
      const { entries = [] } = content as { entries?: { key: ProtoValue; value: ProtoValue }[] }
      return new PlainMap(entries.map(({ key, value: each }) => [wanted(key), wanted(each)] as const))
    }
    default:
      return content
  }
}

function same(a: Value, b: Value): boolean {
  if (typeof a === 'number' && Number.isNaN(a)) return typeof b === 'number' && Number.isNaN(b)
  return typeName(a) === typeName(b) && equal(a, b) === true
}

describe('CEL', () => {
  it('passes the conformance tests of the language, but for what Kubernetes leaves out', () => {
    let ran = 0
    for (const [suite, example] of examples(tests as unknown as Suite)) {
      const { expr, value, evalError } = example
      if (example.typeEnv || example.bindings || example.container || NOT_THERE.test(suite) || MESSAGES.test(expr)) continue
      if (OTHERWISE.has(expr) || (value !== undefined && 'objectValue' in value)) continue
      const compiled = compileExpression(expr, new Map())
      if (isMistake(compiled) && REFUSED.test(compiled.message)) continue
      ran++
      const result = isMistake(compiled) ? new CelError(compiled.message) : compiled.program.run(() => ABSENT, 1e9).value
      const told = `${suite}: ${expr} gives ${showValue(result)}`
      if (evalError !== undefined) expect(result, told).to.be.instanceOf(CelError)
      else expect(same(result, value === undefined ? true : wanted(value)), told).to.equal(true)
    }
    expect(ran).to.be.greaterThan(1000)
  }).timeout(20_000)
})
