import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { Project } from './project.ts'

describe('tsop init', function () {
  this.timeout(60_000)
  let project: Project
  beforeEach(() => {
    project = new Project()
  })
  afterEach(() => project.remove())
  const tsop = (...args: string[]) => project.run(args, { command: 'tsop' })
  const read = (file: string) => readFileSync(join(project.path, file), 'utf8')

  it('makes a project of its name, and says what to type next', async () => {
    const { code, stdout } = await tsop('init', 'shop-operator')
    expect(code).to.equal(0)
    expect(stdout).to.match(
      /^shop-operator\/package\.json\n.*\nNext:\n {2}cd shop-operator\n {2}npm install\n {2}npm start .*\n {2}npm test\n\ntsop is taken from .+\n$/s,
    )
    expect(JSON.parse(read('shop-operator/package.json'))).to.include({ name: 'shop-operator', type: 'module' })
    expect(read('shop-operator/handlers/shop.ts')).to.include("kind: 'Shop'").and.to.include("group: 'example.com'")
  })

  it('takes kind, group and version', async () => {
    await tsop('init', 'shop', '--kind', 'WebShop', '--group', 'acme.io', '--version', 'v1')
    expect(read('shop/handlers/web-shop.ts')).to.match(/group: 'acme.io',\n {2}version: 'v1',\n {2}kind: 'WebShop'/)
    expect(read('shop/samples/web-shop.yaml')).to.include('apiVersion: acme.io/v1\nkind: WebShop\n')
  })

  it('never overwrites, and writes nothing then', async () => {
    project.write('shop/README.md', 'mine')
    const { code, stderr } = await tsop('init', 'shop')
    expect([code, stderr]).to.deep.equal([1, 'tsop: init: nothing is written, for these files exist:\n  shop/README.md\n'])
    expect(readdirSync(join(project.path, 'shop'))).to.deep.equal(['README.md'])
    expect(read('shop/README.md')).to.equal('mine')
  })

  it('writes nothing where a file is in the place of one of its folders', async () => {
    project.write('shop/handlers', 'mine')
    project.write('taken', 'mine')
    expect(await tsop('init', 'shop')).to.include({
      code: 1,
      stderr: 'tsop: init: nothing is written, for these files exist:\n  shop/handlers\n',
    })
    expect(readdirSync(join(project.path, 'shop'))).to.deep.equal(['handlers'])
    expect(await tsop('init', 'taken')).to.include({
      code: 1,
      stderr: 'tsop: init: nothing is written, for these files exist:\n  taken\n',
    })
  })

  it('shows with --dry-run what it would write', async () => {
    const { stdout } = await tsop('init', 'shop', '--dry-run')
    expect(stdout).to.include('shop/handlers/shop.ts  would be written\n').and.to.not.include('Next:')
    expect(existsSync(join(project.path, 'shop'))).to.equal(false)
  })

  const refused: [string[], string][] = [
    [[], 'which name?'],
    [['a', 'b'], 'one name is enough, but there is b as well'],
    [['Shop'], 'the name "Shop": expected at most 45 lower-case letters'],
    [['../shop'], 'the name "../shop": expected'],
    [['shop', '--kind', 'shop'], 'the kind "shop": expected a CamelCase word such as Shop (Shop?)'],
    [['shop', '--kind', 'Service'], 'the kind Service: Kubernetes or tsop has that name already'],
    [['secret-operator'], 'the kind Secret: Kubernetes or tsop has that name already'],
    [['shop', '--group', 'acme'], '--group acme: expected a domain'],
    [['shop', '--group', 'shop.k8s.io'], '--group shop.k8s.io: the Kubernetes project keeps that domain'],
    [['shop', '--version', '1'], '--version 1: expected v1'],
    [['shop', '--knd', 'x'], 'unknown option --knd (did you mean --kind?)'],
  ]
  for (const [args, expected] of refused) {
    it(`refuses ${args.join(' ') || 'no name'}`, async () => {
      const { code, stderr } = await tsop('init', ...args)
      expect(stderr).to.include(expected).and.to.include('tsop init --help')
      expect(code).to.equal(2)
      expect(existsSync(join(project.path, 'shop'))).to.equal(false)
    })
  }

  describe('and tsop add kind', () => {
    it('adds a kind in the group of the others', async () => {
      project.write('handlers/parts.ts/readme.md', 'A folder that is called like a file.')
      project.write('handlers/shop.ts', "export const Shop = resource({ group: 'acme.io', version: 'v1' })")
      const { code, stdout } = await tsop('add', 'kind', 'WebCache')
      expect(code).to.equal(0)
      expect(stdout).to.match(
        /^handlers\/web-cache\.ts\nsamples\/web-cache\.yaml\ntest\/web-cache\.test\.ts\ntest\/cluster\/web-cache\.test\.ts\n\nNext:\n/,
      )
      expect(read('handlers/web-cache.ts')).to.include("group: 'acme.io'")
    })

    it('never overwrites', async () => {
      project.write('handlers/web-cache.ts', 'mine')
      const { code, stderr } = await tsop('add', 'kind', 'WebCache')
      expect([code, stderr]).to.deep.equal([1, 'tsop: add: nothing is written, for these files exist:\n  handlers/web-cache.ts\n'])
      expect(existsSync(join(project.path, 'samples'))).to.equal(false)
    })

    const wrong: [string[], string][] = [
      [[], 'what? tsop add kind NAME'],
      [['webhook', 'X'], 'cannot add a webhook, but a kind'],
      [['kind'], 'which kind?'],
      [['kind', 'web-cache'], 'the kind "web-cache": expected a CamelCase word such as Shop (WebCache?)'],
      [['kind', 'A', 'B'], 'one kind at a time, but there is B as well'],
    ]
    for (const [args, expected] of wrong) {
      it(`refuses ${args.join(' ') || 'nothing'}`, async () => {
        const { code, stderr } = await tsop('add', ...args)
        expect(stderr).to.include(expected)
        expect(code).to.equal(2)
      })
    }
  })

  it('has a help that fits on the screen', async () => {
    for (const command of ['init', 'add']) {
      const { code, stdout } = await tsop(command, '--help')
      expect(code).to.equal(0)
      expect(stdout).to.match(/^Usage: tsop /)
      for (const line of stdout.split('\n')) expect(line.length).to.be.at.most(100)
    }
  })
})
