import { expect } from 'chai'
import fc from 'fast-check'
import { list } from '../../../../lib/embedded/list.ts'
import { configMaps, Reader, World } from './world.ts'

type Step = { name: string; namespace: string; do: 'put' | 'delete' | 'turn' | 'read' | 'watch'; label: string; data: number }

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  namespace: fc.constantFrom('m', 'n'),
  do: fc.constantFrom('put', 'put', 'put', 'put', 'delete', 'delete', 'turn', 'read', 'watch'),
  label: fc.constantFrom('1', '2'),
  data: fc.nat(2),
})

const namespaces = [undefined, 'n'] as const
const selectors = ['', 'labelSelector=x%3D1'] as const

describe('a list and the watch that goes on from it', () => {
  it('see the same world, with no gap and no duplicate, whatever the selector and however slow the reader', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.constantFrom(...namespaces),
        fc.constantFrom(...selectors),
        fc.boolean(),
        async (steps, namespace, selector, slow) => {
          const world = new World()
          const clients: { state: Map<string, unknown>; reader: Reader }[] = []
          const listAndWatch = async () => {
            const { items, metadata } = await list(world.core, configMaps, namespace, new URLSearchParams(selector))
            const sink = new Reader()
            sink.slow = slow
            world.watch(`resourceVersion=${metadata.resourceVersion}&${selector}`, { sink, ...(namespace && { namespace }) })
            clients.push({ state: new Map(items.map((item) => [keyOf(item), item])), reader: sink })
          }
          await listAndWatch()
          for (const { do: what, name, namespace: where, label, data } of steps) {
            if (what === 'put') world.put(where, name, { data, labels: { x: label } })
            else if (what === 'delete') {
              if (world.core.store.bucket('/configmaps').get(where, name) !== undefined) world.delete(where, name)
            } else if (what === 'turn') await world.settled()
            else if (what === 'read') for (const { reader } of clients) reader.read(slow)
            else await listAndWatch()
          }
          await world.settled()
          for (const { reader } of clients) reader.read()
          await world.settled()
          const { items } = await list(world.core, configMaps, namespace, new URLSearchParams(selector))
          const expected = new Map(items.map((item) => [keyOf(item), item]))
          for (const { state, reader } of clients) {
            let last = 0
            for (const { type, object } of reader.events) {
              const key = keyOf(object)
              expect(Number(object.metadata.resourceVersion)).to.be.greaterThan(last)
              last = Number(object.metadata.resourceVersion)
              expect(state.has(key), `${type} ${key}`).to.equal(type !== 'ADDED')
              if (type === 'DELETED') state.delete(key)
              else state.set(key, object)
            }
            expect(Object.fromEntries(state)).to.deep.equal(Object.fromEntries(expected))
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('pages of any size are the list at the revision of the first page, whatever happens between them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.array(step, { maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        async (before, between, limit) => {
          const world = new World()
          const run = ({ do: what, name, namespace, data }: Step) => {
            if (what !== 'delete') world.put(namespace, name, { data })
            else if (world.core.store.bucket('/configmaps').get(namespace, name) !== undefined) world.delete(namespace, name)
          }
          before.forEach(run)
          const whole = await list(world.core, configMaps, undefined, new URLSearchParams())
          const items = []
          let token: string | undefined
          do {
            const page = await list(
              world.core,
              configMaps,
              undefined,
              new URLSearchParams({ limit: String(limit), ...(token && { continue: token }) }),
            )
            items.push(...page.items)
            expect(page.metadata.resourceVersion).to.equal(whole.metadata.resourceVersion)
            expect(page.metadata.remainingItemCount ?? 0).to.equal(whole.items.length - items.length)
            token = page.metadata.continue
            const next = between.shift()
            if (next !== undefined) run(next)
          } while (token !== undefined)
          expect(items).to.deep.equal(whole.items)
        },
      ),
      { numRuns: 100 },
    )
  })
})

function keyOf({ metadata }: { metadata: { name?: string; namespace?: string } }): string {
  return `${metadata.namespace}/${metadata.name}`
}
