import { expect } from 'chai'
import type { FieldError } from '../../../../lib/embedded/field-error.ts'
import { rulesSkipped, validateCustomResource } from '../../../../lib/embedded/schema/custom-resource.ts'
import type { Schema } from '../../../../lib/embedded/types.ts'

const text: Schema = { type: 'string' }
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k', 'p'],
          items: { type: 'object', properties: { k: text, p: { type: 'integer' }, v: text } },
        },
        embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: text } },
  },
}

const shown = (errors: readonly FieldError[]) => errors.map(({ field, message }) => `${field}: ${message}`)
const says = (value: object, old?: object, subresource = '') => shown(validateCustomResource(value, old, schema, subresource))

describe('a custom object', () => {
  it('has nothing twice in a set, and is told once of it', () => {
    expect(says({ spec: { set: ['a', 'b', 'a', 'a'] } })).to.deep.equal(['spec.set[2]: Duplicate value: "a"'])
  })

  it('has no keys twice in a map, where a missing key is one, too', () => {
    const map = [{ k: 'a', p: 1, v: 'x' }, { k: 'a' }, { k: 'a', p: 1 }, { k: 'a' }]
    expect(says({ spec: { map } })).to.deep.equal([
      'spec.map[2]: Duplicate value: {"k":"a","p":1}',
      'spec.map[3]: Duplicate value: {"k":"a"}',
    ])
  })

  it('may have more duplicates when it had some before', () => {
    const old = { spec: { set: ['a', 'a'] } }
    expect(says({ spec: { set: ['a', 'a', 'b', 'b'] } }, old)).to.deep.equal([])
    expect(says({ spec: { set: ['a', 'a'] } }, { spec: { set: ['a'] } })).to.have.length(1)
  })

  it('says what an object in it is, and names it well', () => {
    expect(
      says({ spec: { embedded: { kind: 'a b', metadata: { name: 'x/y', labels: { '#': '' } } } } }).map((each) => each.slice(0, 60)),
    ).to.deep.equal([
      'spec.embedded.apiVersion: Required value',
      'spec.embedded.kind: Invalid value: "a b": may have mixed cas',
      `spec.embedded.metadata.name: Invalid value: "x/y": may not c`,
      'spec.embedded.metadata.labels: Invalid value: "#": name part',
    ])
  })

  it('is checked in its status only, where only that is written', () => {
    expect(says({ spec: 5, status: { phase: 1 } }, undefined, 'status')).to.deep.equal([
      'status.phase: Invalid value: "integer": phase in body must be of type string: "integer"',
    ])
  })

  it('is too wrong for its rules when types or required fields are', () => {
    expect(rulesSkipped([{ type: 'Invalid', field: 'a', message: '' }])).to.equal(undefined)
    expect(rulesSkipped([{ type: 'TypeInvalid', field: 'a', message: '' }])?.field).to.equal('<nil>')
  })
})
