import { expect } from 'chai'
import { createStore } from '../../../../lib/embedded/store/store.ts'
import type { ApiObject, StoreEvent } from '../../../../lib/embedded/types.ts'

const thing = (name: string, more: object = {}, metadata: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, ...metadata },
  ...more,
})

describe('a store', () => {
  it('counts revisions over all kinds from 1, and gives each write the next', () => {
    const store = createStore()
    expect(store.revision).to.equal(1)
    expect(store.bucket('/a').put('', 'x', thing('x'), 0)).to.include({ revision: 2 })
    expect(store.bucket('/b').put('', 'x', thing('x'), 0)).to.include({ revision: 3 })
    expect(store.bucket('/a').get('', 'x')?.object.metadata.resourceVersion).to.equal('2')
    expect(store.revision).to.equal(3)
  })

  it('writes nothing where something else is stored than was expected', () => {
    const bucket = createStore().bucket('/a')
    expect(bucket.put('', 'x', thing('x'), 5)).to.equal(undefined)
    bucket.put('', 'x', thing('x'), 0)
    expect(bucket.put('', 'x', thing('x', { a: 1 }), 0)).to.equal(undefined)
    expect(bucket.delete('', 'x', 1)).to.equal(undefined)
    expect(bucket.delete('', 'y', 0)).to.equal(undefined)
    expect(bucket.get('', 'x')?.revision).to.equal(2)
  })

  it('takes a write that changes nothing for none, but for what would be another kind of nothing', () => {
    const managed = (time: string, manager = 'm') => ({ managedFields: [{ manager, time, fieldsV1: { 'f:a': {} } }] })
    const bucket = createStore().bucket('/a')
    const first = bucket.put('', 'x', thing('x', { a: { b: [1, 2], c: null } }, managed('1')), 0)!
    const put = (object: ApiObject) => bucket.put('', 'x', object, bucket.get('', 'x')!.revision)!.revision
    expect(put(thing('x', { a: { c: null, b: [1, 2] } }, managed('2'))), 'order of members, times').to.equal(first.revision)
    expect(put(thing('x', { a: { b: [1, 2], c: null, d: undefined } }, managed('1')))).to.equal(first.revision)
    expect(put(thing('x', { a: { b: [2, 1], c: null } }, managed('1'))), 'order of items').to.equal(3)
    expect(put(thing('x', { a: { b: [2, 1] } }, managed('1'))), 'null is not absent').to.equal(4)
    expect(put(thing('x', { a: { b: [2, 1] } }, managed('1', 'other'))), 'manager').to.equal(5)
    expect(put(thing('x', { a: { b: [2, 1] } })), 'no managers').to.equal(6)
    expect(put(thing('x', { a: { b: [2, 1] } }, { labels: { x: 'y' } })), 'labels').to.equal(7)
    expect(
      put(JSON.parse('{"apiVersion":"v1","kind":"Thing","metadata":{"name":"x","labels":{"x":"y"}},"a":{"b":[2,1],"__proto__":1}}')),
    ).to.equal(8)
  })

  it('shows a deletion as the last state, or the one given, under the revision of the deletion', () => {
    const bucket = createStore().bucket('/a')
    const events: StoreEvent[] = []
    bucket.watch(1, (event) => events.push(event))
    bucket.put('', 'x', thing('x', { a: 1 }), 0)
    bucket.delete('', 'x', 2)
    bucket.put('', 'x', thing('x', { a: 2 }), 0)
    bucket.delete('', 'x', 4, thing('x', { a: 3 }))
    expect(
      events.map(({ type, object, old }) => [type, object['a'], object.metadata.resourceVersion, old?.metadata.resourceVersion]),
    ).to.deep.equal([
      ['ADDED', 1, '2', undefined],
      ['DELETED', 1, '3', '2'],
      ['ADDED', 2, '4', undefined],
      ['DELETED', 3, '5', '4'],
    ])
  })

  it('tells all listeners all events in order, though one of them writes while it listens', () => {
    const bucket = createStore().bucket('/a')
    const first: number[] = []
    const second: number[] = []
    const third: number[] = []
    bucket.watch(1, ({ revision }) => {
      first.push(revision)
      if (revision < 5) bucket.put('', `x${revision}`, thing('x'), 0)
      if (revision === 3) bucket.watch(2, (event) => third.push(event.revision))
    })
    bucket.watch(1, ({ revision }) => second.push(revision))
    bucket.put('', 'x', thing('x'), 0)
    expect(first).to.deep.equal([2, 3, 4, 5])
    expect(second).to.deep.equal([2, 3, 4, 5])
    expect(third).to.deep.equal([3, 4, 5])
  })

  it('tells a listener nothing more once it has stopped, and others in spite of one that throws', () => {
    const faults: unknown[] = []
    const bucket = createStore({ report: (error) => faults.push(error) }).bucket('/a')
    const seen: number[] = []
    const stop = bucket.watch(1, ({ revision }) => {
      seen.push(revision)
      if (revision === 3) stop()
    })
    bucket.watch(1, () => {
      throw new Error('deaf')
    })
    for (const name of ['a', 'b', 'c']) bucket.put('', name, thing(name), 0)
    stop()
    expect(seen).to.deep.equal([2, 3])
    expect(faults).to.have.length(3)
    expect(bucket.size).to.equal(3)
  })

  it('tells a listener that another one stopped no more of the same event', () => {
    const bucket = createStore().bucket('/a')
    const seen: number[] = []
    let stop = () => {}
    bucket.watch(1, () => stop())
    stop = bucket.watch(1, ({ revision }) => seen.push(revision))
    bucket.put('', 'a', thing('a'), 0)
    expect(seen).to.deep.equal([])
  })

  it('answers 410 for what it has forgotten: by its window, or by a compaction', () => {
    const store = createStore({ historySize: 3 })
    const bucket = store.bucket('/a')
    for (const name of ['a', 'b', 'c', 'd', 'e']) bucket.put('', name, thing(name), 0)
    const past = (at: number) => bucket.list({ at }).map(({ name }) => name)
    expect(past(3)).to.deep.equal(['a', 'b'])
    expect(() => past(2))
      .to.throw('The resourceVersion for the provided list is too old.')
      .with.property('code', 410)
    expect(() => bucket.watch(2, () => {}))
      .to.throw('too old resource version: 2 (3)')
      .with.property('reason', 'Expired')
    store.compact()
    expect(past(6)).to.have.length(5)
    expect(() => past(5))
      .to.throw()
      .with.property('code', 410)
    expect(() => store.bucket('/new').watch(5, () => {}), 'of a kind that comes later').to.throw('too old resource version: 5 (6)')
  })

  it('remembers less of large objects', () => {
    const store = createStore()
    const bucket = store.bucket('/a')
    const small = store.bucket('/b')
    small.put('', 'x', thing('x'), 0)
    const text = 'x'.repeat(1024 * 1024)
    for (let i = 0; i < 100; i++) bucket.put('', 'x', thing('x', { i, text }), bucket.get('', 'x')?.revision ?? 0)
    const revisions: number[] = []
    expect(() => bucket.watch(2, () => {})).to.throw('too old resource version')
    bucket.watch(80, ({ revision, object }) => revisions.push(revision - object['i']))
    expect(new Set(revisions)).to.deep.equal(new Set([3]))
    expect(revisions).to.have.length(22)
    expect(() => small.watch(1, () => {})).to.not.throw()
    for (let i = 0; i < 1000; i++) bucket.put('', 'x', thing('x', { i }), bucket.get('', 'x')!.revision)
    expect(() => bucket.watch(store.revision - 900, () => {}), 'small ones again').to.not.throw()
  })

  it('holds nothing of what it has forgotten', () => {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
    const collect: () => void = process.getBuiltinModule('node:vm').runInNewContext('gc')
    const bucket = createStore().bucket('/a')
    // Texts of their own: parts of one text would all keep the whole.
    const put = (i: number) =>
      bucket.put('', 'x', thing('x', { text: Buffer.alloc(300_000, i).toString('latin1') }), bucket.get('', 'x')?.revision ?? 0)
    collect()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 300; i++) put(i)
    collect()
    // 32 MiB of text, 10 MB of events whose states are still objects, and room; it was 90 MB.
    expect(process.memoryUsage().heapUsed - before).to.be.below(65 * 1024 * 1024)
    expect(bucket.size).to.equal(1)
  })

  for (const historySize of [3, 300, 2000]) {
    it(`remembers the last ${historySize} events after thousands, and less once they are large`, () => {
      const bucket = createStore({ historySize }).bucket('/a')
      const put = (more: object) => bucket.put('', 'x', thing('x', more), bucket.get('', 'x')?.revision ?? 0)!.revision
      let last = 0
      for (let i = 0; i < 5_000; i++) last = put({ i })
      const seen: number[] = []
      bucket.watch(last - historySize, ({ object }) => seen.push(object['i']))
      expect(seen).to.deep.equal(Array.from({ length: historySize }, (_, i) => 5_000 - historySize + i))
      expect(() => bucket.watch(last - historySize - 1, () => {})).to.throw('too old resource version')
      const text = 'x'.repeat(1024 * 1024)
      for (let i = 0; i < 100; i++) last = put({ i, text })
      expect(() => bucket.watch(last - 90, () => {})).to.throw('too old resource version')
    })
  }

  it('goes on from what was saved, with its revisions and without its history', () => {
    const objects = [{ bucket: '/a', namespace: 'n', name: 'x', object: thing('x', {}, { resourceVersion: '7' }) }]
    const store = createStore({ restore: { revision: 9, objects } })
    expect(store.revision).to.equal(9)
    expect(
      store
        .bucket('/a')
        .list()
        .map(({ revision, name }) => [revision, name]),
    ).to.deep.equal([[7, 'x']])
    expect(() => store.bucket('/a').watch(8, () => {})).to.throw('too old resource version: 8 (9)')
    expect(store.bucket('/a').put('n', 'x', thing('x', { a: 1 }), 7)?.revision).to.equal(10)
  })
})
