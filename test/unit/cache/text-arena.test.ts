import { expect } from 'chai'
import fc from 'fast-check'
import { Block, TextArena } from '../../../lib/cache/text-arena.ts'

const KIB = 1024

describe('TextArena', () => {
  it('gives back each text as long as it is wanted, whatever comes and goes', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ slot: fc.nat(40), text: fc.string({ unit: 'grapheme', maxLength: 20 }), times: fc.nat(2_000) }) },
      { weight: 1, arbitrary: fc.record({ slot: fc.nat(40) }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const arena = new TextArena()
        const model = new Map<number, { block: Block; text: string }>()
        for (const step of steps) {
          const there = model.get(step.slot)
          if (there !== undefined) arena.free(there.block)
          model.delete(step.slot)
          if ('text' in step) {
            const block = new Block()
            const text = step.text.repeat(step.times)
            arena.write(block, text)
            model.set(step.slot, { block, text })
          }
        }
        for (const { block, text } of model.values()) expect(arena.read(block) === text).to.equal(true)
      }),
      { seed: 7, numRuns: 60 },
    )
  }).timeout(20_000)

  it('stays near the size of what is alive while all of it is replaced again and again', () => {
    const arena = new TextArena()
    const blocks: Block[] = []
    let largest = 0
    for (let i = 0; i < 20_000; i++) {
      const n = (i * 7919) % 1_000
      const there = blocks[n]
      if (there !== undefined) arena.free(there)
      const block = new Block()
      arena.write(block, 'x'.repeat(2 * KIB))
      blocks[n] = block
      largest = Math.max(largest, arena.capacity)
    }
    // The newest slab and the spare ones come on top.
    expect(largest).to.be.lessThan((1_000 * 2 * KIB) / 0.6 + 3 * 256 * KIB)
  })

  it('lets go of all but a little when everything is gone', () => {
    const arena = new TextArena()
    const blocks = Array.from({ length: 2_000 }, () => new Block())
    for (const block of blocks) arena.write(block, 'x'.repeat(2 * KIB))
    for (const block of blocks) arena.free(block)
    expect(arena.capacity).to.be.at.most(3 * 256 * KIB)
  })

  it('keeps a text larger than a slab, and lets go of it', () => {
    const arena = new TextArena()
    const block = new Block()
    arena.write(block, '漢'.repeat(500_000))
    expect(arena.read(block)).to.have.length(500_000)
    arena.free(block)
    expect(arena.capacity).to.equal(0)
  })

  it('does not give out what is gone, and does not mind a second goodbye', () => {
    const arena = new TextArena()
    const block = new Block()
    arena.write(block, 'x')
    arena.free(block)
    arena.free(block)
    expect(() => arena.read(block)).to.throw('gone')
  })
})
