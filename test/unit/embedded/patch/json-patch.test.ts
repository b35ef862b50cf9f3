import { expect } from 'chai'
import fc from 'fast-check'
import { decodeJson, encodeJson, equalJson, type Json } from '../../../../lib/embedded/json.ts'
import { applyJsonPatch } from '../../../../lib/embedded/patch/json-patch.ts'
import { ApiError } from '../../../../lib/embedded/status.ts'
import { recordedCases } from '../recorded.ts'

const REJECTED = 'the server rejected our request due to an error in our request'

function refusal(document: Json, operations: unknown): ApiError {
  try {
    applyJsonPatch(document, operations)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was taken')
}

describe('JSON patch', () => {
  it('answers as evanphx/json-patch v4 does', () => {
    for (const { doc, patch, result } of recordedCases<{ doc: Json; patch: unknown; result?: Json }>(
      new URL('json-patch.recorded.jsonl', import.meta.url),
    )) {
      const shown = JSON.stringify({ doc, patch })
      if (result === undefined) expect(refusal(doc, patch).code, shown).to.equal(422)
      else expect(equalJson(applyJsonPatch(doc, patch), result), shown).to.equal(true)
    }
  })

  const taken: [what: string, document: Json, operations: unknown, result: Json][] = [
    ['creates a missing member by replace', { a: 1 }, [{ op: 'replace', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['takes a missing member for null in a test', {}, [{ op: 'test', path: '/a', value: null }], {}],
    ['takes a missing member for a test without a value', {}, [{ op: 'test', path: '/a' }], {}],
    ['counts negative indices from the end', { l: [1, 2, 3] }, [{ op: 'remove', path: '/l/-1' }], { l: [1, 2] }],
    ['appends at index -1', { l: [1] }, [{ op: 'add', path: '/l/-1', value: 2 }], { l: [1, 2] }],
    ['appends at -', { l: [1] }, [{ op: 'add', path: '/l/-', value: 2 }], { l: [1, 2] }],
    ['adds null where add has no value', {}, [{ op: 'add', path: '/a' }], { a: null }],
    ['copies a missing member as null', {}, [{ op: 'copy', from: '/a', path: '/b' }], { b: null }],
    ['needs no leading slash', { b: 1 }, [{ op: 'remove', path: 'a/b' }], {}],
    [
      'unescapes ~1 and ~0',
      { 'a/b': 1, '~1': 2 },
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'remove', path: '/~01' },
      ],
      {},
    ],
    ['reaches the member of the empty name', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
    ['replaces the whole', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['takes null for no operations', { a: 1 }, null, { a: 1 }],
    ['ignores members of an operation that it does not know', {}, [{ op: 'add', path: '/a', value: 1, why: 'x' }], { a: 1 }],
    [
      'moves into what a former operation made',
      { a: 1 },
      [
        { op: 'add', path: '/b', value: {} },
        { op: 'move', from: '/a', path: '/b/a' },
      ],
      { b: { a: 1 } },
    ],
  ]
  for (const [what, document, operations, result] of taken) {
    it(what, () => expect(applyJsonPatch(document, operations)).to.deep.equal(result))
  }

  const refused: [what: string, document: Json, operations: unknown][] = [
    ['a remove of a missing member', { a: 1 }, [{ op: 'remove', path: '/b' }]],
    ['an add below a missing member', {}, [{ op: 'add', path: '/a/b', value: 1 }]],
    ['an index past the end', { l: [1] }, [{ op: 'add', path: '/l/2', value: 1 }]],
    ['a replace past the end', { l: [1] }, [{ op: 'replace', path: '/l/1', value: 1 }]],
    ['a failed test', { a: 1 }, [{ op: 'test', path: '/a', value: 2 }]],
    ['a test of null for a member that is not', { a: 1 }, [{ op: 'test', path: '/a', value: null }]],
    ['an add of the root', {}, [{ op: 'add', path: '', value: {} }]],
    ['a scalar as the root', {}, [{ op: 'replace', path: '', value: 1 }]],
    ['an operation it does not know', {}, [{ op: 'increment', path: '/a' }]],
    ['an operation without a path', {}, [{ op: 'remove' }]],
    ['a null operation', {}, [null]],
    ['a way through a scalar', { a: 'x' }, [{ op: 'add', path: '/a/b', value: 1 }]],
  ]
  for (const [what, document, operations] of refused) {
    it(`refuses ${what} without saying why`, () => {
      const { code, reason, message, details } = refusal(document, operations)
      expect({ code, reason, message, details }).to.deep.equal({ code: 422, reason: 'Invalid', message: REJECTED, details: {} })
    })
  }

  it('tells what is no patch at all', () => {
    const texts = [{}, 'x', 1, true, [1], [{ op: 1 }], [{ op: 'add', path: {} }]].map((patch) => refusal({}, patch).message)
    expect(texts).to.deep.equal([
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
      'error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp',
      'error decoding patch: json: cannot unmarshal number into Go value of type []handlers.jsonPatchOp',
      'error decoding patch: json: cannot unmarshal bool into Go value of type []handlers.jsonPatchOp',
      'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp',
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
      'error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.path of type string',
    ])
  })

  it('takes 10,000 operations and no more', () => {
    const operations = (n: number) => Array.from({ length: n }, () => ({ op: 'test', path: '/a', value: 1 }))
    expect(applyJsonPatch({ a: 1 }, operations(10_000))).to.deep.equal({ a: 1 })
    const { code, reason, message } = refusal({ a: 1 }, operations(10_001))
    expect({ code, reason }).to.deep.equal({ code: 413, reason: 'RequestEntityTooLarge' })
    expect(message).to.equal('Request entity is too large: The allowed maximum operations in a JSON patch is 10000, got 10001')
  })

  it('stops copies that grow without bounds', () => {
    const document = { a: 'x'.repeat(1000), l: [] }
    const operations = [
      { op: 'copy', from: '/a', path: '/l/-' },
      ...Array.from({ length: 20 }, () => ({ op: 'copy', from: '/l', path: '/l/-' })),
    ]
    expect(refusal(document, operations).code).to.equal(422)
  })

  it('knows null that it wrote from null that was there', () => {
    const write = { op: 'add', path: '/a', value: null }
    expect(applyJsonPatch({}, [write, { op: 'test', path: '/a', value: null }])).to.deep.equal({ a: null })
    expect(refusal({}, [write, { op: 'test', path: '/a' }]).code).to.equal(422)
    expect(applyJsonPatch({ a: null }, [{ op: 'test', path: '/a' }])).to.deep.equal({ a: null })
  })

  it('keeps numbers that JavaScript cannot hold', () => {
    const document = decodeJson('{"a":9007199254740993}')
    expect(encodeJson(applyJsonPatch(document, [{ op: 'copy', from: '/a', path: '/b' }]))).to.equal(
      '{"a":9007199254740993,"b":9007199254740993}',
    )
  })

  it('takes __proto__ for a name like any other', () => {
    const operations = JSON.parse('[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"add","path":"/__proto__/y","value":2}]')
    expect(JSON.stringify(applyJsonPatch({}, operations))).to.equal('{"__proto__":{"x":1,"y":2}}')
    expect(refusal({}, [{ op: 'add', path: '/__proto__/polluted', value: 1 }]).code).to.equal(422)
    expect(refusal({}, [{ op: 'add', path: '/constructor/x', value: 1 }]).code).to.equal(422)
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
  })

  it('changes neither the document nor the patch, and shares nothing with them', () => {
    const operation = fc.record(
      { op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'), path: path(), from: path(), value: fc.jsonValue() },
      { requiredKeys: ['op', 'path'] },
    )
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue()),
        fc.array(operation, { maxLength: 4 }),
        (document, operations) => {
          const before = JSON.stringify([document, operations])
          try {
            scribble(applyJsonPatch(document as Json, operations))
          } catch (error) {
            if (!(error instanceof ApiError)) throw error
          }
          expect(JSON.stringify([document, operations])).to.equal(before)
        },
      ),
    )
  })
})

const path = () => fc.array(fc.constantFrom('a', 'b', '0', '-', '-1'), { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`)

function scribble(value: Json): void {
  if (typeof value !== 'object' || value === null) return
  for (const inner of Object.values(value)) scribble(inner as Json)
  if (Array.isArray(value)) value.push('scribbled')
  else value['scribbled'] = true
}
