import { expect } from 'chai'
import { primaryReason, type Reason, sameContent } from '../../../lib/engine/wake.ts'
import type { KubeObject, ObjectMeta } from '../../../lib/resource/kind.ts'

type Thing = KubeObject & { spec?: unknown; status?: unknown; data?: unknown }

function thing(metadata: Partial<ObjectMeta> = {}, rest: object = {}): Thing {
  return { metadata: { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, ...metadata }, ...rest }
}

describe('what wakes a run of a primary object', () => {
  const before = thing({ labels: { a: '1' } }, { spec: 1, status: 1 })
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }
  const table: [what: string, change: Partial<ObjectMeta>, reason: Reason | undefined][] = [
    ['only its resourceVersion', {}, undefined],
    ['a new generation', { generation: 2 }, 'generation'],
    ['its deletion, which counts the generation too', { generation: 2, deletionTimestamp }, 'deletion'],
    ['a changed label', { labels: { a: '2' } }, 'touched'],
    ['an added annotation', { annotations: { a: '1' } }, 'touched'],
    ['a finalizer', { finalizers: ['f'] }, 'metadata'],
    ['an owner reference', { ownerReferences: [owner] }, 'metadata'],
    ['a new generation together with a label', { generation: 2, labels: {} }, 'generation'],
  ]
  for (const [what, change, reason] of table) {
    it(`${what}: ${reason ?? 'nothing'}`, () => {
      expect(primaryReason(before, { ...before, metadata: { ...before.metadata, resourceVersion: '2', ...change } })).to.equal(reason)
    })
  }

  it('its own status: nothing', () => {
    expect(primaryReason(before, { ...before, metadata: { ...before.metadata, resourceVersion: '2' }, status: 2 } as Thing)).to.equal(
      undefined,
    )
  })

  it('a kind without generations: its content', () => {
    const { generation: _, ...metadata } = before.metadata
    const old = { metadata, data: 1 } as Thing
    expect(primaryReason(old, { metadata: { ...metadata, resourceVersion: '2' }, data: 2 } as Thing)).to.equal('generation')
    expect(primaryReason(old, { metadata: { ...metadata, resourceVersion: '2' }, data: 1 } as Thing)).to.equal(undefined)
  })

  it('a deletion that was seen before is not told again', () => {
    const deleting = thing({ deletionTimestamp, finalizers: ['a', 'b'] })
    expect(primaryReason(deleting, thing({ deletionTimestamp, finalizers: ['a'] }))).to.equal('metadata')
  })
})

describe('what is no change of a related object', () => {
  it('resourceVersion and generation by themselves', () => {
    expect(sameContent(thing({}, { spec: { a: [1] } }), thing({ resourceVersion: '2', generation: 2 }, { spec: { a: [1] } }))).to.equal(
      true,
    )
  })

  for (const [what, changed] of [
    ['a status', thing({}, { status: 1 })],
    ['a label', thing({ labels: { a: 'b' } })],
    ['another uid', thing({ uid: 'v' })],
    ['a deletion', thing({ deletionTimestamp: '2026-01-01T00:00:00Z' })],
  ] as const) {
    it(`${what} is one`, () => expect(sameContent(thing(), changed)).to.equal(false))
  }
})
