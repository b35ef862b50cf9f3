import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { validateRules } from '../../../../lib/embedded/cel/definition.ts'
import { estimateCost } from '../../../../lib/embedded/cel/estimate.ts'
import { compileExpression, isMistake } from '../../../../lib/embedded/cel/expression.ts'
import { ABSENT } from '../../../../lib/embedded/cel/frame.ts'
import { celType, type SchemaType, schemaType } from '../../../../lib/embedded/cel/schema-type.ts'
import { converter } from '../../../../lib/embedded/cel/schema-value.ts'
import { nameType } from '../../../../lib/embedded/cel/types.ts'
import { createValidator } from '../../../../lib/embedded/cel/validator.ts'
import { CelError } from '../../../../lib/embedded/cel/values.ts'
import { CAUSE_REASON, type FieldError } from '../../../../lib/embedded/field-error.ts'
import type { Schema } from '../../../../lib/embedded/types.ts'
import { recordedCases } from '../recorded.ts'
import { showResult } from './show-result.ts'

/** All answers here are those of k8s.io/apiextensions-apiserver v0.36.3 to the same schemas, objects and expressions. */
const recorded = (name: string) => new URL(name, import.meta.url)

interface RecordedExpression {
  schema: string
  object: number
  expression: string
  /** Compile errors, or of a constant part. */
  refused?: string
  value?: string
  error?: string
  cost: number
  estimate: string
  type: string
}

interface World {
  schema: Schema
  objects: unknown[]
}

describe('CEL expressions', () => {
  const worlds = JSON.parse(readFileSync(recorded('schemas.json'), 'utf8')) as Record<string, World>

  it('are refused, typed, estimated, evaluated and paid for as by Kubernetes', () => {
    for (const example of recordedCases<RecordedExpression>(recorded('expressions.recorded.jsonl'))) {
      const { schema, objects } = worlds[example.schema] as World
      const root = schemaType(schema, false) as SchemaType
      const compiled = compileExpression(example.expression, new Map(['self', 'oldSelf'].map((name) => [name, celType(root, 'selfType1')])))
      if (isMistake(compiled)) {
        const text = compiled.stage === 'program' ? `program: ${compiled.message}` : compiled.message
        expect(text, example.expression).to.equal(example.refused)
        continue
      }
      expect(undefined, example.expression).to.equal(example.refused)
      expect(nameType(compiled.type), example.expression).to.equal(example.type)
      const { max } = estimateCost(compiled.node, root)
      expect(max, `estimate of ${example.expression}`).to.be.closeTo(Number(example.estimate), Number(example.estimate) * 1e-12)
      const self = converter(schema, false)(objects[example.object])
      const { value, cost } = compiled.program.run((name) => (name === 'self' ? self : ABSENT), 1_000_000)
      const result = value instanceof CelError ? { error: value.message } : { value: showResult(value) }
      expect({ ...result, cost }, example.expression).to.deep.equal({
        ...(example.value === undefined ? { error: example.error } : { value: example.value }),
        cost: example.cost,
      })
    }
  }).timeout(20_000)
})

const describeError = (error: FieldError) => `${CAUSE_REASON[error.type]} ${error.field}: ${error.message}`

describe('CEL rules of a definition', () => {
  it('are refused with the fields and texts of Kubernetes, also for what they could cost', () => {
    for (const { schema, errors } of recordedCases<{ schema: Schema; errors: string[] }>(recorded('definitions.recorded.jsonl'))) {
      const found = validateRules(schema, { path: 'spec.validation.openAPIV3Schema' }).map(describeError).sort()
      expect(found, JSON.stringify(schema)).to.deep.equal(errors.sort())
    }
  }).timeout(20_000)
})

interface RecordedObject {
  schema: number
  object: unknown
  old?: unknown
  errors: string[]
  warnings: string[]
}

describe('CEL rules', () => {
  const schemas = readFileSync(recorded('objects.schemas.jsonl'), 'utf8').trim().split('\n')
  const validators = schemas.map(
    (schema) => createValidator(JSON.parse(schema) as Schema) as NonNullable<ReturnType<typeof createValidator>>,
  )

  it('judge new and changed objects as Kubernetes does: transitions, ratcheting, messages, budgets', () => {
    for (const { schema, object, old, errors, warnings } of recordedCases<RecordedObject>(recorded('objects.recorded.jsonl'))) {
      const found = validators[schema]?.(object, old, 'root')
      const told = `${schemas[schema]} ${JSON.stringify({ object, old })}`
      expect(found?.errors.map(describeError).sort(), told).to.deep.equal(errors.sort())
      expect(found?.warnings.sort(), told).to.deep.equal(warnings.sort())
    }
  }).timeout(20_000)
})
