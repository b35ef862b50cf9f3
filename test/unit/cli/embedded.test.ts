import fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { kubeconfig, Project, type Running } from './project.ts'

const HANDLER = `
import { type Context, onReconcile, owns, type Resource, requeueAfter, resource, z } from 'tsop'
import { Deployment } from 'tsop/kinds'

export const Site = resource({
  group: 'web.example.com', version: 'v1', kind: 'Site',
  spec: z.object({ image: z.string().min(1) }),
  status: z.object({ available: z.int().optional() }),
})

export class SiteHandler {
  @owns(Deployment)
  deployment({ metadata, spec: { image } }: Resource<typeof Site>) {
    const labels = { site: metadata.name }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } }
    return { spec: { selector: { matchLabels: labels }, template } }
  }

  @onReconcile(Site)
  reconcile(site: Resource<typeof Site>, ctx: Context<Resource<typeof Site>>) {
    ctx.status.available = ctx.child(Deployment)?.status?.availableReplicas ?? 0
    if (ctx.status.available < 1) return requeueAfter('1m', { reason: 'PodsStarting' })
    console.log('version 1 serves ' + site.metadata.name)
  }
}
`
const site = (name: string) => JSON.stringify({ apiVersion: 'web.example.com/v1', kind: 'Site', metadata: { name }, spec: { image: 'i' } })
const shop = async (server: string) => {
  const answer = await fetch(`${server}/apis/web.example.com/v1/namespaces/default/sites/shop`)
  return (await answer.json()) as { metadata: { uid: string }; status: { available: number } }
}
const SERVES = /version 1 serves shop/

