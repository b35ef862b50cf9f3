import { expect } from 'chai'
import { OwnerIndex } from '../../../lib/cache/owner-index.ts'

describe('OwnerIndex', () => {
  it('knows one child or many, and forgets an owner with the last one', () => {
    const index = new OwnerIndex()
    for (const key of ['n/a', 'n/a', 'n/b', 'n/c']) index.add('o', key)
    index.add('p', 'n/d')
    expect(index.keys('o')).to.deep.equal(['n/a', 'n/b', 'n/c'])
    for (const key of ['n/a', 'n/b', 'n/c', 'n/x']) index.delete('o', key)
    index.delete('p', 'n/x')
    expect(index.keys('o')).to.deep.equal([])
    expect(index.keys('p')).to.deep.equal(['n/d'])
    index.delete('p', 'n/d')
    expect(index.size).to.equal(0)
  })
})
