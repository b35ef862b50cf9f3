import { expect } from 'chai'
import { KeyStates } from '../../../lib/engine/key-state.ts'
import { type Outcome, requeueAfter } from '../../../lib/engine/outcome.ts'
import type { Reason } from '../../../lib/engine/wake.ts'
import { ConfigMap } from './world.ts'

const outcomes: Record<string, Outcome> = {
  done: { type: 'done' },
  wait: { type: 'wait', wait: requeueAfter('1h', { reason: 'Polling' }) },
  error: { type: 'error', error: new Error('x'), reason: 'ReconcileFailed', message: 'x' },
  terminal: { type: 'terminal', error: new Error('x'), reason: 'Bad', message: 'x' },
  conflict: { type: 'conflict', error: new Error('x') },
}

function having(...types: string[]): KeyStates {
  const states = new KeyStates()
  for (const type of types) states.settle('a', outcomes[type] as Outcome)
  return states
}

describe('which reason may start a run (promise 4)', () => {
  const table: Record<string, Record<Reason, boolean>> = {
    done: { deletion: true, generation: true, touched: true, metadata: true, related: true, resync: true },
    wait: { deletion: true, generation: true, touched: true, metadata: true, related: true, resync: true },
    conflict: { deletion: true, generation: true, touched: true, metadata: true, related: true, resync: true },
    error: { deletion: true, generation: true, touched: true, metadata: true, related: false, resync: false },
    terminal: { deletion: true, generation: true, touched: true, metadata: false, related: false, resync: false },
  }
  for (const [outcome, reasons] of Object.entries(table)) {
    for (const [reason, may] of Object.entries(reasons)) {
      it(`after ${outcome}: ${reason} ${may ? 'does' : 'does not'}`, () => {
        expect(having(outcome).mayWake('a', reason as Reason)).to.equal(may)
      })
    }
  }
})

describe('what is counted of a key', () => {
  it('failures in a row, until one run does not fail', () => {
    expect(having('error', 'error').attempt('a')).to.equal(3)
    expect(having('error', 'error', 'done').attempt('a')).to.equal(1)
    expect(having('error', 'error', 'wait').attempt('a')).to.equal(1)
    expect(having('error', 'error', 'terminal').attempt('a')).to.equal(1)
  })

  it('conflicts keep the failures: they are neither a success nor a failure', () => {
    const states = having('error', 'error', 'conflict')
    expect(states.attempt('a')).to.equal(4)
    expect(states.settle('a', outcomes['error'] as Outcome).failures).to.equal(3)
  })

  it('a new generation and a deletion start anew, a touch does not', () => {
    for (const [reason, attempt] of [
      ['generation', 1],
      ['deletion', 1],
      ['touched', 3],
    ] as const) {
      const states = having('error', 'error')
      states.mayWake('a', reason)
      expect(states.attempt('a'), reason).to.equal(attempt)
    }
  })

  it('after a terminal error somebody has asked once generation, labels or annotations changed', () => {
    for (const [reason, asked] of [
      ['generation', true],
      ['touched', true],
      ['related', false],
      ['metadata', false],
    ] as const) {
      const states = having('terminal')
      states.mayWake('a', reason)
      expect(states.asked('a'), reason).to.equal(asked)
    }
  })

  it('what was asked for holds until a run has come to an end: a conflict or a failure in between does not use it up', () => {
    for (const [outcome, asked] of [
      ['conflict', true],
      ['error', true],
      ['done', false],
      ['terminal', false],
    ] as const) {
      const states = having('terminal')
      states.mayWake('a', 'touched')
      states.settle('a', outcomes[outcome] as Outcome)
      expect(states.asked('a'), outcome).to.equal(asked)
    }
  })

  it('what was asked for holds when more changes before it was done', () => {
    const states = having('terminal')
    states.mayWake('a', 'touched')
    states.settle('a', outcomes['error'] as Outcome)
    states.mayWake('a', 'generation')
    expect(states.asked('a')).to.equal(true)
  })

  it('unanswered writes are handed out once, also those of several runs', () => {
    const states = new KeyStates()
    const write = (name: string) => ({ kind: ConfigMap, ref: { name, namespace: 'shop' } })
    states.unanswered('a', [write('x')])
    states.unanswered('a', [])
    states.unanswered('a', [write('y')])
    expect(states.takeUnanswered('a').map(({ ref }) => ref.name)).to.deep.equal(['x', 'y'])
    expect(states.takeUnanswered('a')).to.deep.equal([])
  })

  it('nothing of a key that is forgotten', () => {
    const states = having('error', 'terminal')
    states.unanswered('a', [{ kind: ConfigMap, ref: { name: 'x' } }])
    states.forget('a')
    expect([states.attempt('a'), states.summary('a'), states.takeUnanswered('a'), states.unfinished()]).to.deep.equal([1, 'done', [], []])
  })

  it('keys that wait or have failed are unfinished, those that wait although all is well are not', () => {
    const states = new KeyStates()
    for (const [key, outcome] of Object.entries(outcomes)) states.settle(key, outcome)
    states.settle('readyWait', { type: 'wait', wait: requeueAfter('1h', { ready: true }) })
    expect(states.unfinished().map(([key]) => key)).to.deep.equal(['wait', 'error', 'terminal', 'conflict'])
  })
})