describe('tsop-run without a cluster', function () {
  this.timeout(60_000)
  const projects: Project[] = []
  const project = (files: Record<string, string> = {}) => {
    const p = new Project({ 'handlers/site.ts': HANDLER, 'samples/shop.json': site('shop'), ...files })
    projects.push(p)
    return p
  }
  const file = (p: Project, name: string) => join(p.path, name)
  const server = (p: Project): string => JSON.parse(fs.readFileSync(file(p, '.tsop/kubeconfig'), 'utf8')).clusters[0].cluster.server
  const end = async (running: Running) => {
    running.child.kill('SIGTERM')
    return (await running.ended).code
  }

  afterEach(async () => {
    for (const p of projects.splice(0)) await p.remove()
  })

  it('brings an API server, installs what the handlers define, and serves samples until they are ready', async () => {
    const p = project()
    const running = p.start(['--apply', 'samples', '--log-format', 'pretty'])
    await running.hears(SERVES)
    expect(running.said).to.match(/cluster +http:\/\/127\.0\.0\.1:\d+, embedded: for development only, nothing really runs/)
    expect(running.said).to.contain(`export KUBECONFIG=${file(p, '.tsop/kubeconfig')}`)
    expect((await shop(server(p))).status.available).to.equal(1)
    expect(await end(running)).to.equal(0)
  })

  it('says without a terminal, too, how to reach it, and its log stays JSON', async () => {
    const p = project({ 'it has spaces/handlers/site.ts': HANDLER })
    const running = p.start([], { cwd: 'it has spaces' })
    await running.hears(/^export KUBECONFIG=/m)
    running.child.kill('SIGTERM')
    const { stdout, stderr } = await running.ended
    expect(stderr).to.match(/^tsop-run: http:\/\/127\.0\.0\.1:\d+ is embedded, for development only\n/)
    expect(stderr.split('\n').slice(1)).to.deep.equal([`export KUBECONFIG='${file(p, 'it has spaces/.tsop/kubeconfig')}'`, ''])
    for (const line of stdout.trim().split('\n')) expect(() => JSON.parse(line), line).to.not.throw()
  })

  it('waits with --once until the workloads run, and ends with 0', async () => {
    const p = project()
    const { code, stdout } = await p.run(['--apply', 'samples', '--once'])
    expect(code, stdout).to.equal(0)
    expect(stdout)
      .to.match(/"waits up to 1m for Site\.web\.example\.com default\/shop"/)
      .and.match(SERVES)
  })

  it('logs once what is wrong with an annotation for its simulation', async () => {
    const metadata = "metadata: { labels, annotations: { 'simulate.tsop.dev/ready-after': 'soon' } }"
    const p = project({ 'handlers/site.ts': HANDLER.replace('metadata: { labels }', metadata) })
    const { code, stdout, stderr } = await p.run(['--apply', 'samples', '--once'])
    expect(code, stderr).to.equal(0)
    const warnings = stdout.split('\n').filter((line) => line.includes('"level":"warn"'))
    expect(warnings.map((line) => JSON.parse(line).msg.replace(/shop-\S+:/, 'shop:'))).to.deep.equal([
      'Pod default/shop: simulate.tsop.dev/ready-after: "soon" is ignored: it takes seconds, or a duration such as 1m30s',
    ])
  })

  it('leaves nothing behind where it does not start, but a file that --persist put there', async () => {
    const p = project({ 'samples/shop.json': '{"apiVersion":"web.example.com/v1","kind":"Site","metadata":{"name":"shop"},"spec":{}}' })
    const failed = await p.run(['--apply', 'samples'])
    expect(failed.code).to.equal(4)
    expect(fs.existsSync(file(p, '.tsop'))).to.equal(false)
    expect((await p.run(['--apply', 'samples', '--persist', '.tsop/state'])).code).to.equal(4)
    expect(fs.readdirSync(file(p, '.tsop')).sort())
      .to.include('.gitignore')
      .and.not.include('kubeconfig')
  })

  it('leaves no kubeconfig behind that leads nowhere, and nothing for git to see', async () => {
    const p = project()
    const running = p.start([])
    await running.hears(/"msg":"ready"/)
    expect(fs.statSync(file(p, '.tsop/kubeconfig')).mode & 0o777).to.equal(0o600)
    expect(fs.readFileSync(file(p, '.tsop/.gitignore'), 'utf8')).to.equal('*\n')
    await end(running)
    expect(fs.existsSync(file(p, '.tsop/kubeconfig'))).to.equal(false)
  })

  it('leaves none when it is ended at once, nor when its terminal closes', async () => {
    const p = project()
    const running = p.start([])
    await running.hears(/"msg":"ready"/)
    running.child.kill('SIGHUP')
    expect((await running.ended).code).to.equal(0)
    expect(fs.existsSync(file(p, '.tsop/kubeconfig'))).to.equal(false)
    const impatient = p.start([])
    await impatient.hears(/"msg":"ready"/)
    impatient.child.kill('SIGTERM')
    impatient.child.kill('SIGINT')
    await impatient.ended
    expect(fs.existsSync(file(p, '.tsop/kubeconfig'))).to.equal(false)
  })

  it('starts anew where KUBECONFIG still names the server of a process that was killed', async () => {
    const p = project()
    const env = { KUBECONFIG: file(p, '.tsop/kubeconfig') }
    const killed = p.start([], { env })
    await killed.hears(/"msg":"ready"/)
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(fs.existsSync(env.KUBECONFIG)).to.equal(true)
    const running = p.start(['--apply', 'samples'], { env })
    await running.hears(SERVES)
    expect(await end(running)).to.equal(0)
  })

  it('joins the server that KUBECONFIG names while it lives', async () => {
    const p = project()
    const env = { KUBECONFIG: file(p, '.tsop/kubeconfig') }
    const first = p.start([])
    await first.hears(/"msg":"ready"/)
    const second = p.start([], { env })
    await second.hears(/"msg":"ready"/)
    expect(second.said).to.contain(`"server":"${server(p)}"`)
    await end(second)
    expect(fs.existsSync(env.KUBECONFIG), 'the file belongs to the first').to.equal(true)
    await end(first)
  })

  it('keeps what is in the server when new code replaces the old with --watch', async () => {
    const p = project()
    const running = p.start(['--watch', '--apply', 'samples'])
    await running.hears(SERVES)
    const before = server(p)
    const { uid } = (await shop(before)).metadata
    p.write('handlers/site.ts', HANDLER.replace('version 1', 'version 2'))
    await running.hears(/version 2 serves shop/)
    expect(server(p)).to.equal(before)
    expect((await shop(before)).metadata.uid).to.equal(uid)
    expect(await end(running)).to.equal(0)
    expect(fs.existsSync(file(p, '.tsop/kubeconfig'))).to.equal(false)
  })

  it('takes a sample that was repaired with --watch, after one that was refused', async () => {
    const p = project({ 'samples/shop.json': '{}', 'samples/more.yaml': 'spec: {}\n' })
    const running = p.start(['--watch', '--apply', 'samples'])
    await running.hears(/ended with exit code 3; waiting for a change/)
    fs.rmSync(file(p, 'samples/more.yaml'))
    await running.hears(/ended with exit code 3; waiting for a change/, 2)
    p.write('samples/shop.json', site('shop'))
    await running.hears(SERVES)
    expect(await end(running)).to.equal(0)
  })

  it('keeps it in a file from one start to the next with --persist', async () => {
    const p = project()
    const first = p.start(['--persist', 'state/cluster', '--apply', 'samples'])
    await first.hears(SERVES)
    await end(first)
    const second = p.start(['--persist', 'state/cluster'])
    await second.hears(SERVES)
    expect(await end(second)).to.equal(0)
  })

  it('is asked for with --embedded where there is a cluster', async () => {
    const p = project({ '.kube/config': kubeconfig('http://127.0.0.1:9') })
    const running = p.start(['--embedded', '--apply', 'samples'])
    await running.hears(SERVES)
    expect(await end(running)).to.equal(0)
  })

  it('refuses options that make no sense together, and a file that is something else', async () => {
    const p = project({ '.kube/config': kubeconfig('http://127.0.0.1:9'), 'notes.txt': 'hello\n' })
    const said = async (...args: string[]) => {
      const { code, stderr } = await p.run(args)
      return [code, stderr.trim()]
    }
    expect(await said('--embedded', '--kubeconfig', 'x')).to.deep.equal([
      2,
      'tsop-run: --embedded and --kubeconfig contradict each other; see tsop-run --help',
    ])
    expect(await said('--persist', 'state')).to.deep.equal([
      2,
      'tsop-run: --persist is for the embedded API server, and there is a cluster; add --embedded',
    ])
    expect(await said('--embedded', '--persist', 'notes.txt')).to.deep.equal([
      3,
      'tsop-run: the embedded API server does not start: notes.txt: is no file of an embedded API server; name another one',
    ])
  })
})
