import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { GENERATORS } from '../../../lib/cli/generate.ts'
import { BUNDLE } from '../../../lib/generate/container.ts'
import { DEV_DEPENDENCIES, projectFiles } from '../../../lib/generate/project.ts'

interface Package {
  version: string
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

/** What needs no installation; the rest is tried by test/cluster/new-project.test.ts. */
describe('the files of a new project', () => {
  const project = { name: 'shop-operator', kind: 'Shop', group: 'example.com', version: 'v1', tsop: 'file:../tsop.tgz' }
  const files = new Map(projectFiles(project).map(({ path, content }) => [path, content]))
  const own = JSON.parse(files.get('package.json') ?? '') as Package
  const readme = files.get('README.md') ?? ''

  it('ask for what tsop itself is made with, and for tsop as they are told', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as Package
    const all = { ...dependencies, ...devDependencies }
    for (const [name, range] of Object.entries(DEV_DEPENDENCIES)) expect(all[name], name).to.equal(range)
    expect(own.devDependencies).to.deep.equal(DEV_DEPENDENCIES)
    expect(own.dependencies).to.deep.equal({ tsop: 'file:../tsop.tgz' })
  })

  it('have the scripts that the README and the workflow name', () => {
    const text = readme + files.get('.github/workflows/ci.yaml')
    const named = [...text.matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)].map(([, script, short]) => script ?? short ?? '')
    expect(named.length).to.be.greaterThan(10)
    expect(Object.keys(own.scripts)).to.include.members(named)
  })

  it('generate and check the same', () => {
    const generated = own.scripts['generate']!.split(' && ')
    for (const command of generated) expect(GENERATORS).to.have.property(command.replace('tsop generate ', ''))
    expect(own.scripts['generate:check']).to.equal(generated.map((command) => `${command} --check`).join(' && '))
    expect(generated).to.include('tsop generate deploy')
  })

  it('say one name of the image, the one that the manifests get', () => {
    expect(readme).to.include(`docker build -t shop-operator:${own.version} .`)
    expect(files.get('Dockerfile')).to.include(`/app/${BUNDLE}`)
  })
})
