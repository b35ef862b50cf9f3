import { expect } from 'chai'
import { messageOf } from '../../../lib/engine/errors.ts'
import { requeueAfter } from '../../../lib/engine/outcome.ts'
import { describeError } from '../../../lib/observe/describe-error.ts'
import type { Any } from './fake-api.ts'
import { type Ctx, condition, Database, handler, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

const odd: [string, unknown][] = [
  ['an error whose message is an object', Object.assign(new Error('x'), { message: { code: 5 } })],
  ['an error without a message', Object.assign(new Error('x'), { message: undefined })],
  ['an error with such a cause', new Error('outer', { cause: Object.assign(new Error('x'), { message: undefined }) })],
  [
    'an object that throws when it is looked at',
    {
      get reason() {
        throw new Error('mine')
      },
    },
  ],
  [
    'a proxy that throws',
    new Proxy(
      {},
      {
        get() {
          throw new Error('mine')
        },
        has() {
          throw new Error('mine')
        },
      },
    ),
  ],
  ['null', null],
  ['an object without a prototype', Object.create(null)],
]

describe('whatever a handler throws (promise 4)', () => {
  for (const [what, thrown] of odd) {
    it(`is a failure that is tried again: ${what}`, async () => {
      const world = new World()
      let runs = 0
      const reconcile = () => {
        runs++
        throw thrown
      }
      await world.start(handler({ reconcile }))
      world.api.create(Database, 'a', { spec: {} })
      await world.ms(5_000)
      expect(runs).to.be.within(3, 7)
      expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'False', reason: 'ReconcileFailed' })
    })

    it(`has a text: ${what}`, () => {
      expect(messageOf(thrown instanceof Error || thrown === null ? thrown : String)).to.be.a('string')
      if (thrown instanceof Error) expect(describeError(thrown, false).message).to.be.a('string')
    })
  }

  it('does not take the key out of the queue where the logger fails', async () => {
    const world = new World()
    let runs = 0
    const reconcile = () => {
      runs++
      throw new Error('no')
    }
    const log = world.log
    const broken = {
      ...log,
      child: () => broken,
      isLevelEnabled: () => true,
      error: () => {
        throw new Error('disk full')
      },
    } as typeof log
    await world.startWith({ log: broken }, handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(5_000).catch(() => {})
    expect(runs).to.be.greaterThan(2)
  })
})

describe('texts that are none', () => {
  it('are refused where they are given', () => {
    expect(() => requeueAfter('3s', { message: 5 as never })).to.throw(TypeError, 'message must be a text')
    expect(() => requeueAfter('3s', { reason: 5 as never })).to.throw(TypeError)
  })

  it('are a failure that the status tells', async () => {
    const world = new World()
    await world.start(handler({ reconcile: (_db: Any, ctx: Ctx) => ctx.conditions.ready({ message: 5 as never }) }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready').message).to.include('message must be a text')
  })
})
