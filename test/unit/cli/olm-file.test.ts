import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { bundleFacts, OLM_FIELDS } from '../../../lib/cli/olm-file.ts'
import { read } from '../docs/markdown.ts'

const PACKAGE = { name: 'shop', version: '1.2.3', description: 'Opens shops.', author: 'Ann <ann@example.com> (https://ann.example.com)' }

describe('what is said about an operator', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'olm-'))
    write('package.json', JSON.stringify(PACKAGE))
    write('icon.png', 'x')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const facts = ({ given, shared = false }: { given?: string; shared?: boolean } = {}) =>
    bundleFacts({ operator: 'shop-operator', paths: ['handlers'], cwd: folder, given, shared })

  it('comes from package.json where olm.yaml says nothing', () => {
    expect(facts()).to.deep.include({
      version: '1.2.3',
      displayName: 'Shop Operator',
      summary: 'Opens shops.',
      description: 'Opens shops.',
      provider: { name: 'Ann', url: 'https://ann.example.com' },
      maintainers: [{ name: 'Ann', email: 'ann@example.com' }],
      capabilities: 'Basic Install',
      minKubeVersion: '1.30.0',
      channels: ['stable'],
    })
  })

  it('comes from olm.yaml first', () => {
    write('olm.yaml', 'version: 2.0.0\ndescription: Shops.\nprovider: { name: Bob }\nmaintainers: []\nkeywords: [a]\nicon: icon.png')
    expect(facts()).to.deep.include({
      version: '2.0.0',
      summary: 'Opens shops.',
      description: 'Shops.',
      provider: { name: 'Bob' },
      maintainers: [],
      keywords: ['a'],
      icon: { base64data: 'eA==', mediatype: 'image/png' },
    })
  })

  it('has an icon that a cluster can take', () => {
    write('olm.yaml', 'icon: icon.png')
    write('icon.png', '')
    expect(() => facts()).to.throw(CliError, 'olm.yaml: icon icon.png: the file is empty')
    write('icon.png', 'x'.repeat(512 * 1024 + 1))
    expect(() => facts()).to.throw(
      CliError,
      'olm.yaml: icon icon.png: it has 513 KiB; a cluster takes a bundle with one of at most 512 KiB',
    )
    write('icon.png', 'x'.repeat(512 * 1024))
    expect(facts().icon?.mediatype).to.equal('image/png')
  })

  it('is refused where it holds no fields at all', () => {
    write('olm.yaml', '- displayName: Shop')
    expect(() => facts()).to.throw(CliError, /^olm\.yaml: expected fields such as displayName, each with its value$/)
  })

  it('is read beside the handlers before it is read above them, and never beyond package.json', () => {
    write('olm.yaml', 'displayName: Above')
    expect(facts().displayName).to.equal('Above')
    write('handlers/olm.yaml', 'displayName: Beside\nicon: ../icon.png')
    expect(facts()).to.deep.include({ displayName: 'Beside', icon: { base64data: 'eA==', mediatype: 'image/png' } })
    write('handlers/package.json', JSON.stringify(PACKAGE))
    rmSync(join(folder, 'handlers/olm.yaml'))
    expect(facts().displayName).to.equal('Shop Operator')
    expect(facts({ given: 'olm.yaml' }).displayName).to.equal('Above')
  })

  it('is not what the package says, where that has several operators', () => {
    expect(facts({ shared: true })).to.not.have.any.keys('summary', 'description')
  })

  it('does not include what nobody said', () => {
    write('package.json', '{ "name": "a", "version": "1.0.0", "author": "Ann" }')
    expect(facts()).to.not.have.any.keys('icon', 'summary', 'description', 'maturity', 'repository', 'replaces', 'skipRange')
    expect(facts()).to.deep.include({ maintainers: [], links: [], keywords: [], categories: [], skips: [], architectures: [] })
  })

  it('takes what package.json says only in a form that catalogues understand', () => {
    const odd = {
      version: 'v1',
      homepage: 'here',
      keywords: 'none',
      repository: 'ann/shop',
      maintainers: ['Bob', { name: 'Eve', email: 'eve@example.com' }],
    }
    write('package.json', JSON.stringify({ ...PACKAGE, ...odd }))
    write('olm.yaml', 'version: 1.0.0')
    expect(facts()).to.deep.include({
      repository: 'https://github.com/ann/shop',
      links: [{ name: 'Source', url: 'https://github.com/ann/shop' }],
      keywords: [],
      maintainers: [
        { name: 'Eve', email: 'eve@example.com' },
        { name: 'Ann', email: 'ann@example.com' },
      ],
    })
  })

  const missing: readonly [string, object][] = [
    ['olm.yaml: version is missing: say it here, or in package.json', { ...PACKAGE, version: undefined }],
    ['olm.yaml: provider is missing: say it here, or in package.json as author', { ...PACKAGE, author: undefined }],
  ]
  for (const [error, content] of missing) {
    it(`makes nothing up: ${JSON.stringify(content)}`, () => {
      write('package.json', JSON.stringify(content))
      expect(facts).to.throw(CliError, error)
    })
  }

  const odd: readonly [what: string, content: unknown, error: string][] = [
    [
      'a version',
      { ...PACKAGE, version: 'abc' },
      'package.json: version is to be a semantic version such as 1.2.3, not "abc"; repair it, or say version in olm.yaml',
    ],
    ['a version that is a number', { ...PACKAGE, version: 1 }, 'package.json: version is to be a semantic version such as 1.2.3, not 1; '],
    [
      'an author',
      { ...PACKAGE, author: {} },
      'package.json: author is to be a name, such as "Ann <ann@example.com>", not {}; repair it, or say provider in olm.yaml',
    ],
    ['an object', null, 'package.json: expected an object, as npm init writes it'],
    ['an object, but a list', [], 'package.json: expected an object, as npm init writes it'],
  ]
  for (const [what, content, error] of odd) {
    it(`says what of package.json is not ${what}, and not that it is missing`, () => {
      write('package.json', JSON.stringify(content))
      expect(facts).to.throw(CliError, error)
    })
  }

  it('does not mind what package.json says where olm.yaml says it better', () => {
    write('package.json', JSON.stringify({ ...PACKAGE, version: 'abc', author: {} }))
    write('olm.yaml', 'version: 2.0.0\nprovider: { name: Bob }')
    expect(facts()).to.deep.include({ version: '2.0.0', provider: { name: 'Bob' } })
  })

  const wrong: readonly [what: string, olm: string, error: string][] = [
    ['a field that does not exist', 'categorys: [Storage]', 'olm.yaml: there is no field categorys (did you mean categories?)'],
    ['a field inside that does not exist', 'provider: { name: A, mail: x }', 'olm.yaml: there is no field provider.mail'],
    ['a level that does not exist', 'capabilities: Wonderful', 'olm.yaml: capabilities: Invalid option'],
    ['a maintainer without an address', 'maintainers: [{ name: Ann }]', 'olm.yaml: maintainers.0.email: '],
    ['a link that is none', 'links: [{ name: a, url: here }]', 'olm.yaml: links.0.url: '],
    ['a version that is none', 'version: newest', 'olm.yaml: version: expected a version such as 1.2.3'],
    ['a version that is a number', 'version: 1.2', 'olm.yaml: version: '],
    ['no channel', 'channels: []', 'olm.yaml: channels: '],
    ['a channel with a comma', 'channels: ["a,b"]', 'olm.yaml: channels.0: expected a name without spaces and commas'],
    ['an icon that is not there', 'icon: none.png', 'olm.yaml: icon none.png: ENOENT'],
    [
      'an icon of another kind',
      'icon: icon.tiff',
      'olm.yaml: icon icon.tiff: expected a file that ends with .gif, .jpeg, .jpg, .png, .svg',
    ],
    ['a list', '[]', 'olm.yaml: '],
    ['broken YAML', 'a: [', 'olm.yaml:1:'],
  ]
  for (const [what, olm, error] of wrong) {
    it(`refuses ${what}`, () => {
      write('olm.yaml', olm)
      expect(facts).to.throw(CliError, error)
    })
  }

  it('cannot be in a file that is not there', () => {
    expect(() => facts({ given: 'none.yaml' })).to.throw(CliError, 'cannot read none.yaml: ENOENT')
  })

  it('has its fields in the guide, in this order', () => {
    const [, section = ''] = read('docs/guide/publishing.md').split('### `olm.yaml`\n')
    const listed = [...(section.split('\n#')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field)
    expect(listed).to.deep.equal(Object.keys(OLM_FIELDS.shape))
  })
})
