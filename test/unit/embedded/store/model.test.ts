import { expect } from 'chai'
import fc from 'fast-check'
import { createStore } from '../../../../lib/embedded/store/store.ts'
import type { ApiObject, StoreEvent } from '../../../../lib/embedded/types.ts'

const object = (namespace: string, name: string, data: number): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, namespace },
  data,
})

/** What a list shows: key, revision, content. */
type Row = readonly [string, number, number]

const name = fc.constantFrom('a', 'b', 'a-b', 'a.b', 'c', 'ab', '10', '9', 'é', '\u{1f600}', '\uffee')
const namespace = fc.constantFrom('', 'n', 'n-1', 'n.1', 'n1', 'm')
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('put' as const), namespace, name, data: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), namespace, name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('watch' as const), from: fc.nat(40) }) },
)

const byBytes = (a: Row, b: Row) => Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0]))
const keyOf = (namespace: string, name: string) => (namespace === '' ? name : `${namespace}/${name}`)

describe('a bucket against a model that keeps every state', () => {
  it('lists the present and every past revision alike, and tells each watcher each event once, in order', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const store = createStore()
        const bucket = store.bucket('/things')
        const now = new Map<string, Row>()
        const states = new Map<number, Row[]>([[1, []]])
        const events: string[] = []
        const watchers: { from: number; seen: string[] }[] = []
        for (const step of operations) {
          if (step.do === 'watch') {
            const seen: string[] = []
            bucket.watch(step.from, (event) => seen.push(line(event)))
            watchers.push({ from: step.from, seen })
            continue
          }
          const key = keyOf(step.namespace, step.name)
          const old = now.get(key)
          if (step.do === 'put') {
            const stored = bucket.put(step.namespace, step.name, object(step.namespace, step.name, step.data), old?.[1] ?? 0)
            if (old?.[2] === step.data) expect(stored?.revision).to.equal(old[1])
            else {
              expect(stored?.revision).to.equal(store.revision)
              now.set(key, [key, store.revision, step.data])
              events.push(`${store.revision} ${old === undefined ? 'ADDED' : 'MODIFIED'} ${key} ${step.data}`)
            }
          } else if (old === undefined) expect(bucket.delete(step.namespace, step.name, 0)).to.equal(undefined)
          else {
            bucket.delete(step.namespace, step.name, old[1])
            now.delete(key)
            events.push(`${store.revision} DELETED ${key} ${old[2]}`)
          }
          states.set(store.revision, [...now.values()].sort(byBytes))
        }
        for (const [revision, rows] of states) {
          expect(list({ at: revision })).to.deep.equal(rows)
          const inside = rows.filter(([key]) => key.startsWith('n/'))
          expect(list({ at: revision, namespace: 'n' })).to.deep.equal(inside)
          expect(list({ at: revision, from: 'a-b' })).to.deep.equal(
            rows.filter(([key]) => Buffer.compare(Buffer.from(key), Buffer.from('a-b')) >= 0),
          )
        }
        expect(list({})).to.deep.equal([...now.values()].sort(byBytes))
        expect(bucket.size).to.equal(now.size)
        for (const { from, seen } of watchers) expect(seen).to.deep.equal(events.filter((text) => Number.parseInt(text, 10) > from))

        function list(options: { at?: number; namespace?: string; from?: string }): Row[] {
          return bucket.list(options).map((stored) => {
            expect(stored.object.metadata.resourceVersion).to.equal(String(stored.revision))
            return [keyOf(stored.namespace, stored.name), stored.revision, stored.object['data']]
          })
        }
      }),
      { numRuns: 150 },
    )
  })

  it('remembers each of many states as it was, those long past too', () => {
    const bucket = createStore().bucket('/things')
    const states = Array.from({ length: 1000 }, (_, i) => ({ ...object('n', 'a', i), big: 2n ** 60n + BigInt(i) }))
    for (const [i, state] of states.entries()) bucket.put('n', 'a', { ...state, metadata: { ...state.metadata } }, i === 0 ? 0 : i + 1)
    bucket.delete('n', 'a', 1001)
    const seen: unknown[] = []
    bucket.watch(1, ({ object }) => seen.push([object['data'], object['big'], object.metadata.resourceVersion]))
    const expected = states.map((state, i) => [i, state.big, String(i + 2)])
    expect(seen).to.deep.equal([...expected, [999, states[999]!.big, '1002']])
    for (const at of [2, 500, 999, 1001]) {
      expect(bucket.list({ at }).map((stored) => [stored.object['data'], stored.revision])).to.deep.equal([[at - 2, at]])
    }
  })

  it('keeps thousands of keys in order, whatever the order they come and go in', () => {
    const bucket = createStore().bucket('/things')
    const names = Array.from({ length: 4000 }, (_, i) => `n${(i * 2654435761) % 100_003}`)
    for (const name of names) bucket.put('', name, object('', name, 0), bucket.get('', name)?.revision ?? 0)
    for (const name of names.filter((_, i) => i % 3 === 0)) bucket.delete('', name, bucket.get('', name)!.revision)
    const left = [...new Set(names.filter((_, i) => i % 3 !== 0))].sort()
    expect(bucket.list().map((stored) => stored.name)).to.deep.equal(left)
  })
})

function line(event: StoreEvent): string {
  expect(event.object.metadata.resourceVersion).to.equal(String(event.revision))
  return `${event.revision} ${event.type} ${keyOf(event.namespace, event.name)} ${event.object['data']}`
}
