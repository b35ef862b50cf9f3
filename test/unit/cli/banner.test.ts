import { expect } from 'chai'
import { type BannerFacts, banner, logBanner } from '../../../lib/cli/banner.ts'
import { operatorName } from '../../../lib/cli/operator-name.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { Project } from './project.ts'

const facts: BannerFacts = {
  version: '1.2.3',
  name: 'shop-operator',
  server: 'https://cluster:6443',
  context: 'work',
  namespaces: ['shop', 'test'],
  readyMs: 412.3,
  controllers: [
    { kindName: 'Database.db.example.com', owns: ['StatefulSet.apps', 'Service'], watches: ['Secret'], concurrency: 4, state: 'running' },
    { kindName: 'Team.example.com', owns: [], watches: [], concurrency: 1, state: 'failing', problem: 'may not list teams' },
  ],
}

describe('the start banner', () => {
  it('tells in a few lines where it runs and what it serves', () => {
    expect(banner(facts, 'Ctrl-C stops', false)).to.equal(`
  tsop 1.2.3 · shop-operator started in 412 ms; 1 of 2 kinds waits

  cluster    https://cluster:6443, context work
  namespaces shop, test
  reconciles Database.db.example.com owns StatefulSet.apps, Service · watches Secret · 4 at once
             Team.example.com        1 at once · waits: may not list teams

  Ctrl-C stops

`)
  })

  it('tells its own embedded server from a cluster whose context merely has that name', () => {
    const other = banner({ ...facts, context: 'embedded' }, undefined, false)
    expect(other).to.contain('cluster    https://cluster:6443, context embedded\n').and.not.contain('export KUBECONFIG')
    const own = banner({ ...facts, context: '', embedded: { kubeconfig: '/home/me/my shop/.tsop/kubeconfig' } }, undefined, false)
    expect(own).to.contain("export KUBECONFIG='/home/me/my shop/.tsop/kubeconfig'\n")
  })

  it('says ready only where every kind is served', () => {
    const [first] = facts.controllers as [BannerFacts['controllers'][number]]
    expect(banner({ ...facts, controllers: [first] }, undefined, false)).to.contain('shop-operator ready in 412 ms')
    const lines: unknown[] = []
    const write = (level: string) => (_: object | string, message?: string) => void lines.push([level, message])
    const log: Log = { ...Object.fromEntries(['trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, write(level)])) } as never
    logBanner(log, { ...facts, controllers: [first] })
    logBanner(log, facts)
    expect(lines).to.deep.equal([
      ['info', 'ready'],
      ['warn', 'started; 1 of 2 kinds waits: may not list teams'],
    ])
  })

  it('has colours only where they are wanted', () => {
    expect(banner(facts, undefined, true)).to.contain('\x1b[')
    expect(banner(facts, undefined, false)).to.not.contain('\x1b[')
  })
})

describe("the operator's name", () => {
  let project: Project
  afterEach(() => project.remove())

  it('is that of the package.json nearest to the handlers which has one', () => {
    project = new Project({
      'a/package.json': '{"name":"@shop/a"}',
      'a/handlers/x.ts': '',
      'a/handlers/package.json': '{"type":"module"}',
      'b/x.ts': '',
    })
    expect(operatorName(['a/handlers'], project.path)).to.equal('@shop/a')
    expect(operatorName(['a/handlers/x.ts'], project.path)).to.equal('@shop/a')
    expect(operatorName(['b'], project.path)).to.equal('shop-operator')
  })

  it('is tsop where there is none that can be a field manager', () => {
    project = new Project({ 'package.json': `{"name":"${'x'.repeat(129)}"}` })
    expect(operatorName(['handlers'], project.path)).to.equal('tsop')
  })
})
