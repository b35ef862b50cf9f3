import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { createImport } from '../../../lib/cli/import-module.ts'
import { type LoadedHandler, loadHandlers } from '../../../lib/cli/load-handlers.ts'
import { Project, widgetHandler } from './project.ts'

describe('loading handlers', () => {
  const projects: Project[] = []
  afterEach(async () => {
    for (const project of projects.splice(0)) await project.remove()
  })

  function project(files: Record<string, string>, name?: string): Project {
    const made = new Project(files, name)
    projects.push(made)
    return made
  }

  const load = ({ path }: Project, ...paths: string[]) => loadHandlers(paths.length === 0 ? ['handlers'] : paths, { cwd: path })

  async function failure(of: Promise<unknown>): Promise<string> {
    try {
      await of
    } catch (error) {
      expect(error).to.be.instanceOf(CliError).with.property('exitCode', 3)
      return (error as Error).message
    }
    throw new Error('it loaded')
  }

  const names = (handlers: readonly LoadedHandler[]) => handlers.map(({ spec }) => spec.className)

  it('finds exported classes in .ts, .mts, .js and .mjs, in directories and single files', async () => {
    const javascript = (name: string) => `
      import { kind, onReconcile } from 'tsop'
      export class ${name} { reconcile() {} }
      const method = Object.getOwnPropertyDescriptor(${name}.prototype, 'reconcile')
      onReconcile(kind('example.com/v1', '${name}'))(${name}.prototype, 'reconcile', method)`
    const p = project({
      'handlers/a.ts': widgetHandler({ className: 'A', kind: 'A' }),
      'handlers/deep/er/b.mts': widgetHandler({ className: 'B', kind: 'B' }),
      'handlers/c.js': javascript('C'),
      'handlers/d.mjs': javascript('D'),
      'more/e.ts': widgetHandler({ className: 'E', kind: 'E' }),
      'more/f.ts': widgetHandler({ className: 'F', kind: 'F' }),
    })
    const handlers = await load(p, 'handlers', 'more/e.ts')
    expect(names(handlers)).to.have.members(['A', 'B', 'C', 'D', 'E'])
    expect(handlers.find(({ spec }) => spec.className === 'B')?.spec.file).to.equal(join('handlers', 'deep', 'er', 'b.mts'))
    expect(handlers[0]?.instance).to.have.property('reconcile')
  })

  it('passes over declarations, tests, node_modules, hidden files, and JavaScript beside its source', async () => {
    const fails = 'throw new Error("loaded")'
    const p = project({
      'handlers/a.ts': widgetHandler(),
      'handlers/a.js': fails,
      'handlers/a.d.ts': fails,
      'handlers/a.test.ts': fails,
      'handlers/a.spec.mjs': fails,
      'handlers/.hidden.ts': fails,
      'handlers/.git/x.ts': fails,
      'handlers/node_modules/x/index.js': fails,
      'handlers/readme.md': fails,
      'handlers/helper.ts': 'export const help = 1\nexport default { a: class {} }\nexport class NoHandler {}',
    })
    expect(names(await load(p))).to.deep.equal(['WidgetHandler'])
  })

  it('follows links to files, as in a mounted ConfigMap', async () => {
    const p = project({ 'data/a.ts': widgetHandler(), 'handlers/readme.md': '' })
    symlinkSync(join(p.path, 'data/a.ts'), join(p.path, 'handlers/a.ts'))
    expect(names(await load(p))).to.deep.equal(['WidgetHandler'])
  })

  it('passes over links that lead nowhere, or to themselves', async () => {
    const p = project({ 'handlers/a.ts': widgetHandler() })
    symlinkSync('loop.ts', join(p.path, 'handlers/loop.ts'))
    symlinkSync('nowhere', join(p.path, 'handlers/.#b.ts'))
    symlinkSync('nowhere', join(p.path, 'handlers/b.ts'))
    expect(names(await load(p))).to.deep.equal(['WidgetHandler'])
  })

  it('works in directories with odd names', async () => {
    const p = project({ 'handlers/a b#1%20.ts': widgetHandler() }, 'tsop #1 %41-')
    expect(names(await load(p))).to.deep.equal(['WidgetHandler'])
  })

  it('counts a class once that two files export, and takes default exports', async () => {
    const p = project({
      'handlers/a.ts': widgetHandler(),
      'handlers/b.ts': "export * from './a.ts'\nexport { WidgetHandler as default } from './a.ts'",
    })
    expect(names(await load(p))).to.deep.equal(['WidgetHandler'])
  })

  it('takes a class that another handler extends for a base only', async () => {
    const p = project({
      'handlers/base.ts': widgetHandler({ className: 'Base' }),
      'handlers/derived.ts': "import { Base } from './base.ts'\nexport class Derived extends Base {}",
    })
    expect(names(await load(p))).to.deep.equal(['Derived'])
  })

  it('uses what a factory makes, waits for it, and does not make its classes again', async () => {
    const factory = 'export const handlers = async () => [new WidgetHandler("given"), new Other()]'
    const p = project({
      'handlers/a.ts': `${widgetHandler()
        .replace('export class WidgetHandler {', 'export class WidgetHandler { constructor(readonly db: string) {}')
        .concat(widgetHandler({ className: 'Other', kind: 'Other' }).replace(/import.*/, ''))}\n${factory}`,
    })
    const handlers = await load(p)
    expect(names(handlers)).to.deep.equal(['WidgetHandler', 'Other'])
    expect(handlers[0]?.instance).to.have.property('db', 'given')
  })

  it('takes a single instance from a factory', async () => {
    const p = project({ 'handlers/a.ts': `${widgetHandler()}\nexport function handlers() { return new WidgetHandler() }` })
    expect(names(await load(p))).to.deep.equal(['WidgetHandler'])
  })

  for (const [what, code, message] of [
    ['no function', 'export const handlers = [1]', /handlers\/a.ts: the export "handlers" must be a function/],
    [
      'a function that returns a class',
      'export const handlers = () => [WidgetHandler]',
      /returned the class WidgetHandler instead of an instance/,
    ],
    ['a function that returns nothing', 'export const handlers = () => undefined', /handlers\(\) returned undefined/],
    ['a function that returns something else', 'export const handlers = () => [new Map()]', /returned an instance of Map/],
    [
      'a function that throws',
      'export const handlers = () => { throw new Error("no DB_URL") }',
      /handlers\/a.ts:\d+:\d+: Error: no DB_URL/,
    ],
  ] as const) {
    it(`says what is wrong with a factory that is ${what}`, async () => {
      expect(await failure(load(project({ 'handlers/a.ts': `${widgetHandler()}\n${code}` })))).to.match(message)
    })
  }

  it('works with both dialects of decorators, after the nearest tsconfig', async () => {
    const tsconfig = (legacy: boolean) => JSON.stringify({ compilerOptions: { experimentalDecorators: legacy, target: 'es2022' } })
    const code = (name: string) =>
      `${widgetHandler({ className: name, kind: name })}\nexport const args: unknown[] = []\nclass Probe { @((...a: any[]) => { args.push(...a) }) m() {} }`
    const p = project({
      'one/tsconfig.json': tsconfig(true),
      'one/handlers/a.ts': code('Legacy'),
      'two/tsconfig.json': tsconfig(false),
      'two/b.ts': code('Standard'),
      'three/c.ts': code('None'),
    })
    expect(names(await load(p, 'one/handlers', 'two', 'three'))).to.deep.equal(['Legacy', 'Standard', 'None'])
    const files = ['one/handlers/a.ts', 'two/b.ts'].map((file) => join(p.path, file))
    const importModule = await createImport(files)
    const dialects = await Promise.all(files.map(async (file) => typeof ((await importModule(file))['args'] as unknown[])[1]))
    expect(dialects).to.deep.equal(['string', 'object'])
  })

  it('knows path aliases, enums and imports without or with another extension', async () => {
    const p = project({
      'tsconfig.json': JSON.stringify({ compilerOptions: { paths: { '@/*': ['./src/*'] } } }),
      'src/size.ts': 'export enum Size { small, big }',
      'handlers/helper.ts': 'export const help = 1',
      'handlers/a.ts': `import { Size } from '@/size'\nimport { help } from './helper.js'\nif (Size.big + help !== 2) throw new Error()\n${widgetHandler()}`,
    })
    expect(names(await load(p))).to.deep.equal(['WidgetHandler'])
  })

  it('tells of each file of the user that was loaded, and of no other', async () => {
    const p = project({ 'src/deep.ts': 'export const x = 1', 'handlers/a.ts': `import '../src/deep.ts'\n${widgetHandler()}` })
    const used: string[] = []
    await loadHandlers(['handlers'], { cwd: p.path, used: (file) => used.push(file.pathname) })
    expect(new Set(used)).to.deep.equal(new Set([join(p.path, 'handlers/a.ts'), join(p.path, 'src/deep.ts')]))
  })

  describe('says in one line what is wrong, with file and line:', () => {
    it('a path that is not there', async () => {
      expect(await failure(load(project({}), 'nope'))).to.match(/^no such file or directory: nope \(in .*\)$/)
    })

    it('a file that is no code', async () => {
      expect(await failure(load(project({ 'a.yaml': '' }), 'a.yaml'))).to.match(
        /^a\.yaml: a handler file ends in \.ts, \.mts, \.js, \.mjs$/,
      )
    })

    it('no handler at all', async () => {
      const p = project({ 'handlers/a.ts': 'export class A {}', 'handlers/b.ts': '' })
      expect(await failure(load(p))).to.match(
        /^no handler found in handlers\/a.ts, handlers\/b.ts; a handler is an exported class .*@onReconcile$/,
      )
      expect(await failure(load(project({ 'handlers/x.md': '' })))).to.match(/^no handler found: .* file is in handlers;/)
    })

    for (const legacy of [true, false]) {
      it(`a decorated class that is not exported, in the dialect ${legacy ? 'legacy' : 'tc39'}`, async () => {
        const hidden = widgetHandler({ className: 'Hidden', kind: 'Hidden' }).replace('export class', 'class')
        const tsconfig = JSON.stringify({ compilerOptions: { experimentalDecorators: legacy } })
        const alone = project({ 'tsconfig.json': tsconfig, 'handlers/a.ts': hidden })
        const message = 'handlers/a.ts: Hidden is decorated but not exported: write export class Hidden'
        expect(await failure(load(alone))).to.equal(message)
        const beside = project({ 'tsconfig.json': tsconfig, 'handlers/a.ts': hidden, 'handlers/b.ts': widgetHandler() })
        expect(await failure(load(beside))).to.equal(message)
      })
    }

    it('no class that is exported by another statement, made by the factory, or a base of one that is', async () => {
      const named = (name: string) => widgetHandler({ className: name, kind: name }).replace('export class', 'class')
      const p = project({
        'handlers/a.ts': `${named('A')}\nexport {\n  A,\n}`,
        'handlers/b.ts': `${named('B')}\nconst all = [new B()]\nexport const handlers = () => all`,
        'handlers/c.ts': `${named('C')}\nexport class D extends C {}`,
        'handlers/e.ts': `${named('E')}\nexport default E`,
        'handlers/f.ts': `${widgetHandler()}\n// class Old {\n//   @onReconcile(X)\n// }\nclass Help {\n  a = 1\n}`,
      })
      expect(names(await load(p))).to.have.members(['A', 'B', 'D', 'E', 'WidgetHandler'])
    })

    it('a syntax error in TypeScript, with the text of the line', async () => {
      const p = project({ 'handlers/a.ts': 'export const a = 1\nexport function f() {\n\tfoo(1, }\n}\n' })
      expect(await failure(load(p))).to.equal(
        ['handlers/a.ts:3:9: syntax error: Unexpected "}"', '  3 |  foo(1, }', '              ^'].join('\n'),
      )
    })

    it('a syntax error in a file that a handler imports', async () => {
      const p = project({ 'lib/x.ts': '\nconst = 1', 'handlers/a.ts': "import '../lib/x.ts'" })
      expect(await failure(load(p))).to.match(/^lib\/x\.ts:2:7: syntax error/)
    })

    it('a syntax error in JavaScript', async () => {
      const p = project({ 'handlers/a.js': 'export const a = 1\nfoo(1, }\n' })
      expect(await failure(load(p))).to.match(/^handlers\/a\.js:2: SyntaxError: Unexpected token '}'\n {2}2 \| foo\(1, }$/)
    })

    it('code that throws while it is loaded', async () => {
      const p = project({
        'handlers/a.ts': 'interface X { a: string }\n\nfunction need(): never {\n  throw new TypeError("DB_URL is not set")\n}\nneed()\n',
      })
      expect(await failure(load(p))).to.match(/^handlers\/a\.ts:4:9: TypeError: DB_URL is not set\n {2}4 \| {3}throw new TypeError/)
    })

    it('a throw inside a package, by the line that called it', async () => {
      const p = project({
        'node_modules/dep/index.js': 'export function dep() { throw new Error("deep") }',
        'node_modules/dep/package.json': '{ "name": "dep", "type": "module", "exports": "./index.js" }',
        'handlers/a.ts': "import { dep } from 'dep'\n\ndep()",
      })
      expect(await failure(load(p))).to.match(/^handlers\/a\.ts:3:1: Error: deep/)
    })

    it('a file that it imports and that is not there, by the line that imports it', async () => {
      for (const type of ['module', 'commonjs']) {
        const p = project({
          'package.json': JSON.stringify({ type }),
          'handlers/a.ts': "import { b } from '../lib/b.ts'\nb()",
          'lib/b.ts': "import './c.ts'\nimport { d } from './gone.ts'\nexport const b = d",
          'lib/c.ts': 'export {}',
        })
        expect(await failure(load(p)), type).to.match(/^lib\/b\.ts:2:19: there is no file \.\/gone\.ts\n {2}2 \| import \{ d \}/)
      }
    })

    it('a decorator without its kind, by the method below it', async () => {
      const p = project({ 'handlers/a.ts': widgetHandler().replace('@onReconcile(WidgetKind)', '@onReconcile') })
      expect(await failure(load(p))).to.match(/^handlers\/a\.ts:(\d+):3: HandlerError: @onReconcile needs .*\n {2}\1 \| {3}async reconcile/)
    })

    it('something thrown that is no error', async () => {
      expect(await failure(load(project({ 'handlers/a.ts': 'throw "text"' })))).to.equal('handlers/a.ts: threw text')
    })

    it('a package that is not installed', async () => {
      const p = project({ 'handlers/a.ts': "import 'not-there'" })
      expect(await failure(load(p))).to.match(/^handlers\/a\.ts: .*Cannot find package 'not-there'.*; npm install not-there$/)
    })

    it('an import that the other file does not have', async () => {
      const p = project({ 'handlers/b.ts': 'export const b = 1', 'handlers/a.ts': "\nimport { nope } from './b.ts'\nnope()" })
      expect(await failure(load(p))).to.match(/^handlers\/a\.ts:2: SyntaxError: .*does not provide an export named 'nope'/)
    })

    it('a constructor that throws', async () => {
      const p = project({ 'handlers/a.ts': widgetHandler().replace('{\n  @', '{ constructor() { throw new Error("no DB_URL") }\n  @') })
      expect(await failure(load(p))).to.equal('handlers/a.ts: new WidgetHandler() threw: no DB_URL')
    })

    it('a constructor that needs arguments', async () => {
      const p = project({ 'handlers/a.ts': widgetHandler().replace('{\n  @', '{ constructor(readonly db: string) {}\n  @') })
      expect(await failure(load(p))).to.match(
        /^handlers\/a\.ts: WidgetHandler\.constructor\(\): takes arguments.*export const handlers = \(\) => \[new WidgetHandler\(…\)\]$/,
      )
    })

    it('two classes of one kind, and every wrong class at once', async () => {
      const twice = project({ 'handlers/a.ts': widgetHandler(), 'handlers/b.ts': widgetHandler({ className: 'Second' }) })
      expect(await failure(load(twice))).to.match(
        /^handlers\/b\.ts: Second\.reconcile\(\): Widget\.example\.com is reconciled by WidgetHandler/,
      )
      const wrong = (name: string) => widgetHandler({ className: name, kind: name }).replace('async reconcile', 'static async reconcile')
      const both = project({ 'handlers/a.ts': wrong('A'), 'handlers/b.ts': wrong('B') })
      const lines = (await failure(load(both))).split('\n')
      expect(lines[0]).to.match(/^handlers\/a\.ts: A/)
      expect(lines.at(-1)).to.match(/^handlers\/b\.ts: B/)
    })
  })

  it('reports no path twice where it was given twice', async () => {
    const p = project({ 'handlers/a.ts': widgetHandler() })
    expect(names(await load(p, 'handlers', 'handlers/a.ts', './handlers/'))).to.deep.equal(['WidgetHandler'])
    rmSync(join(p.path, 'handlers'), { recursive: true })
  })
})
