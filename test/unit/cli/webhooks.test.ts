import fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { parseOptions } from '../../../lib/cli/options.ts'
import { createServer } from '../../../lib/embedded/server.ts'
import { Project } from './project.ts'

const HANDLER = `
import { defaults, Invalid, onReconcile, type Resource, resource, validates, z } from 'tsop'

export const Box = resource({
  group: 'shop.example.com', version: 'v1', kind: 'Box',
  spec: z.object({ size: z.int(), colour: z.string().optional() }),
  versions: [{
    version: 'v1alpha1',
    spec: z.object({ dimension: z.string(), colour: z.string().optional() }),
    to: ({ spec: { dimension, ...rest } }) => ({ spec: { ...rest, size: Number.parseInt(dimension) } }),
    from: ({ spec: { size, ...rest } }) => ({ spec: { ...rest, dimension: size + 'cm' } }),
  }],
})
type Box = Resource<typeof Box>

export class BoxHandler {
  @defaults(Box) fill(box: Box) { box.spec.colour ??= 'red' }
  @validates(Box) validate(box: Box) { if (box.spec.size > 9) throw new Invalid('too big', { field: 'spec.size' }) }
  @onReconcile(Box) reconcile(box: Box) { console.log('reconciled', box.metadata.name, box.spec.size, box.spec.colour) }
}
`
const box = (name: string, dimension: string) =>
  JSON.stringify({ apiVersion: 'shop.example.com/v1alpha1', kind: 'Box', metadata: { name }, spec: { dimension } })

