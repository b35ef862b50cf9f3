import { expect } from 'chai'
import { Room } from '../../../lib/admission/room.ts'
import { settle } from '../manual-clock.ts'

describe('room', () => {
  it('is taken as far as there is some, and again when it is given back', () => {
    const room = new Room(10)
    expect([room.tryTake(6), room.tryTake(6), room.tryTake(4)]).to.deep.equal([true, false, true])
    room.give(6)
    expect(room.tryTake(6)).to.equal(true)
  })

  it('is waited for, and given back by what fails', async () => {
    const room = new Room(10)
    const begun: number[] = []
    const ends: (() => void)[] = []
    const runs = [6, 6, 4].map((amount) =>
      room.during(amount, () => {
        begun.push(amount)
        return new Promise<void>((_, reject) => ends.push(() => reject(new Error(`${amount}`))))
      }),
    )
    const failed = Promise.allSettled(runs)
    await settle()
    expect(begun).to.deep.equal([6, 4])
    ends[0]?.()
    await settle()
    expect(begun).to.deep.equal([6, 4, 6])
    for (const end of ends) end()
    await failed
    expect(room.tryTake(10)).to.equal(true)
  })
})
