import { expect } from 'chai'
import { NEEDED, tooOld } from '../../../lib/cli/node-version.ts'
import { read } from '../docs/markdown.ts'
import { Project } from './project.ts'

describe('the version of Node.js', () => {
  for (const version of ['22.19.0', '22.20.1', '23.0.0', '24.1.0', '100.0.0']) {
    it(`may be ${version}`, () => expect(tooOld(version)).to.equal(undefined))
  }

  for (const version of ['22.18.9', '22.2.0', '20.20.2', '9.99.0']) {
    it(`may not be ${version}`, () =>
      expect(tooOld(version))
        .to.match(/22\.19 or newer/)
        .and.to.include(version))
  }

  it('is the one that package.json asks for', () => {
    expect(JSON.parse(read('package.json')).engines.node).to.equal(`>=${NEEDED}`)
  })

  for (const command of ['tsop', 'tsop-run'] as const) {
    it(`is looked at by ${command} before it loads anything that needs it`, async () => {
      const project = new Project({
        'old.mjs': `
          import { registerHooks } from 'node:module'
          Object.defineProperty(process.versions, 'node', { value: '20.1.0' })
          registerHooks({ resolve(specifier, context, next) {
            console.log(specifier.replace(/.*\\/lib\\/cli\\//, './'))
            return next(specifier, context)
          }})`,
      })
      try {
        const { code, stdout, stderr } = await project.run(['run'], { command, env: { NODE_OPTIONS: `--import=${project.path}/old.mjs` } })
        expect(stderr).to.match(new RegExp(`^${command}: Node\\.js [^\n]+20\\.1\\.0[^\n]+\n$`))
        expect(code).to.equal(3)
        const harmless = [
          `./${command}.ts`,
          './commands.ts',
          './exit-codes.ts',
          './option-rows.ts',
          'node:util',
          './nearest.ts',
          './node-version.ts',
          './unsettled.ts',
        ]
        for (const loaded of stdout.trim().split('\n')) expect(harmless).to.include(loaded)
      } finally {
        await project.remove()
      }
    }).timeout(20_000)
  }
})
