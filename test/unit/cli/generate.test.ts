import { closeSync, existsSync, lstatSync, openSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { COMMON_OPTIONS, GENERATORS, generatorHelp } from '../../../lib/cli/generate.ts'
import { Project } from './project.ts'

const handler = ({ size = 'z.int().min(1)', rule = 'self.size < 9' } = {}) => `
import { onReconcile, resource, z } from 'tsop'

export const Shop = resource({
  group: 'example.com', version: 'v1', kind: 'Shop',
  spec: z.object({ size: ${size} }).meta({ 'x-kubernetes-validations': [{ rule: '${rule}' }] }),
})
export class ShopHandler {
  @onReconcile(Shop)
  reconcile() {}
}
`
const FILE = 'config/crd/shops.example.com.yaml'

describe('tsop generate', function () {
  this.timeout(60_000)
  let project: Project
  beforeEach(() => {
    project = new Project({ 'handlers/shop.ts': handler() })
  })
  afterEach(() => project.remove())
  const tsop = (...args: string[]) => project.run(['generate', ...args], { command: 'tsop' })
  const read = (file = FILE) => readFileSync(join(project.path, file), 'utf8')

  it('writes files that say what made them, and finds them up to date', async () => {
    expect(await tsop('crds')).to.deep.equal({ code: 0, stdout: `${FILE}  written\n`, stderr: '' })
    expect(read()).to.match(/^# Made by `tsop generate crds handlers`;.*\n# tsop sha256:\w{16}\napiVersion: apiextensions/)
    expect(await tsop('crds', './handlers/', '--check')).to.deep.equal({ code: 0, stdout: '', stderr: '' })
    expect((await tsop('crds')).stdout).to.equal(`${FILE}  unchanged\n`)
  })

  it('tells by --check what is out of date, with a diff, and leaves it', async () => {
    await tsop('crds')
    const before = read()
    project.write('handlers/shop.ts', handler({ size: 'z.int().min(2)' }))
    const { code, stdout, stderr } = await tsop('crds', '--check')
    expect([code, stderr]).to.deep.equal([1, `${FILE}: is out of date\n`])
    expect(stdout)
      .to.include(`--- ${FILE}\n+++ ${FILE}\n`)
      .and.to.match(/^-\s+minimum: 1\n\+\s+minimum: 2$/m)
    expect(read()).to.equal(before)
  })

  it('tells by --check what is missing', async () => {
    const { code, stderr } = await tsop('crds', '--check')
    expect([code, stderr]).to.deep.equal([1, `${FILE}: is missing\n`])
  })

  it('shows by --dry-run what it would do, and does not', async () => {
    const { code, stdout } = await tsop('crds', '--dry-run')
    expect(code).to.equal(0)
    expect(stdout).to.match(new RegExp(`^${FILE}: would be written\n--- /dev/null\n\\+\\+\\+ ${FILE}\n`))
    expect(existsSync(join(project.path, FILE))).to.equal(false)
  })

  it('refuses to overwrite an edit, unless by force', async () => {
    await tsop('crds')
    const edited = `${read()}# mine\n`
    project.write(FILE, edited)
    const { code, stderr } = await tsop('crds')
    expect([code, stderr]).to.deep.equal([
      1,
      `tsop: nothing is written\n  ${FILE} was edited by hand: change what it is made from instead, or overwrite it with --force\n`,
    ])
    expect(read()).to.equal(edited)
    expect((await tsop('crds', '--check')).stderr).to.equal(`${FILE}: was edited by hand since it was made\n`)
    expect((await tsop('crds', '--force')).stdout).to.equal(`${FILE}  written\n`)
    expect(read()).to.not.include('# mine')
  })

  it('refuses to overwrite what it did not make', async () => {
    project.write(FILE, 'mine\n')
    const { code, stderr } = await tsop('crds')
    expect([code, stderr]).to.deep.equal([
      1,
      `tsop: nothing is written\n  ${FILE} is in the way, and tsop did not make it: move it, or overwrite it with --force\n`,
    ])
    expect(read()).to.equal('mine\n')
  })

  it('removes what it made for a kind that is no more, and only that', async () => {
    await tsop('crds')
    project.write('config/crd/other.yaml', 'mine\n')
    project.write('handlers/shop.ts', handler().replaceAll('Shop', 'Store'))
    expect((await tsop('crds', '--check')).stderr).to.equal(
      `${FILE}: is not made any more\nconfig/crd/stores.example.com.yaml: is missing\n`,
    )
    expect((await tsop('crds')).stdout).to.equal(`${FILE}  removed, it is not made any more\nconfig/crd/stores.example.com.yaml  written\n`)
    expect(existsSync(join(project.path, FILE))).to.equal(false)
    expect(read('config/crd/other.yaml')).to.equal('mine\n')
  })

  it('replaces a file as a whole, so that a run that is killed leaves none half-written', async () => {
    await tsop('crds')
    const before = read()
    const open = openSync(join(project.path, FILE), 'r')
    try {
      project.write('handlers/shop.ts', handler({ size: 'z.int().min(2)' }))
      expect((await tsop('crds')).stdout).to.equal(`${FILE}  written\n`)
      expect(readFileSync(open, 'utf8')).to.equal(before)
    } finally {
      closeSync(open)
    }
    expect(read()).to.include('minimum: 2')
    expect(readdirSync(join(project.path, 'config/crd'))).to.deep.equal(['shops.example.com.yaml'])
  })

  it('passes over what a killed run has left', async () => {
    await tsop('crds')
    project.write('config/crd/.shops.example.com.yaml.123.tsop-part', read().slice(0, 300))
    expect(await tsop('crds', '--check')).to.deep.equal({ code: 0, stdout: '', stderr: '' })
  })

  it('writes through a link, which stays one', async () => {
    await tsop('crds')
    renameSync(join(project.path, FILE), join(project.path, 'real.yaml'))
    symlinkSync('../../real.yaml', join(project.path, FILE))
    project.write('handlers/shop.ts', handler({ size: 'z.int().min(2)' }))
    expect((await tsop('crds')).code).to.equal(0)
    expect(lstatSync(join(project.path, FILE)).isSymbolicLink()).to.equal(true)
    expect(read('real.yaml')).to.include('minimum: 2')
  })

  it('names the image by a version with build metadata, as a tag can be', async () => {
    project.write('package.json', '{ "name": "shop", "version": "1.2.3+build.1", "type": "module" }')
    await tsop('deploy')
    expect(read('config/deploy/install.yaml')).to.include('image: shop:1.2.3_build.1\n')
  })

  it('takes the same image everywhere where --image names no tag, and none that cannot be', async () => {
    await tsop('deploy', '--image', 'registry.example.com:5000/team/shop')
    expect(read('config/deploy/install.yaml')).to.include('image: registry.example.com:5000/team/shop:0.1.0\n')
    expect(read('config/deploy/helm/values.yaml')).to.match(/repository: registry.example.com:5000\/team\/shop\n +# .*\n +tag: "?0\.1\.0/)
    for (const image of ['a"b', 'a:b:c', '#x', 'Shop', 'https://a/b']) {
      const { code, stderr } = await tsop('deploy', '--image', image)
      expect([code, stderr.includes(`--image ${image}: expected the name of an image`)], image).to.deep.equal([2, true])
    }
  })

  for (const what of ['crds', 'deploy'])
    it(`writes no ${what} with a definition that an API server would refuse`, async () => {
      project.write('handlers/shop.ts', handler({ size: "z.int().meta({ 'x-kubernetes-validations': [{ rule: 'self >' }] })" }))
      const { code, stderr } = await tsop(what)
      expect(code).to.equal(3)
      expect(stderr).to.include('an API server would refuse this').and.to.include('Shop: spec.size.x-kubernetes-validations[0].rule')
    })

  it('writes where --output says, and names that in the file', async () => {
    await tsop('crds', '-o', 'out dir')
    expect(read('out dir/shops.example.com.yaml')).to.include("`tsop generate crds handlers --output 'out dir'`")
    expect((await tsop('crds', '-o', 'out dir', '--check')).code).to.equal(0)
  })

  it('tells what an API server would refuse, by the fields of the zod type', async () => {
    project.write('handlers/shop.ts', handler({ rule: 'self.sizes < 9' }))
    const { code, stderr } = await tsop('crds')
    expect(code).to.equal(3)
    expect(stderr).to.match(
      /^tsop: an API server would refuse this:\n {2}Shop: spec\.x-kubernetes-validations\[0\]\.rule: .*undefined field 'sizes'/,
    )
    expect(existsSync(join(project.path, FILE))).to.equal(false)
  })

  it('tells what no schema can say, by the field', async () => {
    project.write('handlers/shop.ts', handler({ size: 'z.date()' }))
    const { code, stderr } = await tsop('crds')
    expect([code, stderr]).to.satisfy(
      ([exit, text]: [number, string]) => exit === 3 && text.includes('resource Shop: spec.size: z.date() has no JSON form'),
    )
  })

  it('says so where a file never ends to load', async () => {
    project.write('handlers/shop.ts', 'await new Promise(() => {})')
    const { code, stderr } = await tsop('crds')
    expect(code).to.equal(13)
    expect(stderr).to.match(/^tsop: ended before it was done: something never settles, such as an await at the top of a handler file$/m)
  })

  it('says so where there is nothing to define', async () => {
    project.write(
      'handlers/shop.ts',
      "import { kind, onReconcile } from 'tsop'\nexport class H {\n  @onReconcile(kind('v1', 'ConfigMap'))\n  reconcile() {}\n}\n",
    )
    const { code, stderr } = await tsop('crds')
    expect([code, stderr]).to.deep.equal([
      3,
      'tsop: generate crds: the handlers in handlers name no kind that was made with resource(), so there is nothing to define\n',
    ])
  })

  it('takes a kind that two handlers define alike, and none that they define differently', async () => {
    const tent = (size: string) =>
      handler({ size })
        .replace('class ShopHandler', 'class TentHandler')
        .replace(
          '@onReconcile(Shop)',
          "@watches(Shop)\n  map() { return [] }\n  @onReconcile(kind('example.com/v1', 'Tent', { plural: 'tents' }))",
        )
        .replace('import { onReconcile', 'import { kind, onReconcile, watches')
    project.write('handlers/tent.ts', tent('z.int().min(1)'))
    expect((await tsop('crds')).stdout).to.equal(`${FILE}  written\n`)
    project.write('handlers/tent.ts', tent('z.int().min(2)'))
    const [made, checked] = await Promise.all([tsop('crds'), project.run(['--check'])])
    const text =
      'handlers/tent.ts: TentHandler: a cluster has one definition of Shop.example.com, and ShopHandler (handlers/shop.ts) names another one: ' +
      'call resource() once for the kind, and import it where it is used\n'
    expect([made.code, made.stderr]).to.deep.equal([3, `tsop: ${text}`])
    expect([checked.code, checked.stderr]).to.deep.equal([3, `tsop-run: ${text}`])
    expect(read()).to.include('minimum: 1')
  })

  it('makes types of definitions', async () => {
    await tsop('crds')
    expect(await tsop('types', 'config/crd')).to.deep.equal({ code: 0, stdout: 'types/shops.example.com.ts  written\n', stderr: '' })
    expect(read('types/shops.example.com.ts')).to.include('export interface Shop extends tsop.KubeObject')
    expect((await tsop('types', 'config/crd', '--check')).code).to.equal(0)
  })

  it('refuses namespaces in which a class has nothing to do', async () => {
    project.write('handlers/shop.ts', handler().replace('@onReconcile(Shop)', "@onReconcile(Shop, { namespaces: ['a', 'b'] })"))
    const { code, stderr } = await tsop('deploy', '-n', 'c', '-n', 'd')
    expect(stderr).to.include('ShopHandler: its namespaces (a, b) and those of -n (c, d) have none in common')
    expect(code).to.equal(2)
    expect((await tsop('deploy', '-n', 'b')).code).to.equal(0)
  })

  for (const options of [[], ['--check'], ['--dry-run']]) {
    it(`says what is in the way of its output: ${['crds', ...options].join(' ')}`, async () => {
      for (const output of ['package.json', 'package.json/x'])
        expect(await tsop('crds', '-o', output, ...options)).to.deep.equal({
          code: 1,
          stdout: '',
          stderr: `tsop: cannot write into ${output}: package.json is a file, not a directory; move it, or name another directory\n`,
        })
    })
  }

  const wrong: [string[], number, string][] = [
    [[], 2, 'Usage: tsop generate'],
    [['crd'], 2, 'there is no generator crd (did you mean crds?)'],
    [['types'], 2, 'generate types: which files?'],
    [['types', 'nope.yaml'], 3, 'no such file or directory: nope.yaml'],
    [['types', 'pod.yaml'], 3, 'generate types: no CustomResourceDefinition is in pod.yaml'],
    [['types', 'old.yaml'], 3, 'generate types: expected apiVersion apiextensions.k8s.io/v1, not "apiextensions.k8s.io/v1beta1"'],
    [['types', 'crd.yaml', 'crd.yaml'], 3, 'generate types: a.example.com is defined twice'],
    [
      ['types', 'holed.yaml'],
      3,
      'tsop: generate types: the definition a.example.com, version v1: schema.openAPIV3Schema is null, expected a schema',
    ],
    [['crds', 'nope'], 3, 'no such file or directory: nope'],
    [['crds', '--chek'], 2, 'unknown option --chek (did you mean --check?); see tsop generate crds --help'],
  ]
  for (const [args, exit, expected] of wrong) {
    it(`refuses ${args.join(' ') || 'nothing'}`, async () => {
      const crd = (version: string) =>
        `apiVersion: apiextensions.k8s.io/${version}\nkind: CustomResourceDefinition\nmetadata: { name: a.example.com }\n`
      project.write('pod.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n')
      project.write('old.yaml', crd('v1beta1'))
      project.write('crd.yaml', crd('v1'))
      const v1 = '{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: null } }'
      project.write(
        'holed.yaml',
        `${crd('v1')}spec: { group: example.com, scope: Cluster, names: { kind: A, plural: a }, versions: [${v1}] }\n`,
      )
      const { code, stderr } = await tsop(...args)
      expect(stderr).to.include(expected)
      expect(code).to.equal(exit)
    })
  }

  for (const name of Object.keys(GENERATORS)) {
    it(`${name} has a help that fits on the screen, and options of its own names`, async () => {
      const generator = await (GENERATORS[name] as (typeof GENERATORS)[string]).load()
      for (const line of generatorHelp(name, generator).split('\n')) expect(line.length, line).to.be.at.most(100)
      const names = [...generator.options, ...COMMON_OPTIONS].map((row) => row.name)
      expect(new Set(names).size).to.equal(names.length)
    })
  }
})
