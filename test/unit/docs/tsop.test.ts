import { expect } from 'chai'
import { GENERATORS } from '../../../lib/cli/generate.ts'
import { filled, tables } from '../../../scripts/reference.ts'
import { read } from './markdown.ts'

describe('the reference of tsop', () => {
  const page = read('docs/reference/tsop.md')

  it('has every command, generator and option (node --conditions=tsop-source scripts/reference.ts writes them)', async () => {
    const all = await tables()
    const there = [...page.matchAll(/^<!-- table: (.+) -->$/gm)].map(([, name]) => name)
    expect(there).to.have.members([...all.keys()])
    expect(filled(page, all)).to.equal(page)
  })

  it('has a section for every generator that says where it writes', async () => {
    for (const [name, { load }] of Object.entries(GENERATORS)) {
      const [, section = ''] = page.split(`\n### \`tsop generate ${name}\`\n`)
      expect(section.split('\n## ')[0]?.split('\n### ')[0], name).to.include(`It writes below \`${(await load()).output}\``)
    }
  })
})
