import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { ConfigMap } from 'tsop/kinds'
import { kind } from '../../lib/resource/kind.ts'
import { inNamespace, type World } from './cluster.ts'
import { Aunt, Niece, type Person } from './fixtures/family.ts'
import { isReady, manifest } from './fixtures/objects.ts'
import { Project } from './fixtures/project.ts'

const fixtures = 'test/cluster/fixtures'

describe('handler files', () => {
  it(
    'may be TypeScript of both dialects of decorators, and .mts, side by side',
    inNamespace(async (t) => {
      await t.startOperator({ handlers: `${fixtures}/dialects`, args: ['--install-crds'] })
      for (const name of ['Legacy', 'Standard', 'Module']) await works(t, name)
    }),
  )

  it(
    'may be JavaScript as tsc compiles it, .js and .mjs, run from another directory',
    inNamespace(async (t) => {
      const project = new Project(t, {})
      for (const file of ['legacy.ts', 'module.mts', 'standard/standard.ts']) project.write(`src/${file}`, source(`dialects/${file}`))
      await compile(project, ['legacy.ts', 'module.mts'], 'true')
      await compile(project, ['standard/standard.ts'], 'false')
      await t.startOperator({ handlers: project.path('dist'), args: ['--install-crds'], cwd: '/' })
      for (const name of ['Legacy', 'Standard', 'Module']) await works(t, name)
    }),
  )

  it(
    'may have several classes, which inherit decorated methods and override them',
    inNamespace(async (t) => {
      await t.startOperator({ handlers: `${fixtures}/family.ts`, args: ['--install-crds'] })
      await t.apply(manifest('Aunt', 'agatha'), manifest('Niece', 'nora'))
      expect(((await isReady(t, Aunt, 'agatha')) as Person).status?.by).to.equal('aunt')
      expect(((await isReady(t, Niece, 'nora')) as Person).status?.by).to.equal('niece')
      expect((await t.client.get(ConfigMap, t.ref('agatha'))).data).to.deep.equal({ to: 'agatha', from: 'aunt' })
      expect((await t.client.get(ConfigMap, t.ref('nora'))).data).to.deep.equal({ to: 'nora', from: 'niece', ps: 'and greetings to all' })
    }),
  )

  it(
    'are made by the factory that they export, with what it hands over',
    inNamespace(async (t) => {
      const legacy = source('dialects/legacy.ts')
        .replace("private readonly by = 'legacy'", 'private readonly by: string\n  constructor(by: string) { this.by = by }')
        .concat("\nexport const handlers = async () => [new LegacyHandler('factory')]\n")
      const project = new Project(t, { 'handlers/legacy.ts': legacy })
      await t.startOperator({ handlers: project.path('handlers'), args: ['--install-crds'] })
      await works(t, 'Legacy', 'factory')
    }),
  )
})

describe('promise 2: one controller a kind', () => {
  it(
    'refuses to start with all that is wrong with the classes, by file, class and method',
    inNamespace(async (t) => {
      const project = new Project(t, {
        'handlers/a.ts': `
          import { onDelete, onReconcile, owns } from 'tsop'
          import { ConfigMap, Secret, Service } from 'tsop/kinds'
          export class First {
            @onReconcile(ConfigMap) reconcile() {}
            @owns(Secret) static secret() {}
            @owns(Service) get service() { return {} }
          }
          export class Second {
            @onReconcile(Secret) one() {}
            @onReconcile(Secret) two() {}
            @onDelete(Service) remove() {}
          }`,
      })
      const operator = await t.startOperator({ handlers: project.path('handlers'), ready: false, cwd: project.dir })
      expect(await operator.exited).to.equal(3)
      expect(operator.log).to.match(/handlers\/a\.ts: First\.secret\(\): @owns on a static method/)
      expect(operator.log).to.match(/handlers\/a\.ts: First\.service: @owns on a getter/)
      expect(operator.log).to.match(/handlers\/a\.ts: Second: 2 times @onReconcile \(one\(\), two\(\)\)/)
      expect(operator.log).to.match(/handlers\/a\.ts: Second\.remove\(\): @onDelete\(Service\) in the class of Secret/)
      expect(operator.log).to.not.include('    at ')
    }),
  )

  it(
    'refuses to start with two classes of the same kind, and names both',
    inNamespace(async (t) => {
      const handler = (name: string) => `
        import { onReconcile } from 'tsop'
        import { ConfigMap } from 'tsop/kinds'
        export class ${name} { @onReconcile(ConfigMap) reconcile() {} }`
      const project = new Project(t, { 'handlers/a.ts': handler('First'), 'handlers/b.ts': handler('Second') })
      const operator = await t.startOperator({ handlers: project.path('handlers'), ready: false, cwd: project.dir })
      expect(await operator.exited).to.equal(3)
      expect(operator.log).to.match(/b\.ts: Second\.reconcile\(\): ConfigMap is reconciled by First \(.*a\.ts\) already/)
    }),
  )

  it(
    'says in which line a handler file throws while it is loaded',
    inNamespace(async (t) => {
      const project = new Project(t, {
        'handlers/a.ts': "import 'tsop'\nconst port: number = 1\n\nthrow new Error('no use for ' + port)\n",
      })
      const operator = await t.startOperator({ handlers: project.path('handlers'), ready: false, cwd: project.dir })
      expect(await operator.exited).to.equal(3)
      expect(operator.log).to.match(/^tsop-run: handlers\/a\.ts:4:7: Error: no use for 1$/m)
    }),
  )
})

async function works(t: World, name: string, by = name.toLowerCase()): Promise<void> {
  await t.apply(manifest(name, by))
  const object = await isReady(t, kind('test.tsop.dev/v1', name), by)
  expect((object as { status?: { by?: string } }).status?.by).to.equal(by)
  expect((await t.client.get(ConfigMap, t.ref(by))).data).to.deep.equal({ by })
}

function source(file: string): string {
  return readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8')
}

async function compile(project: Project, files: readonly string[], experimentalDecorators: 'true' | 'false'): Promise<void> {
  const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url))
  const options = { module: 'nodenext', target: 'es2022', rootDir: 'src', outDir: 'dist', experimentalDecorators }
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  // Types are checked elsewhere: this is about what comes out.
  await promisify(execFile)(tsc, ['--ignoreConfig', '--noCheck', ...flags, ...files.map((file) => `src/${file}`)], { cwd: project.dir })
}
