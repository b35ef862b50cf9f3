import { expect } from 'chai'
import { compileSchemaRules } from '../../../../lib/embedded/cel/compile.ts'
import type { CelRule, Schema } from '../../../../lib/embedded/types.ts'

const PATH = 'spec.validation.openAPIV3Schema'

/** A kind whose spec has these properties and rules. */
function kind(properties: Record<string, Schema>, ...rules: CelRule[]) {
  const spec: Schema = { type: 'object', properties, 'x-kubernetes-validations': rules }
  return compileSchemaRules({ type: 'object', properties: { spec } }, { path: PATH })
}

const messages = (found: { errors: readonly { field: string; message: string }[] }) =>
  found.errors.map(({ field, message }) => `${field}: ${message}`)

describe('compileSchemaRules', () => {
  const a: Schema = { type: 'integer' }

  it('accepts rules that compile and cost little', () => {
    const rules = kind({ a }, { rule: 'self.a < 5' })
    expect(rules.errors).to.deep.equal([])
    expect(rules.isEmpty).to.equal(false)
  })

  it('points at what is wrong with a rule', () => {
    expect(messages(kind({ a }, { rule: 'self.b == 1' }))[0]).to.match(
      /^spec\.validation\.openAPIV3Schema\.properties\[spec\]\.x-kubernetes-validations\[0\]\.rule: Invalid value: \{"Rule":"self\.b == 1",.*undefined field 'b'\n \| self\.b == 1\n \| \.\.\.\.\^$/,
    )
  })

  it('refuses loops over unbounded lists of unbounded texts, and takes them with limits', () => {
    const rule = { rule: 'self.l.all(x, self.l.exists(y, x == y))' }
    const list = (limit?: number): Schema => ({
      type: 'array',
      items: { type: 'string', ...(limit && { maxLength: limit }) },
      ...(limit && { maxItems: limit }),
    })
    expect(messages(kind({ l: list() }, rule)).some((text) => text.includes('exceeds budget by factor of more than 100x'))).to.equal(true)
    expect(kind({ l: list(50) }, rule).errors).to.deep.equal([])
  })

  it('says which rules make a definition too expensive as a whole', () => {
    const spec = (name: string): [string, Schema] => [
      name,
      {
        type: 'array',
        maxItems: 1000,
        items: { type: 'string', maxLength: 100 },
        'x-kubernetes-validations': [{ rule: 'self.all(x, self.exists(y, y == x))' }],
      },
    ]
    const schema: Schema = { type: 'object', properties: Object.fromEntries(Array.from({ length: 12 }, (_, i) => spec(`l${i}`))) }
    const { errors } = compileSchemaRules(schema, { path: PATH })
    expect(errors.filter(({ message }) => message.includes('contributed to')).length).to.equal(4)
    expect(errors.at(-1)?.field).to.equal(PATH)
  })

  it('does not ask again what a rule costs where the definition had it before', () => {
    const l: Schema = { type: 'array', items: { type: 'string' } }
    const schema: Schema = {
      type: 'object',
      properties: { l },
      'x-kubernetes-validations': [{ rule: 'self.l.all(x, self.l.all(y, x == y))' }],
    }
    const fields = compileSchemaRules(schema, { path: PATH, suppressRuleCost: true }).errors.map(({ message }) => message)
    expect(fields.some((message) => message.includes('estimated rule cost exceeds'))).to.equal(false)
  })

  it('runs transition rules only where there was something before', () => {
    const rules = kind({ a }, { rule: 'self.a == oldSelf.a', message: 'a is immutable' })
    expect(rules.validate({ spec: { a: 1 } }).errors).to.deep.equal([])
    expect(messages(rules.validate({ spec: { a: 2 } }, { spec: { a: 1 } }))).to.deep.equal(['spec: Invalid value: a is immutable'])
  })

  it('only warns of a broken rule where nothing changed', () => {
    const rules = kind({ a, b: a }, { rule: 'self.a < 5' })
    const found = rules.validate({ spec: { a: 7 } }, { spec: { a: 7 } })
    expect(found).to.deep.equal({ errors: [], warnings: ['spec: Invalid value: failed rule: self.a < 5'] })
    expect(rules.validate({ spec: { a: 7, b: 1 } }, { spec: { a: 7 } }).errors).to.have.length(1)
  })

  it('gives reason, field and a computed message', () => {
    const rules = kind(
      { a },
      { rule: 'self.a < 5', reason: 'FieldValueForbidden', fieldPath: '.a', messageExpression: '"not " + string(self.a)' },
    )
    expect(rules.validate({ spec: { a: 7 } }).errors).to.deep.equal([{ type: 'Forbidden', field: 'spec.a', message: 'Forbidden: not 7' }])
  })

  it('names no field for a rule on the whole object', () => {
    const rules = compileSchemaRules(
      { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.metadata.name == "x"' }] },
      { path: PATH },
    )
    expect(rules.validate({ metadata: { name: 'y' } }).errors[0]?.field).to.equal('<nil>')
  })

  it('treats names of objects’ members as data, whatever they are', () => {
    const rules = kind(
      { m: { type: 'object', additionalProperties: a } },
      { rule: 'self.m.all(k, self.m[k] > 0) && !("toString" in self.m)' },
    )
    const object = JSON.parse('{"spec":{"m":{"__proto__":1,"constructor":2}}}') as object
    expect(rules.validate(object).errors).to.deep.equal([])
  })

  it('compares integers that no JavaScript number holds', () => {
    const rules = kind({ a }, { rule: 'self.a == 9007199254740993' })
    expect(rules.validate({ spec: { a: 9007199254740993n } }).errors).to.deep.equal([])
    expect(rules.validate({ spec: { a: 9007199254740992n } }).errors).to.have.length(1)
  })

  it('stops a rule that costs too much, and all after it', () => {
    const l: Schema = { type: 'array', items: a }
    const rules = kind({ l, a }, { rule: 'self.l.all(x, self.l.all(y, x == y || true))' }, { rule: 'self.a > 1' })
    const found = rules.validate({ spec: { a: 0, l: Array.from({ length: 1000 }, (_, i) => i) } })
    expect(messages(found)).to.have.length(1)
    expect(messages(found)[0]).to.include('no further validation rules will be run due to call cost exceeds limit')
  })
})
