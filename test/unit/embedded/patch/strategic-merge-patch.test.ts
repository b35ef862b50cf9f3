import { expect } from 'chai'
import { builtinTypes } from '../../../../lib/embedded/builtin/types.ts'
import { equalJson, type JsonObject } from '../../../../lib/embedded/json.ts'
import { applyStrategicMergePatch } from '../../../../lib/embedded/patch/strategic-merge-patch.ts'
import { ApiError } from '../../../../lib/embedded/status.ts'
import { recordedCases } from '../recorded.ts'

const types = builtinTypes(new Map())
const schemaOf = (kind: string) => (types.find((type) => type.kind === kind) as (typeof types)[number]).schema
const patch = (kind: string, target: JsonObject, change: JsonObject) => applyStrategicMergePatch(target, change, schemaOf(kind))

function refusal(kind: string, target: JsonObject, change: JsonObject): ApiError {
  try {
    patch(kind, target, change)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was taken')
}

const pod = (...containers: object[]) => ({ spec: { containers } }) as unknown as JsonObject

describe('strategic merge patch', () => {
  it('answers as the real one does for Deployments', () => {
    for (const { doc, patch: change, result, error } of recordedCases<{
      doc: JsonObject
      patch: JsonObject
      result?: JsonObject
      error?: string
    }>(new URL('strategic-merge-patch.recorded.jsonl', import.meta.url))) {
      const shown = JSON.stringify({ doc, change })
      const before = shown
      if (result === undefined) expect(refusal('Deployment', doc, change), shown).to.have.property('message', messageOf(error ?? ''))
      else expect(equalJson(patch('Deployment', doc, change), result), shown).to.equal(true)
      expect(JSON.stringify({ doc, change })).to.equal(before)
    }
  })

  it('merges containers by name and puts those of the patch first where the order is free', () => {
    const result = patch('Pod', pod({ name: 'a', image: '1' }, { name: 'b', image: '1' }), pod({ name: 'b', image: '2' }, { name: 'c' }))
    expect(result).to.deep.equal(pod({ name: 'a', image: '1' }, { name: 'b', image: '2' }, { name: 'c' }))
  })

  it('merges ports of a Service by port, and those of a container by containerPort', () => {
    const service = patch('Service', { spec: { ports: [{ port: 80 }, { port: 81 }] } }, { spec: { ports: [{ port: 81, targetPort: 9 }] } })
    expect(service).to.deep.equal({ spec: { ports: [{ port: 80 }, { port: 81, targetPort: 9 }] } })
    const container = patch(
      'Pod',
      pod({ name: 'a', ports: [{ containerPort: 1 }] }),
      pod({ name: 'a', ports: [{ containerPort: 1, name: 'x' }] }),
    )
    expect(container).to.deep.equal(pod({ name: 'a', ports: [{ containerPort: 1, name: 'x' }] }))
  })

  it('replaces lists that have no merge key', () => {
    expect(patch('Pod', pod({ name: 'a', args: ['1', '2'] }), pod({ name: 'a', args: ['3'] }))).to.deep.equal(
      pod({ name: 'a', args: ['3'] }),
    )
  })

  it('deletes an element, and orders the rest as the patch says', () => {
    const result = patch('Pod', pod({ name: 'a' }, { name: 'b' }, { name: 'c' }), {
      spec: { containers: [{ name: 'b', $patch: 'delete' }], '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }] },
    })
    expect(result).to.deep.equal(pod({ name: 'c' }, { name: 'a' }))
  })

  it('replaces a list or a map that the patch says so of', () => {
    expect(patch('Pod', pod({ name: 'a' }, { name: 'b' }), pod({ name: 'z' }, { $patch: 'replace' }))).to.deep.equal(pod({ name: 'z' }))
    const labels = patch('Pod', { metadata: { labels: { a: '1' } } }, { metadata: { labels: { $patch: 'replace', b: '2' } } })
    expect(labels).to.deep.equal({ metadata: { labels: { b: '2' } } })
  })

  it('keeps only the keys that $retainKeys names', () => {
    const target = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } }
    const change = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }
    expect(patch('Deployment', target, change)).to.deep.equal({ spec: { strategy: { type: 'Recreate' } } })
    const { code, message } = refusal('Deployment', target, { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: {} } } })
    expect({ code, message }).to.deep.equal({ code: 400, message: 'invalid patch format of retainKeys' })
  })

  it('merges finalizers as a set, and deletes from it', () => {
    const target = { metadata: { finalizers: ['a/1', 'a/2'] } }
    expect(patch('Pod', target, { metadata: { finalizers: ['a/3', 'a/1'] } })).to.deep.equal({
      metadata: { finalizers: ['a/3', 'a/1', 'a/2'] },
    })
    const deletion = { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/1'] } }
    expect(patch('Pod', target, deletion)).to.deep.equal({ metadata: { finalizers: ['a/2'] } })
  })

  it('deletes by null, and drops nulls from what is new', () => {
    const result = patch('Pod', { metadata: { labels: { a: '1' } } }, { metadata: { labels: null, annotations: { x: null, y: '1' } } })
    expect(result).to.deep.equal({ metadata: { annotations: { y: '1' } } })
  })

  it('tells what is wrong in the words of the real one', () => {
    const texts = [
      refusal('Pod', pod({ name: 'a' }), pod({ image: 'x' })),
      refusal('Pod', pod({ name: 'a' }), pod({ name: 'a', $patch: 'merge' })),
      refusal('Pod', pod({ name: 'a' }), { $patch: 'merge' }),
      refusal('Pod', { metadata: {} }, { metadata: { '$setElementOrder/finalizers': 1 } }),
      refusal('Pod', pod({ name: 'a' }), { spec: { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a' }] } }),
    ].map(({ code, message }) => `${code} ${message}`)
    expect(texts).to.deep.equal([
      '500 map: map[image:x] does not contain declared merge key: name',
      '500 merging lists cannot yet be specified in the patch',
      '500 unknown patch type: merge in map: map[$patch:merge]',
      '500 expected a []interface {}, but received a int64',
      "500 The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
    ])
  })
})

/** Some answers of the library reach clients as a text that says nothing. */
const messageOf = (error: string) =>
  error === 'lists of lists are not supported' ? 'the server rejected our request due to an error in our request' : error
