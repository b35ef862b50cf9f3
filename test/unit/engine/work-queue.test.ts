import { expect } from 'chai'
import fc from 'fast-check'
import { type Priority, WorkQueue } from '../../../lib/engine/work-queue.ts'
import { ManualClock, settle } from '../manual-clock.ts'

const HANDICAP: Record<Priority, number> = { deletion: 0, change: 1000, background: 5000 }

function queue() {
  const clock = new ManualClock()
  const ready = { calls: 0 }
  return { clock, ready, queue: new WorkQueue(clock, () => ready.calls++) }
}

/** Everything that is due, in order, each run ended at once. */
function drain(queue: WorkQueue): string[] {
  const keys: string[] = []
  for (let key = queue.take(); key !== undefined; key = queue.take()) {
    keys.push(key)
    queue.done(key)
  }
  return keys
}

describe('the work queue (promise 3)', () => {
  it('has one entry a key, however often it is asked for', () => {
    const { queue: q } = queue()
    for (let i = 0; i < 5; i++) q.add('a', 'change')
    expect(q.size).to.equal(1)
    expect(drain(q)).to.deep.equal(['a'])
  })

  it('never hands out a key that is running', () => {
    const { queue: q } = queue()
    q.add('a', 'change')
    expect(q.take()).to.equal('a')
    q.add('a', 'deletion')
    expect(q.take()).to.equal(undefined)
    expect(q.isRunning('a')).to.equal(true)
  })

  it('makes one more run of any number of events during a run', () => {
    const { queue: q, ready } = queue()
    q.add('a', 'change')
    q.take()
    for (let i = 0; i < 5; i++) q.add('a', 'change')
    const calls = ready.calls
    q.done('a')
    expect(ready.calls).to.equal(calls + 1)
    expect(drain(q)).to.deep.equal(['a'])
  })

  it('lets a deletion overtake changes, and those the initial list', () => {
    const { queue: q } = queue()
    q.add('listed', 'background')
    q.add('changed', 'change')
    q.add('deleted', 'deletion')
    expect(drain(q)).to.deep.equal(['deleted', 'changed', 'listed'])
  })

  it('gives away only some milliseconds of a turn of the event loop, and goes on in the next', async () => {
    const time = { ms: 0 }
    let calls = 0
    const q = new WorkQueue({ now: () => 0, monotonic: () => time.ms, after: () => ({ cancel() {} }) }, () => calls++)
    for (let i = 0; i < 4; i++) q.add(`${i}`, 'change')
    expect(q.take()).to.be.a('string')
    time.ms = 9
    expect(q.take()).to.be.a('string')
    time.ms = 10
    expect(q.take()).to.equal(undefined)
    expect(q.depth).to.equal(2)
    calls = 0
    await settle()
    expect(calls).to.equal(1)
    expect(q.take()).to.be.a('string')
    time.ms = 19
    expect(q.take()).to.be.a('string')
  })

  it('asks for nothing in the next turn where nothing is due, nor after it was closed', async () => {
    const { queue: q, ready } = queue()
    q.add('a', 'change')
    q.take()
    ready.calls = 0
    await settle()
    expect(ready.calls).to.equal(0)
    q.add('b', 'change')
    q.take()
    q.add('c', 'change')
    ready.calls = 0
    q.close()
    await settle()
    expect(ready.calls).to.equal(0)
  })

  it('lets nothing starve: after its handicap even the least urgent key goes before any newcomer', async () => {
    const { queue: q, clock } = queue()
    q.add('listed', 'background')
    await clock.advance(5001)
    q.add('deleted', 'deletion')
    expect(drain(q)).to.deep.equal(['listed', 'deleted'])
  })

  it('takes the earlier of two due times and the higher of two priorities of a key', async () => {
    const { queue: q, clock } = queue()
    q.add('a', 'background', 60_000)
    q.add('a', 'change', 90_000)
    await clock.advance(59_999)
    expect(q.take()).to.equal(undefined)
    q.add('b', 'background')
    await clock.advance(1)
    expect(drain(q)).to.deep.equal(['a', 'b'])
  })

  it('is not taken early because of a later wish, nor late because of a later one', async () => {
    const { queue: q, clock } = queue()
    q.add('a', 'background', 1000)
    q.add('a', 'background', 5000)
    await clock.advance(1000)
    expect(drain(q)).to.deep.equal(['a'])
    await clock.advance(10_000)
    expect(drain(q)).to.deep.equal([])
  })

  it('tells when a key becomes due, with a single timer', async () => {
    const { queue: q, clock, ready } = queue()
    for (const [key, ms] of [
      ['c', 3000],
      ['a', 1000],
      ['b', 2000],
    ] as const)
      q.add(key, 'change', ms)
    expect([ready.calls, clock.pending]).to.deep.equal([0, 1])
    await clock.advance(1000)
    expect([ready.calls, drain(q)]).to.deep.equal([1, ['a']])
    await clock.advance(2000)
    expect([ready.calls, drain(q)]).to.deep.equal([3, ['b', 'c']])
    expect(clock.pending).to.equal(0)
  })

  it('forgets a key, also what was asked for during its run', async () => {
    const { queue: q, clock } = queue()
    q.add('a', 'change')
    q.add('b', 'change', 1000)
    q.take()
    q.add('a', 'change')
    q.forget('a')
    q.forget('b')
    q.done('a')
    await clock.advance(2000)
    expect([drain(q), q.size]).to.deep.equal([[], 0])
  })

  it('sets no timer any more once it is closed', () => {
    const { queue: q, clock } = queue()
    q.add('a', 'change', 1000)
    q.close()
    q.add('b', 'change', 1000)
    expect(clock.pending).to.equal(0)
  })

  // Against a model: for each key when it is due and how urgent, and what came in during its run.
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const operation = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(
        fc.constant('add' as const),
        key,
        fc.constantFrom<Priority>('deletion', 'change', 'background'),
        fc.constantFrom(0, 0, 10, 700, 6000),
      ),
    },
    { weight: 3, arbitrary: fc.tuple(fc.constant('take' as const), key, fc.constant<Priority>('change'), fc.constant(0)) },
    { weight: 2, arbitrary: fc.tuple(fc.constant('done' as const), key, fc.constant<Priority>('change'), fc.constant(0)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('forget' as const), key, fc.constant<Priority>('change'), fc.constant(0)) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constant('wait' as const), key, fc.constant<Priority>('change'), fc.constantFrom(5, 10, 800, 7000)),
    },
  )

  it('does what its model does, whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 50, size: 'max' }), async (operations) => {
        const { queue: q, clock, ready } = queue()
        const waiting = new Map<string, { due: number; handicap: number }>()
        const running = new Map<string, { due: number; handicap: number } | undefined>()
        const put = (
          map: Map<string, { due: number; handicap: number } | undefined>,
          key: string,
          wish: { due: number; handicap: number },
        ) => {
          const old = map.get(key)
          map.set(key, old ? { due: Math.min(old.due, wish.due), handicap: Math.min(old.handicap, wish.handicap) } : wish)
        }
        for (const [type, key, priority, ms] of operations) {
          const now = clock.monotonic()
          const dueNow = () => [...waiting].filter(([, { due }]) => due <= clock.monotonic())
          if (type === 'add') {
            put(running.has(key) ? running : waiting, key, { due: now + ms, handicap: HANDICAP[priority] })
            q.add(key, priority, ms)
          } else if (type === 'take') {
            const taken = q.take()
            const due = dueNow()
            if (taken === undefined) expect(due).to.have.length(0)
            else {
              expect(running.has(taken), 'runs already').to.equal(false)
              const mine = waiting.get(taken)
              expect(mine?.due).to.be.at.most(now)
              const urgency = ({ due, handicap }: { due: number; handicap: number }) => due + handicap
              expect(urgency(mine as never)).to.equal(Math.min(...due.map(([, wish]) => urgency(wish))))
              waiting.delete(taken)
              running.set(taken, undefined)
            }
          } else if (type === 'done' && running.has(key)) {
            const again = running.get(key)
            running.delete(key)
            if (again) put(waiting as never, key, again)
            q.done(key)
          } else if (type === 'forget') {
            waiting.delete(key)
            if (running.has(key)) running.set(key, undefined)
            q.forget(key)
          } else if (type === 'wait') {
            const before = dueNow().length
            const calls = ready.calls
            await clock.advance(ms)
            if (dueNow().length > before) expect(ready.calls, 'was told').to.be.greaterThan(calls)
          }
          expect([q.size, q.running, q.depth]).to.deep.equal([waiting.size + running.size, running.size, dueNow().length])
        }
      }),
      { numRuns: 150 },
    )
  })

  it('lets no key that came after its handicap go before it', async () => {
    const priorities = fc.array(fc.constantFrom<Priority>('deletion', 'change', 'background'), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(priorities, fc.integer({ min: 60, max: 400 }), async (priorities, work) => {
        const { queue: q, clock } = queue()
        q.add('patient', 'background')
        // One worker, and newcomers that arrive faster than they can be worked off.
        for (let i = 0; ; i++) {
          for (const n of [0, 1]) q.add(`${clock.monotonic()}-${n}`, priorities[(2 * i + n) % priorities.length] as Priority)
          const key = q.take() as string
          if (key === 'patient') return
          expect(Number(key.split('-')[0])).to.be.at.most(HANDICAP.background)
          await clock.advance(work)
          q.done(key)
        }
      }),
      { numRuns: 10 },
    )
  })
})
