/** Whatever happens to processes and messages, no two ever pass the gate at the same time. */
import { expect } from 'chai'
import fc from 'fast-check'
import { LeaseServer, Process, type Way } from './lease-server.ts'

const STEP_MS = 50
const STEPS = 400
const RUNS = Number(process.env['TSOP_RUNS'] ?? 60)

type Event =
  | { readonly type: 'pause'; readonly who: number; readonly steps: number }
  | { readonly type: 'restart' | 'release' | 'starve'; readonly who: number }
  | { readonly type: 'touch' }

const who = fc.nat({ max: 2 })
const event = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('pause' as const), who, steps: fc.integer({ min: 1, max: 120 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('restart' as const, 'release' as const, 'starve' as const), who }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('touch' as const) }) },
)
const way: fc.Arbitrary<Way> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 4,
    arbitrary: fc.record({ thereMs: fc.integer({ min: 0, max: 1_500 }), backMs: fc.integer({ min: 0, max: 1_500 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Way>({ lost: 'request' }, { lost: 'answer' }, { status: 500 }, { lost: 'answer', thereMs: 2_500 }),
  },
)
const story = fc.record({
  events: fc.array(fc.tuple(fc.nat({ max: STEPS - 1 }), event), { maxLength: 25 }),
  ways: fc.array(way, { minLength: 1, maxLength: 60 }),
  /** At most one: who deletes a lease twice within a moment deceives everybody. */
  deletedAt: fc.option(fc.nat({ max: STEPS - 1 })),
})

describe('two electors', () => {
  it('never both pass the gate, whatever is paused, late, lost, restarted or deleted', async function () {
    this.timeout(120_000)
    let led = 0
    await fc.assert(
      fc.asyncProperty(story, async (told) => {
        led += await play(told)
      }),
      { numRuns: RUNS },
    )
    // A world in which nobody ever leads would pass as well.
    expect(led).to.be.greaterThan(RUNS / 6)
  })
})

/** @returns how many times somebody began to lead */
async function play(told: { events: [number, Event][]; ways: Way[]; deletedAt: number | null }): Promise<number> {
  const server = new LeaseServer()
  let request = 0
  let starved: number | undefined
  let led = 0
  const begin = (name: string, i: number): Process => {
    const begun = new Process(server, name)
    begun.way = () => (starved === i ? { lost: 'request' } : (told.ways[request++ % told.ways.length] as Way))
    return begun.start()
  }
  const names = ['a', 'b', 'c']
  const all: Process[] = names.map(begin)
  const resumeAt = new Map<number, number>()
  const old: Process[] = []
  for (let step = 0; step < STEPS; step++) {
    for (const [i, at] of resumeAt) {
      if (at > step) continue
      resumeAt.delete(i)
      await all[i]?.clock.resume()
    }
    if (told.deletedAt === step) server.delete()
    for (const [at, event] of told.events) {
      if (at !== step) continue
      if (event.type === 'touch') {
        if (server.lease !== undefined) server.edit((lease) => (lease.metadata.labels = { step: String(step) }))
        continue
      }
      const { who } = event
      const process = all[who] as Process
      if (event.type === 'pause') {
        process.clock.pause()
        resumeAt.set(who, step + event.steps)
      } else if (event.type === 'starve') starved = starved === who ? undefined : who
      else {
        // The old one stays where it is: its copy of the world may still believe that it leads.
        if (event.type === 'release') void process.elector.release()
        else process.clock.pause()
        old.push(process)
        all[who] = begin(names[who] as string, who)
        resumeAt.delete(who)
      }
    }
    await server.clock.advance(STEP_MS)
    check(server, [...all, ...old])
    for (const [i, process] of all.entries()) {
      if (process.lost.length === 0 || resumeAt.has(i)) continue
      // It exits, and is started again.
      all[i] = begin(names[i] as string, i)
    }
  }
  led = [...all, ...old].filter(({ ledAt }) => ledAt !== undefined).length
  return led
}

/** By the clock, as the gate sees it, without asking it: an elector that is asked would find out that its time is over. */
function check(server: LeaseServer, all: readonly Process[]): void {
  const now = server.clock.monotonic()
  const passing = all.filter(({ elector }) => elector.state === 'leading' && elector.deadline !== undefined && now < elector.deadline)
  expect(passing.length, `leaders at ${now}`).to.be.at.most(1)
  // What the former leader sent has ended as well when the next one begins.
  for (const next of passing) {
    if (next.ledAt === undefined || next.ledAt < now - STEP_MS) continue
    for (const former of all) {
      // One that gave the lease up had no write under way.
      if (former === next || former.ledAt === undefined || former.elector.state === 'ended') continue
      expect(former.elector.remainingMs, `time that what was sent before ${now} has left`).to.equal(0)
    }
  }
}
