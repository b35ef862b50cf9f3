import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import { kindKey } from '../../../lib/resource/kind.ts'
import * as kinds from '../../../lib/resource/kinds.ts'
import { pluralOf } from '../../../lib/resource/plural.ts'

const all = Object.entries(kinds)

describe('kinds', () => {
  it('are at least 40, each one once', () => {
    expect(all.length).to.be.at.least(40)
    expect(new Set(all.map(([, ref]) => kindKey(ref))).size).to.equal(all.length)
  })

  it('are named as in the API, with their plural and scope', () => {
    for (const [name, ref] of all) {
      expect(name).to.match(new RegExp(`${ref.kind}$`))
      expect(ref.plural).to.equal(ref.kind === 'Endpoints' ? 'endpoints' : pluralOf(ref.kind))
      expect(ref.scope).to.be.oneOf(['Namespaced', 'Cluster'])
    }
  })

  it('leave their status to those who own it', () => {
    expect(all.filter(([, ref]) => ref.status !== undefined || ref.crd !== undefined)).to.deep.equal([])
  })

  it('load nothing of the Kubernetes client', () => {
    const script = `
      import { registerHooks } from 'node:module'
      registerHooks({ resolve(name, context, next) { if (!name.startsWith('.') && !name.startsWith('file:')) console.log(name); return next(name, context) } })
      await import(${JSON.stringify(join(import.meta.dirname, '../../../lib/resource/kinds.ts'))})`
    expect(
      execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '' },
      }),
    ).to.not.contain('kubernetes')
  })
})
