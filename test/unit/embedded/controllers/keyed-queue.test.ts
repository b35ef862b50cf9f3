import { expect } from 'chai'
import { KeyedQueue } from '../../../../lib/embedded/controllers/keyed-queue.ts'
import { conflict } from '../../../../lib/embedded/status.ts'
import { serverClock, Tasks } from '../../../../lib/embedded/tasks.ts'

const CONFLICT = conflict({ group: '', resource: 'things', kind: 'Thing' }, 'a', 'changed')

describe("the queue of the embedded server's controllers", () => {
  const tasks = () => new Tasks(serverClock, (fault) => expect.fail(String(fault)))

  it('works on a key once, however often it is added meanwhile', async () => {
    const worked: string[] = []
    const all = tasks()
    const queue = new KeyedQueue(all, (key) => void worked.push(key))
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
    await all.settled()
    expect(worked).to.deep.equal(['a', 'b'])
  })

  it('comes back to a key at once after a conflict', async () => {
    let tries = 0
    const all = tasks()
    const queue = new KeyedQueue(all, () => {
      if (++tries < 3) throw CONFLICT
    })
    queue.add('a')
    await all.settled()
    expect(tries).to.equal(3)
  })

  it('leaves turns to others, whatever wakes whom', async () => {
    let goesOn = true
    const all = tasks()
    const queue: KeyedQueue = new KeyedQueue(all, (key) => {
      if (goesOn) queue.add(key)
    })
    queue.add('a')
    for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
    goesOn = false
    await all.settled()
  })
})
