import { expect } from 'chai'
import fc from 'fast-check'
import { type ConditionDraft, checkCondition, cut, nextStatus, type RunFacts, type Status } from '../../../lib/engine/conditions.ts'
import { type Outcome, requeueAfter } from '../../../lib/engine/outcome.ts'
import type { Condition } from '../../../lib/resource/kind.ts'

const T0 = '2026-01-01T00:00:00Z'
const T1 = '2026-01-01T00:01:00Z'
const support = { conditions: true, observedGeneration: true, external: true }

function facts(outcome: Outcome, more: Partial<RunFacts> = {}): RunFacts {
  return { outcome, generation: 3, support, draft: { own: new Map(), ready: {} }, now: () => T1, ...more }
}

const done: Outcome = { type: 'done' }
const failed: Outcome = { type: 'error', error: new Error('x'), reason: 'ReconcileFailed', message: 'x' }
const terminal: Outcome = { type: 'terminal', error: new Error('x'), reason: 'BadSize', message: 'no such size' }
const wait: Outcome = { type: 'wait', wait: requeueAfter('10s', { reason: 'PodsStarting', message: '1 of 3' }) }
const readyWait: Outcome = { type: 'wait', wait: requeueAfter('10s', { ready: true, reason: 'Polling' }) }

function byType(status: Status) {
  return Object.fromEntries((status.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}

const old = (type: string, status: Condition['status'], more: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: 'Old',
  message: '',
  lastTransitionTime: T0,
  observedGeneration: 2,
  ...more,
})

describe('the conditions of the engine (promise 5)', () => {
  const table: [what: string, outcome: Outcome, expected: object][] = [
    ['done: Ready alone', done, { Ready: 'True Reconciled' }],
    ['waiting: not Ready, Reconciling', wait, { Ready: 'False PodsStarting', Reconciling: 'True PodsStarting' }],
    ['waiting although ready: Ready alone', readyWait, { Ready: 'True Reconciled' }],
    ['failed: not Ready, Reconciling', failed, { Ready: 'False ReconcileFailed', Reconciling: 'True ReconcileFailed' }],
    ['failed for good: not Ready, Stalled', terminal, { Ready: 'False BadSize', Stalled: 'True BadSize' }],
  ]
  for (const [what, outcome, expected] of table) {
    it(what, () => expect(byType(nextStatus(undefined, {}, facts(outcome)))).to.deep.equal(expected))

    it(`${what}, whatever was there before`, () => {
      const conditions = [old('Ready', 'Unknown'), old('Reconciling', 'True'), old('Stalled', 'True')]
      expect(byType(nextStatus({ conditions }, {}, facts(outcome)))).to.deep.equal(expected)
    })
  }

  it('moves lastTransitionTime only when the status flips', () => {
    const conditions = [old('Ready', 'False'), old('Reconciling', 'True')]
    const same = nextStatus({ conditions }, {}, facts(failed)).conditions as Condition[]
    expect(same.map(({ lastTransitionTime }) => lastTransitionTime)).to.deep.equal([T0, T0])
    expect(same[0]).to.include({ reason: 'ReconcileFailed', observedGeneration: 3 })
    const flipped = nextStatus({ conditions }, {}, facts(done)).conditions as Condition[]
    expect(flipped.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).to.deep.equal([['Ready', T1]])
  })

  it('leaves conditions of others in their place and as they are', () => {
    const theirs = old('Synced', 'True', { reason: 'Theirs' })
    const { conditions } = nextStatus({ conditions: [theirs, old('Ready', 'True'), old('Extra', 'False')] }, {}, facts(done))
    expect(conditions?.map(({ type }) => type)).to.deep.equal(['Synced', 'Ready', 'Extra'])
    expect(conditions?.[0]).to.equal(theirs)
  })

  it('sets and removes conditions of the handler, and takes its words for Ready', () => {
    const own: ConditionDraft['own'] = new Map([
      ['BackupTaken', { status: 'True', reason: 'Taken', message: '' }],
      ['Obsolete', undefined],
    ])
    const draft: ConditionDraft = { own, ready: { reason: 'Serving', message: 'all replicas' } }
    const next = nextStatus({ conditions: [old('Obsolete', 'True')] }, {}, facts(done, { draft }))
    expect(byType(next)).to.deep.equal({ BackupTaken: 'True Taken', Ready: 'True Serving' })
  })

  it('says of which generation it speaks: that of the run, also where the status already says more', () => {
    const next = nextStatus({ observedGeneration: 9, conditions: [old('Ready', 'True', { observedGeneration: 9 })] }, {}, facts(done))
    expect(next.observedGeneration).to.equal(3)
    expect(next.conditions?.[0]?.observedGeneration).to.equal(3)
  })

  it('invents no generation for kinds that have none', () => {
    const next = nextStatus(undefined, {}, facts(done, { generation: undefined }))
    expect(next).to.not.have.property('observedGeneration')
    expect(next.conditions?.[0]).to.not.have.property('observedGeneration')
  })

  it('is equal to itself after one more run with the same outcome', () => {
    for (const [, outcome] of table) {
      const once = nextStatus({ conditions: [old('Theirs', 'True')] }, { a: 1 }, facts(outcome))
      expect(nextStatus(once, { a: 1 }, facts(outcome, { now: () => 'later' }))).to.deep.equal(once)
    }
  })

  it('keeps away from a status that is not the operator’s', () => {
    const foreign = { conditions: [old('Ready', 'False')], observedGeneration: 1, external: { ip: '10.0.0.1' }, replicas: 2 }
    const none = { conditions: false, observedGeneration: false, external: false }
    expect(nextStatus(foreign, { replicas: 3 }, facts(done, { support: none }))).to.deep.equal({ ...foreign, replicas: 3 })
  })

  it('keeps the record of external steps', () => {
    const external = { step: { state: 'running' } }
    expect(nextStatus({ external } as Status, {}, facts(done))).to.have.deep.property('external', external)
  })

  it('drops a field that the handler removed', () => {
    expect(nextStatus({ gone: 1, kept: 2 }, { kept: 2 }, facts(done))).to.not.have.property('gone')
  })
})

describe('a long text of a condition', () => {
  it('is cut to 1 KiB and shows that it was', () => {
    expect(cut('x'.repeat(1024))).to.equal('x'.repeat(1024))
    expect(cut('x'.repeat(1025))).to.equal(`${'x'.repeat(1021)}…`)
  })

  it('is never cut within a character', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 1030 }), fc.string({ unit: 'grapheme', maxLength: 50 }), (n, rest) => {
        const text = cut(`${'a'.repeat(n)}${'😀'.repeat(20)}${rest}${'é'.repeat(40)}`)
        expect(Buffer.byteLength(text)).to.be.at.most(1024)
        expect(text).not.to.include('\uFFFD')
        expect(text.isWellFormed()).to.equal(true)
      }),
    )
  })
})

describe('a condition of the handler', () => {
  const good = { type: 'BackupTaken', status: 'True', reason: 'Taken' }
  for (const [what, wrong] of [
    ['is the engine’s', { type: 'Ready' }],
    ['has no type', { type: '' }],
    ['has a type with a blank', { type: 'Backup Taken' }],
    ['has another status', { status: 'Yes' }],
    ['has a sentence as reason', { reason: 'it is taken' }],
    ['has an empty reason', { reason: '' }],
    ['has a message that is no text', { message: 1 as unknown as string }],
  ] as const) {
    it(`is refused where it ${what}`, () => expect(() => checkCondition({ ...good, ...wrong })).to.throw(/condition "/))
  }

  it('may have a domain in its type', () => expect(() => checkCondition({ ...good, type: 'example.com/Backup.Taken' })).to.not.throw())
})
