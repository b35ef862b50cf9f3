/** The package as users get it: packed, installed into an empty project, used there. */

import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { blocks, read } from '../docs/markdown.ts'
import { placeSources } from './packed.ts'

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
    placeSources(copy)
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

  it('has the sources within the source maps, for debuggers and stack traces', () => {
    const maps = packed.filter((file) => file.endsWith('.js.map'))
    for (const file of maps) {
      const { sources, sourcesContent } = JSON.parse(readFileSync(join(project, 'node_modules/tsop', file), 'utf8'))
      expect(sourcesContent, file).to.have.length(sources.length)
      for (const source of sources) expect(join(dirname(file), source)).to.match(/^lib\/.*\.ts$/)
      for (const text of sourcesContent) expect(text, file).to.be.a('string').and.not.equal('')
    }
    expect(maps).to.not.have.length(0)
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

  it('is all that the first pages of the guide need beside the packages that they name', () => {
    const guide = (page: string) => read(`docs/guide/${page}.md`)
    const named = [...`${guide('first-operator')}${guide('testing')}`.matchAll(/npm install --save-dev ([^\n]+)/g)].flatMap(
      ([, packages = '']) => packages.split(' '),
    )
    expect(named).to.include.members(['typescript', '@types/node', 'mocha', 'chai', 'tsx', '@types/mocha', '@types/chai'])
    const [settings] = blocks(guide('first-operator'), 'json')
    const folder = join(directory, 'guide')
    for (const [page, types] of [
      ['first-operator', ['node']],
      ['testing', ['node', 'mocha']],
    ] as const) {
      // What the page says to have there, and no more.
      const modules = join(folder, page, 'node_modules')
      mkdirSync(join(folder, page, 'handlers'), { recursive: true })
      mkdirSync(join(modules, '@types'), { recursive: true })
      symlinkSync(join(project, 'node_modules/tsop'), join(modules, 'tsop'))
      for (const name of page === 'testing' ? named : ['typescript', '@types/node'])
        symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
      const tsconfig = JSON.parse(settings?.text ?? '')
      if (page === 'testing') tsconfig.compilerOptions.types = types
      expect(tsconfig.compilerOptions.types).to.deep.equal(types)
      writeFileSync(join(folder, page, 'tsconfig.json'), JSON.stringify(tsconfig))
      writeFileSync(join(folder, page, 'package.json'), '{ "type": "module" }')
      for (const { text } of blocks(guide(page), 'ts')) {
        const [, name = ''] = /^\/\/ file: (\S+)\n/.exec(text) ?? []
        appendFileSync(join(folder, page, 'handlers', name), text)
      }
      run(process.execPath, [join(modules, 'typescript/bin/tsc')], join(folder, page))
    }
    const testing = join(folder, 'testing')
    const mocha = ['node_modules/mocha/bin/mocha.js', '--import=tsx', 'handlers/*.test.ts']
    expect(guide('testing')).to.include("npx mocha --import=tsx 'handlers/*.test.ts'")
    expect(run(process.execPath, mocha, testing)).to.match(/6 passing/)

    const [, imports = ''] = /^\| node:test \| `([^`]+)`/m.exec(guide('testing')) ?? []
    for (const file of readdirSync(join(testing, 'handlers')).filter((file) => file.endsWith('.test.ts'))) {
      writeFileSync(join(testing, 'handlers', file), `${imports}\n${readFileSync(join(testing, 'handlers', file), 'utf8')}`)
    }
    expect(run(process.execPath, ['--import', 'tsx', '--test', 'handlers/*.test.ts'], testing)).to.match(/^ℹ pass 6$/m)
  })

  it('tells a fault in a handler file by its place there, also where the package is a link to a folder', () => {
    const bad =
      "import { resource, z } from 'tsop'\nconst spec = z.object({ a: z.string().transform((a) => a.length) })\nresource({ group: 'x.io', version: 'v1', kind: 'X', spec })\n"
    const linked = join(directory, 'linked')
    mkdirSync(join(linked, 'node_modules'), { recursive: true })
    symlinkSync(join(directory, 'package'), join(linked, 'node_modules/tsop'))
    symlinkSync(join(project, 'node_modules'), join(directory, 'package/node_modules'))
    for (const [folder, handlers] of [
      [linked, 'handlers'],
      [project, 'bad'],
    ] as const) {
      writeFileSync(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
      mkdirSync(join(folder, handlers))
      writeFileSync(join(folder, handlers, 'bad.ts'), bad)
      const { stderr } = spawnSync(process.execPath, ['node_modules/tsop/dist/cli/tsop-run.js', '--check', handlers], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect(stderr).to.match(new RegExp(`^tsop-run: ${handlers}/bad\\.ts:3:1: TypeError: resource X: spec\\.a: `))
    }
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