describe('tsop-run with handlers that answer the API server', function () {
  this.timeout(60_000)
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })
  const project = (files: Record<string, string> = {}) => {
    const p = new Project({ 'handlers/box.ts': HANDLER, ...files })
    ends.push(() => p.remove())
    return p
  }
  const server = (p: Project): string => JSON.parse(fs.readFileSync(join(p.path, '.tsop/kubeconfig'), 'utf8')).clusters[0].cluster.server
  const create = async (url: string, name: string, dimension: string) => {
    const answer = await fetch(`${url}/apis/shop.example.com/v1alpha1/namespaces/default/boxes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: box(name, dimension),
    })
    const { message } = (await answer.json()) as { message?: string }
    return `${answer.status} ${message ?? ''}`
  }

  it('asks them in the same process on the embedded server, samples included', async () => {
    const p = project({ 'samples/a.json': box('a', '5cm') })
    const running = p.start(['--apply', 'samples'])
    await running.hears(/reconciled a 5 red/)
    expect(await create(server(p), 'b', '10cm'))
      .to.contain('422 ')
      .and.to.contain('Box.shop.example.com "b" is invalid: spec.size: too big')
    running.child.kill('SIGTERM')
    expect((await running.ended).code).to.equal(0)
  })

  it("asks them about kinds of Kubernetes in the namespace default, too, which is nobody's home here", async () => {
    const p = project({
      'handlers/box.ts': `
import { Invalid, onReconcile, validates } from 'tsop'
import { ConfigMap } from 'tsop/kinds'
export class MapHandler {
  @validates(ConfigMap) validate(map: ConfigMap) { if (map.data?.size === '10') throw new Invalid('too big') }
  @onReconcile(ConfigMap) reconcile(map: ConfigMap) { console.log('reconciled', map.metadata.name) }
}`,
      'samples/a.json': JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
    })
    const running = p.start(['--apply', 'samples'])
    await running.hears(/reconciled a/)
    const answer = await fetch(`${server(p)}/api/v1/namespaces/default/configmaps`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data: { size: '10' } }),
    })
    expect(await answer.text()).to.contain('too big')
  })

  it('refuses a sample that they refuse, and says why', async () => {
    const p = project({ 'samples/a.json': box('a', '10cm') })
    const { code, stderr } = await p.run(['--apply', 'samples'])
    expect(code).to.equal(4)
    expect(stderr).to.contain('spec.size: too big')
  })

  it('goes on asking the new code in watch mode', async () => {
    const p = project()
    const running = p.start(['--watch'])
    await running.hears(/"msg":"ready"/)
    expect(await create(server(p), 'a', '10cm')).to.contain('spec.size: too big')
    p.write('handlers/box.ts', HANDLER.replace('too big', 'far too big'))
    await running.hears(/"msg":"ready"/, 2)
    expect(await create(server(p), 'a', '10cm')).to.contain('spec.size: far too big')
    running.child.kill('SIGTERM')
    await running.ended
  })

  it('is asked again after it was killed, however it was asked before, on a server whose objects are kept', async () => {
    const p = project()
    for (const [i, args] of [['--watch'], [], ['--watch']].entries()) {
      const running = p.start(['--persist', 'state', ...args])
      await running.hears(/"msg":"ready"/)
      expect(await create(server(p), `a-${i}`, '10cm'), args.join()).to.contain('spec.size: too big')
      expect(await create(server(p), `a-${i}`, '1cm'), args.join()).to.contain('201')
      running.child.kill('SIGKILL')
      await running.ended
    }
  })

  it('says what a cluster that cannot reach it will not do, and refuses to install conversions there', async () => {
    const cluster = await createServer({ port: 0 })
    ends.push(() => cluster.close())
    const p = project({ 'cluster.json': JSON.stringify(cluster.kubeconfig()) })
    const running = p.start(['--kubeconfig', 'cluster.json'])
    await running.hears(/cannot ask this process/)
    expect(running.said)
      .to.contain('BoxHandler.fill(), BoxHandler.validate(), conversions of Box.shop.example.com will not be called')
      .and.to.contain('--webhook-url https://HOST:9443')
    running.child.kill('SIGTERM')
    await running.ended
    const { code, stderr } = await p.run(['--kubeconfig', 'cluster.json', '--install-crds'])
    expect(code).to.equal(3)
    expect(stderr).to.contain('cannot install the definition boxes.shop.example.com: its versions have conversions')
  })

  it('loads nothing of it for handlers that need none', async () => {
    const plain =
      "import { onReconcile } from 'tsop'\nimport { ConfigMap } from 'tsop/kinds'\nexport class Plain { @onReconcile(ConfigMap) reconcile() {} }\n"
    const p = new Project({ 'handlers/plain.ts': plain })
    ends.push(() => p.remove())
    const running = p.start([])
    await running.hears(/"msg":"ready"/)
    expect(running.said).to.not.match(/webhook|certificate/)
    running.child.kill('SIGTERM')
    await running.ended
  })
})

describe('the options of webhooks', () => {
  const of = (...args: string[]) => parseOptions(args).webhooks

  it('are none by default', () => {
    expect(of()).to.deep.equal({ port: undefined, certificates: undefined, service: undefined, url: undefined })
    expect(of('--webhook-port', '0', '--webhook-cert-path=/certs', '--webhook-service', 'a')).to.deep.include({
      port: 0,
      certificates: '/certs',
      service: 'a',
    })
    expect(of('--webhook-url', 'https://192.0.2.1:9443').url?.host).to.equal('192.0.2.1:9443')
  })

  const wrong: [string[], RegExp][] = [
    [['--webhook-port', 'x'], /--webhook-port x: expected a port, or 0 for none/],
    [['--webhook-port', '65536'], /expected a port/],
    [['--webhook-service', 'A_b'], /expected the name of a Service/],
    [['--webhook-url', 'http://a'], /expected a URL such as https/],
    [['--webhook-url', 'https://user@a'], /expected a URL such as https/],
    [['--webhook-url', 'https://a', '--webhook-service', 'b'], /contradict/],
    [['--webhook-url', 'https://a', '--webhook-port', '0'], /contradict/],
  ]
  for (const [args, message] of wrong)
    it(`are not ${args.join(' ')}`, () => {
      expect(() => parseOptions(args))
        .to.throw(CliError, message)
        .with.property('exitCode', 2)
    })
})
