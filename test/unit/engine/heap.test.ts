import { expect } from 'chai'
import fc from 'fast-check'
import { Heap } from '../../../lib/engine/heap.ts'

describe('the heap', () => {
  it('gives back what is in it in order, whatever was pushed and removed in between', () => {
    const operation = fc.oneof(
      { weight: 4, arbitrary: fc.record({ type: fc.constant('push' as const), value: fc.integer({ min: 0, max: 500 }) }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('pop' as const), value: fc.constant(0) }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('remove' as const), value: fc.nat(60) }) },
    )
    fc.assert(
      fc.property(fc.array(operation, { minLength: 20, maxLength: 120, size: 'max' }), (operations) => {
        const heap = new Heap<{ value: number }>((a, b) => a.value - b.value)
        let model: { value: number }[] = []
        for (const { type, value } of operations) {
          if (type === 'push') {
            const item = { value }
            heap.push(item)
            model.push(item)
          } else if (type === 'pop') {
            const popped = heap.pop()
            expect(popped?.value).to.equal(model.length === 0 ? undefined : Math.min(...model.map((item) => item.value)))
            model = model.filter((item) => item !== popped)
          } else if (model.length > 0) {
            const victim = model[value % model.length] as { value: number }
            heap.remove(victim)
            model = model.filter((item) => item !== victim)
          }
          expect(heap.size).to.equal(model.length)
        }
        const rest: number[] = []
        for (let item = heap.pop(); item !== undefined; item = heap.pop()) rest.push(item.value)
        expect(rest).to.deep.equal(model.map((item) => item.value).sort((a, b) => a - b))
      }),
    )
  })

  it('ignores the removal of what it does not have', () => {
    const heap = new Heap<{ n: number }>((a, b) => a.n - b.n)
    heap.push({ n: 1 })
    heap.remove({ n: 1 })
    expect(heap.size).to.equal(1)
  })
})
