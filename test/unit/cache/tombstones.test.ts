import { expect } from 'chai'
import { Tombstones } from '../../../lib/cache/tombstones.ts'

describe('Tombstones', () => {
  const list = (resourceVersion: string, ...uids: string[]) => ({
    covers: (key: string) => key.startsWith('n/'),
    has: (uid: string) => uids.includes(uid),
    resourceVersion,
  })
  let tombstones: Tombstones
  beforeEach(() => {
    tombstones = new Tombstones()
  })

  it('go with the DELETED event', () => {
    tombstones.add('u', 'n/a', '5')
    tombstones.delete('u')
    expect(tombstones.has('u')).to.equal(false)
    expect(tombstones.size).to.equal(0)
  })

  const lists: [string, ReturnType<typeof list>, boolean][] = [
    ['a list of then or later that lacks the object ends', list('5'), false],
    ['a list that still has the object does not end', list('9', 'u'), true],
    ['a list older than the object does not end', list('4'), true],
    ['a list of elsewhere does not end', { ...list('9'), covers: () => false }, true],
  ]
  for (const [what, made, stays] of lists) {
    it(`${what} them`, () => {
      tombstones.add('u', 'n/a', '5')
      tombstones.listed(made)
      expect(tombstones.has('u')).to.equal(stays)
    })
  }

  it('of objects the store did not know end with two bookmarks, the others do not', () => {
    tombstones.add('known', 'n/a', '5')
    tombstones.add('unknown', 'n/b', undefined)
    tombstones.bookmark()
    expect(tombstones.has('unknown')).to.equal(true)
    tombstones.bookmark()
    expect([tombstones.has('known'), tombstones.has('unknown')]).to.deep.equal([true, false])
  })
})
