import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parseYaml } from '../../../lib/resource/yaml.ts'
import { Project } from './project.ts'

const HANDLER = `
import { onReconcile, resource, z } from 'tsop'

export const Shop = resource({ group: 'example.com', version: 'v1', kind: 'Shop', spec: z.object({ size: z.int().default(1) }) })
export class ShopHandler {
  @onReconcile(Shop)
  reconcile() {}
}
`
const PACKAGE = {
  name: 'shop-operator',
  type: 'module',
  version: '1.2.3',
  description: 'Opens shops.',
  keywords: ['shop'],
  author: 'Ann <ann@example.com> (https://ann.example.com)',
  repository: { type: 'git', url: 'git+https://git.example.com/ann/shop.git' },
  homepage: 'https://shop.example.com/',
}
const OLM = `
displayName: Shops
icon: icon.svg
categories: [Storage]
kinds:
  Shop: { description: A shop. }
`
const SAMPLES = `
apiVersion: v1
kind: ConfigMap
metadata: { name: none-of-its-kinds }
---
apiVersion: example.com/v1
kind: Shop
metadata: { name: corner }
`
const CSV = 'config/bundle/manifests/shop-operator.clusterserviceversion.yaml'

interface Csv {
  readonly metadata: { name: string; annotations: Record<string, string> }
  readonly spec: Record<string, unknown>
}

