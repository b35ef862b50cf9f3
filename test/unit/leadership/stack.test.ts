import { expect } from 'chai'
import { describeStack } from '../../../lib/leadership/stack.ts'

const frame = (name: string, url: string, line = 0) => ({ name, url, line, column: 0 })
const library = 'file:///app/node_modules/tsop/dist/'
const describe_ = (...frames: ReturnType<typeof frame>[]) => describeStack(frames, library)

describe('where a thread stood', () => {
  for (const [what, frames, text] of [
    ['in a handler', [frame('Shop.reconcile', 'file:///app/shop.js', 9)], 'Shop.reconcile (shop.js:10)'],
    [
      'in something that a handler called',
      [
        frame('sort', 'node:internal/sort', 1),
        frame('price', 'file:///app/price.js', 4),
        frame('Shop.reconcile', 'file:///app/shop.js?namespace=1', 9),
      ],
      'price (price.js:5) in Shop.reconcile (shop.js:10)',
    ],
    [
      'in a library that a handler called',
      [frame('hash', 'file:///app/node_modules/bcrypt/index.js', 4), frame('', 'file:///app/shop.js', 9)],
      'a function (shop.js:10)',
    ],
    ['in tsop alone', [frame('Store.put', `${library}cache/store.js`, 4)], 'Store.put (store.js:5)'],
    ['in Node.js alone', [frame('now', 'node:internal/perf', 4)], undefined],
    ['nowhere', [], undefined],
  ] as const) {
    it(`${what}: ${text}`, () => {
      expect(describe_(...frames)).to.equal(text)
    })
  }
})
