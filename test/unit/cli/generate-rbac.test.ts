import { expect } from 'chai'
import { Project } from './project.ts'

const HANDLER = (uses: string) => `
import { onReconcile } from 'tsop'
import { ConfigMap, Pod } from 'tsop/kinds'

export class Handler {
  @onReconcile(ConfigMap, { labels: 'a=b'${uses} })
  async reconcile(object, ctx) {
    await ctx.client.list(Pod, { namespace: object.metadata.namespace })
  }
}
`
const SAMPLE = '{ apiVersion: v1, kind: ConfigMap, metadata: { name: a, labels: { a: b } } }'
const OBSERVE = ['generate', 'rbac', '--observe', '500ms', '--apply', 'sample.yaml', '--dry-run']

describe('tsop generate rbac --observe', function () {
  this.timeout(30_000)
  let project: Project

  afterEach(() => project.remove())

  it('has the API server ask handlers with webhooks and conversions, as tsop-run does', async () => {
    const handler = `
import { defaults, Invalid, onReconcile, resource, validates, z } from 'tsop'
import { Pod } from 'tsop/kinds'

const Shop = resource({
  group: 'shop.example.com', version: 'v2', kind: 'Shop', spec: z.object({ size: z.int().optional() }),
  versions: [{ version: 'v1', spec: z.object({ width: z.int() }), to: (o) => ({ spec: { size: o.spec.width } }), from: (o) => ({ spec: { width: o.spec.size } }) }],
})

export class Handler {
  @validates(Shop, { on: ['delete'] }) keep() { throw new Invalid('it stays') }
  @defaults(Shop) fill(shop) { shop.spec.size ??= 3 }
  @onReconcile(Shop)
  async reconcile({ spec, metadata: { name, namespace } }, ctx) {
    if (spec.size === (name === 'old' ? 7 : 3)) await ctx.client.find(Pod, { name, namespace })
    else throw new Error('nobody asked')
  }
}
`
    const old = '{ apiVersion: shop.example.com/v1, kind: Shop, metadata: { name: old }, spec: { width: 7 } }'
    const young = '{ apiVersion: shop.example.com/v2, kind: Shop, metadata: { name: young }, spec: {} }'
    project = new Project({ 'handlers/h.ts': handler, 'sample.yaml': `${old}\n---\n${young}\n` })
    const { code, stderr } = await project.run(OBSERVE, { command: 'tsop' })
    expect(stderr).to.contain('  get: pods\n').and.not.contain('nobody asked')
    expect(stderr).to.contain('it may not be deleted, so that its clean-up is not seen')
    expect(code).to.equal(0)
  })

  it('adds what the handlers ask for and do not say, and tells how to say it', async () => {
    project = new Project({ 'handlers/h.ts': HANDLER(''), 'sample.yaml': SAMPLE })
    const { code, stdout, stderr } = await project.run(OBSERVE, { command: 'tsop' })
    expect(code).to.equal(0)
    expect(stdout).to.match(/\+ {2}- pods\n\+ {2}verbs:\n\+ {2}- list\n/)
    expect(stderr).to.match(/^beyond what the handlers say, and added; say it with `uses` of @onReconcile.*:\n {2}list: pods$/m)
    expect(stderr).to.match(/^allowed and not asked for in this time:\n[\s\S]*events/m)
  })

  it('adds nothing where they have said it', async () => {
    project = new Project({ 'handlers/h.ts': HANDLER(", uses: [{ kind: Pod, verbs: ['list'] }]"), 'sample.yaml': SAMPLE })
    const { code, stderr } = await project.run(OBSERVE, { command: 'tsop' })
    expect(code).to.equal(0)
    expect(stderr).to.not.include('beyond what the handlers say')
  })

  it('is needed for its options', async () => {
    project = new Project({ 'handlers/h.ts': HANDLER('') })
    const { code, stderr } = await project.run(['generate', 'rbac', '--apply', 'x'], { command: 'tsop' })
    expect([code, stderr]).to.deep.equal([2, 'tsop: --apply is for --observe; see tsop generate rbac --help\n'])
  })
})
