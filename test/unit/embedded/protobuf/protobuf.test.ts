import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { builtinShape } from '../../../../lib/embedded/builtin/shapes/shape.ts'
import { decodeProtobuf, withJsonBody } from '../../../../lib/embedded/protobuf.ts'
import { ApiError } from '../../../../lib/embedded/status.ts'
import type { ApiObject, ApiRequest } from '../../../../lib/embedded/types.ts'

interface Pair {
  /** Base64. */
  readonly protobuf: string
  readonly json: ApiObject
}

/** The same objects in both forms, as a real server answered them. */
const PAIRS = readFileSync(new URL('./bodies.recorded.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Pair)

describe('bodies in protobuf', () => {
  for (const { protobuf, json } of PAIRS) {
    it(`are read as the ${json.kind} ${json.metadata.name} that JSON would have been`, () => {
      const object = JSON.parse(JSON.stringify(decodeProtobuf(Buffer.from(protobuf, 'base64')))) as ApiObject
      const [version = '', group = ''] = json.apiVersion.split('/').reverse()
      expect(builtinShape(group, version, json.kind)?.decode(object)).to.deep.equal([])
      expect(object).to.deep.equal(json)
    })
  }

  it('are cut off anywhere without harm', () => {
    const whole = Buffer.from(PAIRS[0]?.protobuf ?? '', 'base64')
    for (let length = 1; length < whole.length; length += 7) {
      try {
        decodeProtobuf(whole.subarray(0, length))
      } catch (error) {
        expect(error).to.be.instanceOf(ApiError).and.to.include({ code: 400 })
      }
    }
  })

  it('are refused where they are none', () => {
    expect(() => decodeProtobuf(Buffer.from('{}'))).to.throw('provided data does not appear to be a protobuf message')
    expect(() => decodeProtobuf(Buffer.from('k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', 'latin1'))).to.throw(
      'integer overflow',
    )
  })

  it('that nest without end are refused', () => {
    // JSONSchemaProps.not within itself, deeper than any stack.
    let schema: Buffer = Buffer.alloc(0)
    for (let i = 0; i < 5000; i++) schema = field(28, schema)
    const version = field(4, field(1, schema))
    const definition = field(2, field(7, version))
    const type = Buffer.concat([field(1, Buffer.from('apiextensions.k8s.io/v1')), field(2, Buffer.from('CustomResourceDefinition'))])
    const body = Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, definition)])
    expect(() => decodeProtobuf(body)).to.throw('exceeded maximum recursion depth')
  })

  it('may be the options of a deletion, of whatever group', () => {
    const type = Buffer.concat([field(1, Buffer.from('apps/v1')), field(2, Buffer.from('DeleteOptions'))])
    const options = Buffer.concat([Buffer.from([8, 0]), field(4, Buffer.from('Foreground'))])
    const body = Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, options)])
    expect(decodeProtobuf(body)).to.deep.equal({
      kind: 'DeleteOptions',
      apiVersion: 'apps/v1',
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
    })
  })

  it('take the place of no other body', () => {
    const request: ApiRequest = {
      method: 'POST',
      url: '/',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{}'),
      signal: new AbortController().signal,
    }
    expect(withJsonBody(request)).to.equal(request)
  })
})

/** A length-delimited field. */
function field(number: number, data: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(data.length), data])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}
