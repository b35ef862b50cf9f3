import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { AREAS } from './cases.ts'
import { DEVIATIONS } from './deviations.ts'
import { PAGE, page } from './page.ts'
import { type Results, runCases, same } from './results.ts'
import { embeddedTargets } from './servers.ts'

describe('the embedded API server answers what a real one has answered', () => {
  const results: Record<string, Results> = {}

  before(async () => {
    const { targets, close } = await embeddedTargets()
    for (const [name, target] of Object.entries(targets)) results[name] = await runCases(target, 16)
    await close()
  })

  for (const name of ['in process', 'over HTTP']) {
    describe(name, () => {
      for (const [area, cases] of AREAS) {
        for (const { id, title, deviates } of cases) {
          it(`${area}/${id}: ${deviates === undefined ? title : `deviates (${deviates})`}`, () => {
            const found = results[name]?.get(id)?.join('\n') ?? 'not run'
            if (deviates === undefined) expect(found, found).to.equal('')
            else expect(found, 'it does not deviate any more: say so').not.to.equal('')
          })
        }
      }
    })
  }

  it('as docs/reference/parity.md tells', () => {
    const now = page(same(...Object.values(results)))
    expect(readFileSync(PAGE, 'utf8') === now, 'make it anew: npm run parity').to.equal(true)
  })
})

describe('the cases', () => {
  const all = [...AREAS.values()].flat()

  it('have names of their own', () => {
    expect(new Set(all.map(({ id }) => id)).size).to.equal(all.length)
  })

  it('deviate only for reasons that are listed', () => {
    const listed = DEVIATIONS.map(({ id }) => id)
    expect(new Set(listed).size).to.equal(listed.length)
    expect(listed).to.include.members(all.flatMap(({ deviates }) => deviates ?? []))
  })

  it('are in areas that the deviations name', () => {
    expect([...AREAS.keys()]).to.include.members(DEVIATIONS.map(({ area }) => area))
  })
})
