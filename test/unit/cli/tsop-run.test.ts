import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { FakeApiServer } from './fake-api-server.ts'
import { kubeconfig, Project, type RunOptions, widgetHandler } from './project.ts'

describe('tsop-run, the real process', function () {
  this.timeout(60_000)
  const projects: Project[] = []
  const servers: FakeApiServer[] = []
  afterEach(async () => {
    for (const project of projects.splice(0)) await project.remove()
    for (const server of servers.splice(0)) await server.stop()
  })

  function project(files: Record<string, string> = { 'handlers/widget.ts': widgetHandler() }): Project {
    const made = new Project(files)
    projects.push(made)
    return made
  }

  async function apiServer(): Promise<FakeApiServer> {
    const server = await new FakeApiServer().start()
    servers.push(server)
    return server
  }

  async function connected(files?: Record<string, string>) {
    const server = await apiServer()
    const p = project(files)
    p.write('kubeconfig', kubeconfig(server.url))
    const options: RunOptions = { env: { KUBECONFIG: join(p.path, 'kubeconfig') } }
    return { server, p, options }
  }

  /** Of a process that tells one line on standard error. */
  function oneLine(stderr: string): string {
    expect(stderr).to.match(/^tsop-run: [^\n]+\n$/)
    return stderr
  }

  describe('without a cluster', () => {
    it('prints the version', async () => {
      for (const [command, args] of [
        ['tsop-run', ['--version']],
        ['tsop', ['version']],
      ] as const) {
        expect(await project().run(args, { command })).to.deep.equal({ code: 0, stdout: '0.1.0\n', stderr: '' })
      }
    })

    it('prints its help', async () => {
      const { code, stdout } = await project().run(['--help'])
      expect(code).to.equal(0)
      expect(stdout).to.contain('Usage: tsop-run').and.to.contain('--install-crds')
    })

    it('is tsop run as well', async () => {
      const { code, stdout } = await project().run(['run', '--check'], { command: 'tsop' })
      expect([code, stdout]).to.deep.equal([0, 'Widget.example.com: WidgetHandler in handlers/widget.ts\n'])
    })

    for (const [args, expected] of [
      [['version', 'extra'], 'tsop: version takes no arguments, but got extra; see tsop version --help\n'],
      [['--version', 'a', 'b'], 'tsop: version takes no arguments, but got a b; see tsop version --help\n'],
      [['help', 'init'], 'tsop: help takes no arguments, but got init; see tsop init --help\n'],
      [['run', '--version', 'x'], 'tsop-run: --version takes no arguments, but got x; see tsop-run --help\n'],
    ] as const) {
      it(`refuses what nobody asked for: tsop ${args.join(' ')}`, async () => {
        expect(await project().run(args, { command: 'tsop' })).to.deep.equal({ code: 2, stdout: '', stderr: expected })
      })
    }

    it('has a help for every command, also for those that take nothing', async () => {
      for (const args of [['version', '--help'], ['help', '-h'], ['--help']]) {
        const { code, stdout } = await project().run(args, { command: 'tsop' })
        expect([code, stdout.split(' ').slice(0, 2)]).to.deep.equal([0, ['Usage:', 'tsop']])
      }
    })

    it('refuses an unknown option and an unknown command', async () => {
      const option = await project().run(['--onse'])
      expect(option.code).to.equal(2)
      expect(oneLine(option.stderr)).to.contain('did you mean --once?')
      const command = await project().run(['rum'], { command: 'tsop' })
      expect([command.code, command.stderr]).to.deep.equal([2, 'tsop: unknown command rum (did you mean run?); see tsop help\n'])
    })

    it('misses a kubeconfig in one line, and shows the stack with --debug', async () => {
      const p = project()
      const { code, stderr } = await p.run(['--kubeconfig', 'nope'])
      expect(code).to.equal(3)
      expect(oneLine(stderr)).to.contain('nope').and.to.contain('--kubeconfig')
      expect((await p.run(['--kubeconfig', 'nope', '--debug'])).stderr).to.match(/\n +at /)
    })

    it('names the line of a handler that does not load', async () => {
      const p = project({ 'handlers/a.ts': 'const x = {\n  a: 1,\n  b 2,\n}\n' })
      const { code, stderr } = await p.run(['--check'])
      expect(code).to.equal(3)
      expect(stderr).to.equal('tsop-run: handlers/a.ts:3:5: syntax error: Expected "}" but found "2"\n  3 |   b 2,\n          ^\n')
    })

    it('checks the definitions as an API server would', async () => {
      const p = project({
        'handlers/a.ts': `
import { onReconcile, resource, z } from 'tsop'
const rule = { rule: 'self.size > 0 &&' }
const Box = resource({ group: 'example.com', version: 'v1', kind: 'Box', spec: z.object({ size: z.int() }).meta({ 'x-kubernetes-validations': [rule] }) })
export class BoxHandler {
  @onReconcile(Box)
  reconcile() {}
}
`,
      })
      const { code, stdout, stderr } = await p.run(['--check'])
      expect([code, stdout]).to.deep.equal([3, ''])
      expect(stderr).to.contain('an API server would refuse this').and.to.contain('Box: spec.x-kubernetes-validations[0].rule')
    })

    it('names the line of a handler that throws while loading', async () => {
      const p = project({ 'handlers/a.ts': '\nthrow new Error("DB_URL is not set")' })
      const { code, stderr } = await p.run(['--check'])
      expect(code).to.equal(3)
      expect(stderr).to.match(/^tsop-run: handlers\/a.ts:2:7: Error: DB_URL is not set\n {2}2 \| throw .*\n +\^\n$/)
    })

    it('names a promise that a handler file forgot', async () => {
      const p = project({
        'handlers/a.ts': `void Promise.reject(new Error('nobody waits'))\nawait new Promise((r) => setTimeout(r, 5000))\n${widgetHandler()}`,
      })
      p.write('kubeconfig', kubeconfig('http://127.0.0.1:9'))
      const { code, stderr } = await p.run(['--kubeconfig', 'kubeconfig', '--log-level', 'silent'])
      expect([code, stderr]).to.deep.equal([1, 'tsop-run: nobody waits; --debug shows more\n'])
    })

    it('loads handlers from whatever directory it is started in', async () => {
      const p = project({ 'one/handlers/a.ts': widgetHandler(), 'two/readme.md': '' })
      const { code, stdout } = await p.run(['--check', '../one/handlers'], { cwd: 'two' })
      expect([code, stdout]).to.deep.equal([0, `Widget.example.com: WidgetHandler in ${join(p.path, 'one/handlers/a.ts')}\n`])
    })

    for (const type of ['module', 'commonjs']) {
      it(`gives handlers (${type}) the copy of tsop that runs them`, async () => {
        const p = project({
          'package.json': JSON.stringify({ type }),
          'handlers/helper.ts': 'export const help: number = 1',
          'handlers/widget.ts': `import { help } from './helper'\nexport const h = help\n${widgetHandler()}`,
          'loads.mjs': `
            import { registerHooks } from 'node:module'
            registerHooks({ load(url, context, next) {
              if (url.includes('/lib/resource/kind.ts')) console.log('loads ' + url)
              return next(url, context)
            }})`,
        })
        const { code, stdout } = await p.run(['--check'], { env: { NODE_OPTIONS: `--import=${join(p.path, 'loads.mjs')}` } })
        expect(code, stdout).to.equal(0)
        expect(stdout.match(/^loads .*/gm), stdout).to.have.lengthOf(1)
      })
    }
  })

  describe('with a cluster', () => {
    it('loads neither TypeScript compiler nor pretty printer nor YAML for compiled handlers, and nothing to count or trace with', async () => {
      const { p, options } = await connected({
        'handlers/a.js': widgetHandler()
          .replace('@onReconcile(WidgetKind)', '')
          .replace('object: unknown', 'object')
          .concat(`
          onReconcile(WidgetKind)(WidgetHandler.prototype, 'reconcile', Object.getOwnPropertyDescriptor(WidgetHandler.prototype, 'reconcile'))`),
        'loads.mjs': `
          import { registerHooks } from 'node:module'
          registerHooks({ load(url, context, next) {
            const [, name] = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
            if (name) console.log('loads ' + name)
            return next(url, context)
          }})`,
      })
      const { stdout, code } = await p.run(['--once'], { env: { ...options.env, NODE_OPTIONS: `--import=${join(p.path, 'loads.mjs')}` } })
      expect(code, stdout).to.equal(0)
      const loaded = new Set(stdout.match(/(?<=^loads ).*/gm))
      expect(loaded).to.include('pino')
      for (const name of ['tsx', 'esbuild', 'pino-pretty', 'js-yaml', '@kubernetes/client-node', 'prom-client', '@opentelemetry/api'])
        expect([...loaded]).to.not.include(name)
    })

    it('says what it serves in one structured line, drains on SIGTERM and exits with 0', async () => {
      const { p, options, server } = await connected()
      const running = p.start(['-n', 'shop', '--concurrency', 'widget=7'], options)
      await running.hears(/"msg":"ready"/)
      const line = JSON.parse(running.said.split('\n').find((l) => l.includes('"ready"')) ?? '{}')
      expect(line).to.deep.include({ name: 'shop-operator', server: server.url, context: 'fake-context', namespaces: ['shop'] })
      expect(line.controllers).to.deep.equal([{ kindName: 'Widget.example.com', owns: [], watches: [], concurrency: 7, state: 'running' }])
      running.child.kill('SIGTERM')
      const { code, stderr } = await running.ended
      expect([code, stderr]).to.deep.equal([0, ''])
    })

    it('prints a banner of a few lines for people', async () => {
      const { p, options } = await connected()
      const running = p.start(['--log-format', 'pretty'], options)
      await running.hears(/at once/)
      running.child.kill('SIGINT')
      const { code, stdout } = await running.ended
      expect(code).to.equal(0)
      expect(stdout).to.match(/tsop 0\.1\.0 · shop-operator ready in \d+ ms/)
      expect(stdout).to.match(/cluster +http:\/\/127.0.0.1:\d+, context fake-context\n/)
      expect(stdout).to.match(/namespaces +all/)
      expect(stdout).to.match(/reconciles +Widget\.example\.com \d+ at once/)
    })

    it('ends at once on a second signal', async () => {
      const { p, options, server } = await connected({
        'handlers/widget.ts': widgetHandler({ body: "console.log('begins'); await new Promise(() => setInterval(() => {}, 1000))" }),
      })
      server.objects.set('/apis/example.com/v1/widgets', [widget('slow')])
      const running = p.start([], options)
      await running.hears(/begins/)
      running.child.kill('SIGTERM')
      await running.hears(/stopping/)
      running.child.kill('SIGTERM')
      expect((await running.ended).code).to.equal(143)
    })

    it('gives running reconciles their time', async () => {
      const { p, options, server } = await connected({
        'handlers/widget.ts': widgetHandler({
          body: "console.log('begins'); await new Promise((r) => process.once('SIGTERM', () => setTimeout(r, 300))); console.log('ends')",
        }),
      })
      server.objects.set('/apis/example.com/v1/widgets', [widget('slow')])
      const running = p.start([], options)
      await running.hears(/begins/)
      running.child.kill('SIGTERM')
      const { code, stdout } = await running.ended
      expect([code, /ends/.test(stdout)]).to.deep.equal([0, true])
    })

    it('survives a server that throttles everything for a while', async () => {
      const { p, options, server } = await connected()
      let refusals = 3
      server.override = () => (refusals-- > 0 ? { status: 429, headers: { 'retry-after': '0' } } : undefined)
      const running = p.start([], options)
      await running.hears(/"msg":"ready"/)
      expect(running.said).to.match(/"level":"warn".*does not answer yet.*429/)
      running.child.kill('SIGTERM')
      expect((await running.ended).code).to.equal(0)
    })

    it('waits for a server that is not there yet, and starts once it is', async () => {
      const { p, options, server } = await connected()
      await server.stop()
      const running = p.start([], options)
      await running.hears(/connection refused/)
      await server.start()
      await running.hears(/"msg":"ready"/)
      running.child.kill('SIGTERM')
      expect((await running.ended).code).to.equal(0)
    })

    it('gives up at once on a server that speaks no TLS though it should', async () => {
      const { p, options, server } = await connected()
      p.write('kubeconfig', kubeconfig(server.url.replace('http:', 'https:')))
      const { code, stderr } = await p.run([], options)
      expect(code).to.equal(4)
      expect(oneLine(stderr)).to.match(/no TLS connection.*scheme/)
    })

    it('says that the credentials are not accepted', async () => {
      const { p, options, server } = await connected()
      server.override = () => ({ status: 401 })
      const { code, stderr } = await p.run([], options)
      expect(code).to.equal(4)
      expect(oneLine(stderr)).to.contain('does not accept the credentials of context "fake-context"')
    })

    it('refuses a concurrency for a kind that nobody reconciles', async () => {
      const { p, options } = await connected()
      const { code, stderr } = await p.run(['--concurrency', 'Wigdet=3'], options)
      expect(code).to.equal(2)
      expect(oneLine(stderr)).to.contain('did you mean Widget?')
    })

    it('runs every object once and exits with 0 with --once', async () => {
      const { p, options, server } = await connected({
        'handlers/widget.ts': widgetHandler({ body: "console.log('ran', (object as any).metadata.name)" }),
      })
      server.objects.set('/apis/example.com/v1/widgets', [widget('a'), widget('b')])
      const { code, stdout } = await p.run(['--once'], options)
      expect(code, stdout).to.equal(0)
      expect(stdout.match(/ran \w/g)?.sort()).to.deep.equal(['ran a', 'ran b'])
    })

    it('names with --once what failed, and exits with 1', async () => {
      const { p, options, server } = await connected({
        'handlers/widget.ts': widgetHandler({ body: "if ((object as any).metadata.name === 'b') throw new Error('no luck')" }),
      })
      server.objects.set('/apis/example.com/v1/widgets', [widget('a'), widget('b')])
      const { code, stdout } = await p.run(['--once'], options)
      expect(code, stdout).to.equal(1)
      const last = stdout
        .trim()
        .split('\n')
        .filter((line) => line.includes('not done'))
      expect(last).to.have.lengthOf(1)
      expect(JSON.parse(last[0] ?? '')).to.deep.include({ level: 'error', controller: 'Widget.example.com', name: 'shop/b' })
    })

    it('says what to do about a kind that is not installed, and that it is served once it is', async () => {
      const own = `
        import { kind, onReconcile, owns, resource, z } from 'tsop'
        const Widget = resource({ group: 'example.com', version: 'v1', kind: 'Widget', spec: z.object({}) })
        export class WidgetHandler { @onReconcile(Widget) async reconcile() {} }
        export class OtherHandler {
          @owns(kind('other.com/v1', 'Part')) part() { return {} }
          @onReconcile(kind('v1', 'Thing', { plural: 'things', scope: 'Namespaced' })) async reconcile() {}
        }`
      const { p, options, server } = await connected({ 'handlers/widget.ts': own })
      let there = false
      const body = {
        resources: [
          { name: 'parts', kind: 'Part', namespaced: true, verbs: [] },
          { name: 'things', kind: 'Thing', namespaced: true, verbs: [] },
        ],
      }
      server.override = ({ path }) => {
        if (path === '/api/v1') return { status: 200, body }
        if (!/example\.com|other\.com/.test(path)) return undefined
        if (!there) return { status: 404 }
        return path === '/apis/other.com/v1' ? { status: 200, body } : undefined
      }
      const running = p.start([], options)
      await running.hears(/"msg":"started;/)
      const line = JSON.parse(running.said.split('\n').find((l) => l.includes('"started;')) ?? '{}')
      expect(line.level).to.equal('warn')
      expect(line.msg).to.equal(
        'started; 2 of 2 kinds wait: Part.other.com is not installed in the cluster; install its definition; Widget.example.com is not installed in the cluster; run with --install-crds',
      )
      there = true
      await running.hears(/every kind is served now/)
      running.child.kill('SIGTERM')
      expect((await running.ended).stdout).to.contain('"signal":"SIGTERM"')
    })

    it('warns of a namespace that does not exist, and only where that can be known', async () => {
      const { p, options, server } = await connected()
      const notFound = { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message: 'not found', details: { name: 'shpo' } }
      server.override = ({ path }) => {
        if (path === '/api/v1/namespaces/shpo') return { status: 404, body: notFound }
        return path === '/api/v1/namespaces/secret' ? { status: 403 } : undefined
      }
      const { code, stdout } = await p.run(['-n', 'shop', '-n', 'shpo', '-n', 'secret', '--once'], options)
      expect(code, stdout).to.equal(0)
      expect(stdout.match(/"the namespace [^"]*/g)).to.deep.equal(['"the namespace shpo does not exist; it is served as soon as it does'])
    })

    it('tells with --once a wait from a failure, and counts both', async () => {
      const body = `
        const { name } = (object as any).metadata
        if (name === 'b') throw new Error('no luck')
        if (name === 'c') return requeueAfter('1m', { reason: 'PodsStarting', message: '0 of 1 pods' })`
      const handler = widgetHandler({ body }).replace('import {', 'import { requeueAfter,')
      const { p, options, server } = await connected({ 'handlers/widget.ts': handler })
      server.objects.set('/apis/example.com/v1/widgets', [widget('a'), widget('b'), widget('c')])
      const { code, stdout } = await p.run(['--once', '--timeout', '0s'], options)
      expect(code, stdout).to.equal(1)
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(lines.at(-1)).to.deep.include({ level: 'error', failed: 1, waiting: 1, msg: 'not all is done: 1 failed, 1 waits' })
      const wait = lines.find(({ msg }) => msg.startsWith('waits'))
      expect(wait).to.deep.include({ level: 'warn', name: 'shop/c', msg: 'waits: PodsStarting: 0 of 1 pods' })
    })

    it('applies definitions and manifests before it starts, as its own field manager', async () => {
      const { p, options, server } = await connected({
        'handlers/widget.ts': `
          import { onReconcile, resource, z } from 'tsop'
          const Widget = resource({ group: 'example.com', version: 'v1', kind: 'Widget', spec: z.object({ size: z.int() }) })
          export class WidgetHandler { @onReconcile(Widget) async reconcile() {} }`,
        'samples/b.yaml': 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n',
        'samples/a.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n',
      })
      server.override = ({ method, path }) => {
        if (method === 'GET' && path.startsWith('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/')) {
          return {
            status: 200,
            body: { metadata: { name: 'x' }, spec: { versions: [] }, status: { conditions: [{ type: 'Established', status: 'True' }] } },
          }
        }
        const resources = (name: string, kind: string, namespaced: boolean) => ({
          status: 200,
          body: { resources: [{ name, kind, namespaced, verbs: [] }] },
        })
        if (path === '/api/v1') return resources('namespaces', 'Namespace', false)
        if (path === '/apis/example.com/v1') return resources('widgets', 'Widget', true)
        return undefined
      }
      const { code, stdout } = await p.run(['--install-crds', '--apply', 'samples', '-n', 'shop', '--once'], options)
      expect(code, stdout).to.equal(0)
      const writes = server.requests.filter(({ method }) => method !== 'GET')
      expect(writes.map(({ method, path, query }) => `${method} ${path} ${query.get('fieldManager')}`)).to.deep.equal([
        'PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com tsop-run',
        'PATCH /api/v1/namespaces/shop tsop-run',
        'PATCH /apis/example.com/v1/namespaces/shop/widgets/w tsop-run',
      ])
    })

    it('shows why the server refuses a definition', async () => {
      const { p, options, server } = await connected({
        'handlers/widget.ts': `
          import { onReconcile, resource, z } from 'tsop'
          const Widget = resource({ group: 'example.com', version: 'v1', kind: 'Widget', spec: z.object({ size: z.int() }) })
          export class WidgetHandler { @onReconcile(Widget) async reconcile() {} }`,
      })
      server.override = ({ method }) =>
        method === 'PATCH'
          ? { status: 422, body: { kind: 'Status', code: 422, reason: 'Invalid', message: 'spec.scope: field is immutable' } }
          : undefined
      const { code, stderr } = await p.run(['--install-crds'], options)
      expect(code).to.equal(4)
      expect(oneLine(stderr)).to.match(/cannot install the definition widgets\.example\.com: .*field is immutable/)
    })

    it('writes nothing where a manifest is wrong', async () => {
      const { p, options, server } = await connected({ 'handlers/widget.ts': widgetHandler(), 'a.yaml': 'kind: Pod' })
      const { code, stderr } = await p.run(['--apply', 'a.yaml'], options)
      expect([code, oneLine(stderr)]).to.deep.equal([3, 'tsop-run: a.yaml:1: apiVersion is missing\n'])
      expect(server.requests.filter(({ method }) => method !== 'GET')).to.deep.equal([])
    })
  })

  describe('--watch', () => {
    it('starts new code after the old has drained, and keeps the old while the new does not load', async () => {
      const code = (version: number) =>
        `console.log('load ${version}')\nprocess.on('exit', () => console.log('exit ${version}'))\n${widgetHandler()}`
      const { p, options } = await connected({ 'handlers/widget.ts': code(1) })
      const running = p.start(['--watch'], options)
      await running.hears(/"msg":"ready"/)

      writeFileSync(join(p.path, 'handlers/widget.ts'), 'export const x = (\n')
      await running.hears(/the new code does not load; the old keeps running/)
      expect(running.said).to.match(/tsop-run: handlers\/widget\.ts:\d:\d+: syntax error/)
      expect(running.said).to.not.contain('exit 1')

      writeFileSync(join(p.path, 'handlers/widget.ts'), code(2))
      await running.hears(/"msg":"ready"/, 2)
      const said = ['restarting', 'exit 1', 'load 2'].map((text) => running.said.indexOf(text))
      // The trial load prints as well, but to nowhere.
      expect(said).to.deep.equal([...said].sort((x, y) => x - y))
      expect(said).to.not.include(-1)

      running.child.kill('SIGTERM')
      const { code: exit, stdout } = await running.ended
      expect(exit).to.equal(0)
      expect(stdout).to.contain('exit 2')
    })

    it('begins to run once code that never loaded does, also when it is a file that a handler imports', async () => {
      const { p, options } = await connected({
        'src/size.ts': 'export const size = 1',
        'handlers/widget.ts': `import '../src/size.ts'\n${widgetHandler()}`,
      })
      const running = p.start(['--watch'], options)
      await running.hears(/"msg":"ready"/)
      p.write('src/size.ts', 'export const size = 2')
      await running.hears(/"msg":"ready"/, 2)
      running.child.kill('SIGINT')
      expect((await running.ended).code).to.equal(0)

      const late = project({ 'handlers/widget.ts': 'const = 1' })
      late.write('kubeconfig', kubeconfig('http://127.0.0.1:9'))
      const second = late.start(['--watch', '--kubeconfig', 'kubeconfig'])
      await second.hears(/exit code 3; waiting for a change/)
      late.write('handlers/widget.ts', widgetHandler())
      await second.hears(/connection refused/)
      second.child.kill('SIGTERM')
      expect((await second.ended).code).to.equal(0)
    })
  })
})

function widget(name: string): Record<string, unknown> {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '5', generation: 1 },
  }
}
