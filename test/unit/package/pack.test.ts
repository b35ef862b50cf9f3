/** The package as users get it: packed, installed into an empty project, used there. */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const HANDLER = `
import { onDelete, onReconcile, owns, requeueAfter, resource, TerminalError, z, type Context, type Resource } from 'tsop'
import { ConfigMap } from 'tsop/kinds'

export const Widget = resource({
  group: 'example.com', version: 'v1', kind: 'Widget',
  spec: z.object({ size: z.int().default(1), message: z.string().optional() }),
})
export type Widget = Resource<typeof Widget>

export class WidgetHandler {
  @owns(ConfigMap)
  config(widget: Widget) {
    return { data: { size: String(widget.spec.size satisfies number) } }
  }

  @onReconcile(Widget, { concurrency: 2 })
  async reconcile(widget: Widget, ctx: Context<Widget>) {
    if (widget.spec.size > 9) throw new TerminalError('TooBig', 'at most 9')
    if (ctx.child(ConfigMap)?.data?.['size'] === undefined) return requeueAfter('1s')
  }

  @onDelete(Widget)
  async remove(_widget: Widget) {}
}
`

/** What a user's test looks like, whatever runs it. */
const STORY = `
import assert from 'node:assert/strict'
import { ConfigMap } from 'tsop/kinds'
import { embedded, ready } from 'tsop/testing'
import { Widget, WidgetHandler } from './widget.js'

export async function story(): Promise<void> {
  await using cluster = await embedded({ handlers: [WidgetHandler] })
  const ref = { name: 'a', namespace: 'default' }
  await cluster.apply({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: ref, spec: { size: 3 } })
  await cluster.until(() => cluster.client.get(Widget, ref), ready)
  assert.deepEqual((await cluster.client.get(ConfigMap, ref)).data, { size: '3' })
  await cluster.restart()
  await cluster.client.delete(Widget, ref)
  await cluster.settled()
  assert.equal(await cluster.client.find(ConfigMap, ref), undefined)
}
`

describe('the packed package', function () {
  this.timeout(300_000)
  const directory = mkdtempSync(join(tmpdir(), 'tsop-pack-'))
  const project = join(directory, 'project')
  let packed: string[]

  before(() => {
    // Built aside, for a build in the working copy would pull dist away under whoever uses it.
    const copy = join(directory, 'package')
    run('npx', ['tsc', '-p', 'tsconfig.build.json', '--outDir', join(copy, 'dist')], ROOT)
    run(process.execPath, ['scripts/copy-data.ts', join(copy, 'dist')], ROOT)
    for (const file of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE']) {
      if (existsSync(join(ROOT, file))) writeFileSync(join(copy, file), readFileSync(join(ROOT, file)))
    }
    const [tarball] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', directory], copy)) as [
      { filename: string; files: { path: string }[] },
    ]
    packed = tarball.files.map(({ path }) => path)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(directory, basename(tarball.filename))], project)
    mkdirSync(join(project, 'handlers'))
    writeFileSync(join(project, 'handlers/widget.ts'), HANDLER)
    writeFileSync(join(project, 'handlers/story.ts'), STORY)
  })

  after(() => rmSync(directory, { recursive: true, force: true }))

  it('has declarations and a source map for each file, and nothing but what is needed', () => {
    const files = readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' })
    const sources = files.filter((file) => file.endsWith('.ts'))
    const built = sources.flatMap((file) => ['.js', '.js.map', '.d.ts'].map((extension) => `dist/${file.replace(/\.ts$/, extension)}`))
    const data = files.filter((file) => file.endsWith('.br')).map((file) => `dist/${file}`)
    const expected = [...built, ...data]
    expect(packed).to.include.members(expected)
    const others = packed.filter((file) => !expected.includes(file))
    expect(['CHANGELOG.md', 'LICENSE', 'NOTICE', 'README.md', 'package.json']).to.include.members(others)
  })

  it('can be imported', () => {
    const code = `
      import { onReconcile, resource, z } from 'tsop'
      import { ConfigMap, Deployment } from 'tsop/kinds'
      console.log(typeof onReconcile, typeof resource, typeof z.object, ConfigMap.kind, Deployment.apiVersion)`
    expect(node(['--input-type=module', '--eval', code])).to.equal('function function function ConfigMap apps/v1\n')
  })

  it('has types with which a handler compiles, in both dialects of decorators', () => {
    for (const experimentalDecorators of [true, false]) {
      const compilerOptions = {
        target: 'es2022',
        lib: ['es2022', 'esnext.disposable', 'esnext.decorators'],
        module: 'nodenext',
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        types: [],
        experimentalDecorators,
      }
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['handlers'] }))
      run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'], project)
    }
  })

  it('brings the commands, which load a handler in TypeScript', () => {
    expect(run('npx', ['--no-install', 'tsop-run', '--version'], project)).to.equal('0.1.0\n')
    expect(run('npx', ['--no-install', 'tsop', 'version'], project)).to.equal('0.1.0\n')
    expect(run('npx', ['--no-install', 'tsop-run', '--check'], project)).to.equal(
      'Widget.example.com: WidgetHandler in handlers/widget.ts\n',
    )
  })

  it('brings a cluster into tests, with node:test and with mocha', () => {
    // Where the library that declares `await using` is not chosen, only the type checker minds.
    mkdirSync(join(project, 'test'))
    const body = "import { story } from '../handlers/story.ts'\n\nit('a widget', story)\n"
    writeFileSync(join(project, 'test/node.test.ts'), `import { it } from 'node:test'\n${body}`)
    writeFileSync(join(project, 'test/mocha.test.ts'), `declare const it: (name: string, body: () => Promise<void>) => void\n${body}`)
    expect(run(process.execPath, ['--import', 'tsx', '--test', 'test/node.test.ts'], project)).to.match(/^ℹ pass 1$/m)
    const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js')
    expect(run(process.execPath, [mocha, '--import=tsx', 'test/mocha.test.ts'], project)).to.match(/1 passing/)
  })

  it('tells failures by the lines of its own source', () => {
    const { stderr } = spawnSync(
      process.execPath,
      ['--enable-source-maps', 'node_modules/tsop/dist/cli/tsop-run.js', '--debug', '--check', 'nope'],
      {
        cwd: project,
        encoding: 'utf8',
      },
    )
    expect(stderr)
      .to.match(/no such file or directory: nope/)
      .and.to.match(/find-handler-files\.ts:\d+/)
  })

  function node(args: string[]): string {
    return run(process.execPath, args, project)
  }

  /** Standard output; the whole output in the error where it fails. */
  function run(file: string, args: string[], cwd: string): string {
    const path = [dirname(process.execPath), join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(':')
    // What the npm that runs these tests says to its children must not reach another project.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$/i.test(name)))
    try {
      return execFileSync(file, args, { cwd, encoding: 'utf8', env: { ...env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] })
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      throw new Error(`${basename(file)} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
    }
  }
})
