/** The bundles of tsop generate bundle, as the Operator Framework sees them (github.com/operator-framework/api). */
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Project } from '../unit/cli/project.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const BUNDLES = ['config', ...['disruption-budgets', 'renderings', 'secret-rollout', 'teams'].map((name) => `examples/${name}/config`)].map(
  (config) => `${config}/bundle`,
)

const CSV = 'manifests/database-operator.clusterserviceversion.yaml'
const CRD = 'manifests/databases.db.example.com.crd.yaml'
const PDB = 'manifests/database-operator.poddisruptionbudget.yaml'

interface Report {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

describe('the bundles of tsop generate bundle', function () {
  this.timeout(600_000)
  let program: string
  const made: { remove(): Promise<void> | void }[] = []

  before(() => {
    const build = fileURLToPath(new URL('programs/build', import.meta.url))
    program = `${execFileSync(build, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()}/bundle`
  })
  afterEach(async () => {
    for (const each of made.splice(0)) await each.remove()
  })

  for (const bundle of BUNDLES) {
    it(`in ${bundle} are as they should be, without a warning that means something`, async () => {
      expect(await look(join(PROJECT, bundle))).to.deep.equal({ errors: [], warnings: [] })
    })
  }

  const WEBHOOKS = `
import { defaults, onDelete, onReconcile, owns, resource, validates, z } from 'tsop'
import { ConfigMap } from 'tsop/kinds'

export const Crate = resource({
  group: 'shop.example.com', version: 'v2', kind: 'Crate',
  spec: z.object({ size: z.int().default(1).describe('How large.') }),
  versions: [{
    version: 'v1', spec: z.object({ width: z.int().default(1) }),
    to: ({ spec: { width } }) => ({ spec: { size: width } }),
    from: ({ spec: { size } }) => ({ spec: { width: size } }),
  }],
})
export class CrateHandler {
  @defaults(Crate) fill() {}
  @validates(Crate, { on: ['create', 'delete'], failurePolicy: 'Ignore' }) check() {}
  @owns(ConfigMap) map() { return { data: {} } }
  @onReconcile(Crate) reconcile() {}
  @onDelete(Crate) remove() {}
}
`
  const PLAIN = `
import { onReconcile, resource, validates, z } from 'tsop'
export const Shop = resource({ group: 'example.com', version: 'v1', kind: 'Shop', spec: z.object({}) })
export class ShopHandler { @onReconcile(Shop) reconcile() {} @validates(Shop) check() {} }
`

  it('with webhooks and conversions are as they should be', async () => {
    const { errors, warnings } = await look(await generated(WEBHOOKS))
    expect(errors).to.deep.equal([])
    expect(warnings.filter((warning) => /webhook|conversion/i.test(warning))).to.deep.equal([])
  })

  it('for one namespace, with webhooks, are as they should be', async () => {
    expect((await look(await generated(PLAIN, '-n', 'any'))).errors).to.deep.equal([])
  })

  describe('are refused', () => {
    const broken: readonly [what: string, file: string, from: string | RegExp, to: string, error: RegExp][] = [
      ['without a kind that is in it', CSV, /^ {2}customresourcedefinitions:[\s\S]*?(?=^ {2}install:)/m, '', /not defined in CSV/],
      [
        'with a kind that is not in it',
        CSV,
        'name: databases.db.example.com',
        'name: databases.other.example.com',
        /owned CRD.* not found in bundle/,
      ],
      ['without install modes', CSV, /^ {2}installModes:[\s\S]*?(?=^ {2}customres)/m, '', /install modes not found/],
      ['without a provider', CSV, /^ {2}provider:\n.*\n/m, '', /Provider.Name not specified/],
      ['with an icon of no known kind', CSV, 'image/svg+xml', 'image/tiff', /does not have a valid mediatype/],
      ['with a category of its own', CSV, 'categories: Database', 'categories: Gardening', /not in the set of standard categories/],
      ['with a level that does not exist', CSV, 'capabilities: Basic Install', 'capabilities: Wonderful', /not a valid capabilities level/],
      ['with a field that does not exist', CSV, 'clusterPermissions:', 'clusterRights:', /unknown field/],
      ['with an example of a foreign kind', CSV, '"kind": "Database"', '"kind": "Other"', /must have a provided API/],
      ['with a version that is none', CSV, "version: '0.1.0'", 'version: newest', /version/i],
      ['with a definition that is none', CRD, 'scope: Namespaced', 'scope: Everywhere', /scope/],
      ['with a budget that stops every drain', PDB, 'maxUnavailable: 1', 'maxUnavailable: 0', /cannot be set to 0/],
    ]
    for (const [what, file, from, to, error] of broken) {
      it(what, async () => {
        const folder = copied('config/bundle')
        const text = readFileSync(join(folder, file), 'utf8')
        expect(text.replace(from, to), 'is broken').to.not.equal(text)
        writeFileSync(join(folder, file), text.replace(from, to))
        expect((await look(folder)).errors.join('\n')).to.match(error)
      })
    }

    it('without a definition that they name', async () => {
      const folder = copied('config/bundle')
      rmSync(join(folder, CRD))
      expect((await look(folder)).errors.join('\n')).to.match(/owned CRD.* not found in bundle/)
    })
  })

  async function generated(handler: string, ...args: string[]): Promise<string> {
    const project = new Project({ 'handlers/h.ts': handler })
    made.push(project)
    project.write('package.json', '{ "name": "crates", "version": "1.2.3", "type": "module", "author": "Example" }')
    const { code, stderr } = await project.run(['generate', 'bundle', ...args], { command: 'tsop' })
    expect(code, stderr).to.equal(0)
    return join(project.path, 'config/bundle')
  }

  function copied(bundle: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
    made.push({ remove: () => rmSync(folder, { recursive: true }) })
    cpSync(join(PROJECT, bundle), folder, { recursive: true })
    return folder
  }

  /** What it says also by its exit code is checked here. */
  function look(folder: string): Promise<Report> {
    return new Promise((resolve, reject) => {
      execFile(program, [folder], { timeout: 60_000 }, (failed, stdout, stderr) => {
        if (stdout === '') return reject(new Error(stderr, { cause: failed }))
        const { errors, warnings } = JSON.parse(stdout) as Report
        expect(failed === null, 'exit code').to.equal(errors.length === 0)
        resolve({ errors, warnings: warnings.filter((warning) => !isAboutRoles(warning)) })
      })
    })
  }
})

/** A role names no version, so that the rules take every right on such a resource for one on the version that is gone. */
function isAboutRoles(warning: string): boolean {
  const [, named] = /removed in v1\.25\. .* Migrate the API\(s\) for (.*)$/.exec(warning) ?? []
  const paths = [...(named ?? '').matchAll(/"([^"]+)"/g)].map(([, path = '']) => path)
  return paths.length > 0 && paths.every((path) => /Permissions\[\d+\]\.Rules\[\d+\]$/.test(path))
}