describe('tsop generate bundle', function () {
  this.timeout(60_000)
  let project: Project
  beforeEach(() => {
    project = new Project({
      'handlers/shop.ts': HANDLER,
      'package.json': JSON.stringify(PACKAGE),
      'olm.yaml': OLM,
      'icon.svg': '<svg/>',
      'samples/shops.yaml': SAMPLES,
    })
  })
  afterEach(() => project.remove())
  const tsop = (...args: string[]) => project.run(['generate', 'bundle', ...args], { command: 'tsop' })
  const csv = () => parseYaml(readFileSync(join(project.path, CSV), 'utf8'))[0]?.value as Csv

  it('writes a bundle from the handlers, olm.yaml, package.json and samples, and says nothing where all is known', async () => {
    const { code, stdout, stderr } = await tsop()
    expect([code, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.equal(
      [
        'bundle.Dockerfile',
        'manifests/shop-operator-metrics.service.yaml',
        'manifests/shop-operator.clusterserviceversion.yaml',
        'manifests/shop-operator.poddisruptionbudget.yaml',
        'manifests/shops.example.com-edit.clusterrole.yaml',
        'manifests/shops.example.com-view.clusterrole.yaml',
        'manifests/shops.example.com.crd.yaml',
        'metadata/annotations.yaml',
      ]
        .map((file) => `config/bundle/${file}  written\n`)
        .join(''),
    )
    const { metadata, spec } = csv()
    expect(metadata.name).to.equal('shop-operator.v1.2.3')
    expect(metadata.annotations).to.include({
      containerImage: 'shop-operator:1.2.3',
      description: 'Opens shops.',
      repository: 'https://git.example.com/ann/shop',
    })
    expect(JSON.parse(metadata.annotations['alm-examples'] ?? '')).to.deep.equal([
      { apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name: 'corner' } },
    ])
    expect(spec).to.deep.include({
      displayName: 'Shops',
      description: 'Opens shops.',
      keywords: ['shop'],
      provider: { name: 'Ann', url: 'https://ann.example.com' },
      maintainers: [{ name: 'Ann', email: 'ann@example.com' }],
      links: [
        { name: 'Homepage', url: 'https://shop.example.com/' },
        { name: 'Source', url: 'https://git.example.com/ann/shop' },
      ],
      icon: [{ base64data: Buffer.from('<svg/>').toString('base64'), mediatype: 'image/svg+xml' }],
    })
  })

  it('finds it up to date, or tells what is not, and leaves it', async () => {
    await tsop()
    expect(await tsop('--check')).to.deep.equal({ code: 0, stdout: '', stderr: '' })
    const before = readFileSync(join(project.path, CSV), 'utf8')
    project.write('olm.yaml', OLM.replace('A shop.', 'A large shop.'))
    const { code, stdout, stderr } = await tsop('--check')
    expect([code, stderr]).to.deep.equal([1, `${CSV}: is out of date\n`])
    expect(stdout).to.match(/^-\s+description: A shop\.\n\+\s+description: A large shop\.$/m)
    expect(readFileSync(join(project.path, CSV), 'utf8')).to.equal(before)
  })

  it('shows by --dry-run what it would write, and does not', async () => {
    const { code, stdout } = await tsop('--dry-run')
    expect(code).to.equal(0)
    expect(stdout).to.include(`${CSV}: would be written\n`)
    expect(existsSync(join(project.path, 'config'))).to.equal(false)
  })

  it('overwrites no edit, and then writes nothing at all', async () => {
    await tsop()
    const edited = `${readFileSync(join(project.path, CSV), 'utf8')}# mine\n`
    project.write(CSV, edited)
    project.write('package.json', JSON.stringify({ ...PACKAGE, version: '1.2.4' }))
    const { code, stderr } = await tsop()
    expect(code).to.equal(1)
    expect(stderr).to.include(`${CSV} was edited by hand`)
    expect(readFileSync(join(project.path, CSV), 'utf8')).to.equal(edited)
  })

  it('tells what a catalogue would like to know', async () => {
    project = new Project({
      'handlers/shop.ts': HANDLER,
      'package.json': '{ "name": "x", "version": "0.1.0", "author": "Ann", "type": "module" }',
    })
    const { code, stderr } = await tsop()
    expect(code).to.equal(0)
    expect(stderr).to.equal(
      'a catalogue would like to know (olm.yaml): description, icon, maintainers, links, keywords, categories, kinds.Shop.description\n' +
        'there is no example of Shop: put one into samples/, or name it with --samples\n',
    )
  })

  it('does not give the words of a package to one of its operators', async () => {
    await tsop('--name', 'other')
    const text = readFileSync(join(project.path, 'config/bundle/manifests/other.clusterserviceversion.yaml'), 'utf8')
    expect(text).to.not.include('Opens shops.')
  })

  it('takes samples and olm.yaml from where it is told', async () => {
    project.write('about/olm.yaml', OLM.replace('Shops', 'Elsewhere').replace('icon.svg', '../icon.svg'))
    project.write('more/one.yaml', SAMPLES.replace('corner', 'mall'))
    expect((await tsop('--olm', 'about/olm.yaml', '--samples', 'more', '--image', 'registry.example.com/shop:9')).code).to.equal(0)
    const { metadata, spec } = csv()
    expect(spec['displayName']).to.equal('Elsewhere')
    expect(metadata.annotations['containerImage']).to.equal('registry.example.com/shop:9')
    expect(metadata.annotations['alm-examples']).to.include('mall').and.not.include('corner')
    expect(readFileSync(join(project.path, CSV), 'utf8')).to.match(
      /^# Made by `tsop generate bundle handlers --image registry.example.com\/shop:9 --samples more --olm about\/olm.yaml`;/,
    )
  })

  it('refuses what is said of a kind that the operator does not have', async () => {
    project.write('olm.yaml', 'kinds: { Stall: {} }')
    expect(await tsop()).to.deep.equal({ code: 3, stdout: '', stderr: 'tsop: olm.yaml: kinds.Stall: the operator has no kind Stall\n' })
    expect(existsSync(join(project.path, 'config'))).to.equal(false)
  })

  it('refuses several namespaces, and what OLM cannot be told', async () => {
    expect(await tsop('-n', 'a', '-n', 'b')).to.include({ code: 2 })
    project.write('handlers/shop.ts', HANDLER.replace('@onReconcile(Shop)', "@onReconcile(Shop, { namespaces: ['a'] })"))
    const { code, stderr } = await tsop('-n', 'a')
    expect([code, stderr]).to.deep.equal([
      3,
      'tsop: generate bundle: ShopHandler: OLM says which namespace is served, and so does @onReconcile: leave one of the two out\n',
    ])
  })
})
