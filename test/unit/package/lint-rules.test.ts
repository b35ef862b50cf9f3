/** The rules of biome.json that hold the architecture, tried on files that break them: a rule that no longer bites is no rule. */

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Which folder of lib may import from which (docs/decisions/0002-layout.md). */
const MAY: Readonly<Record<string, readonly string[]>> = {
  resource: [],
  decorators: ['resource'],
  api: ['resource'],
  cache: ['api', 'resource'],
  observe: ['api', 'resource'],
  leadership: ['api', 'resource'],
  engine: ['api', 'cache', 'leadership', 'observe', 'resource'],
  tls: [],
  admission: ['api', 'resource', 'tls'],
  embedded: ['resource', 'tls'],
  generate: ['admission', 'api', 'decorators', 'resource'],
  testing: ['admission', 'api', 'cache', 'decorators', 'embedded', 'engine', 'leadership', 'observe', 'resource', 'tls'],
  cli: ['admission', 'api', 'cache', 'decorators', 'embedded', 'engine', 'generate', 'leadership', 'observe', 'resource', 'testing', 'tls'],
}
const FOLDERS = Object.keys(MAY)

/** What these folders must get from their caller. */
const TIMELESS = ['admission', 'api', 'cache', 'engine', 'leadership', 'observe']
const FORBIDDEN = {
  Date: 'export const x = Date.now()',
  newDate: 'export const x = new Date()',
  performance: 'export const x = performance.now()',
  setTimeout: 'setTimeout(() => {}, 1)',
  setInterval: 'setInterval(() => {}, 1)',
  setImmediate: 'setImmediate(() => {})',
  fetch: "export const x = fetch('http://localhost')",
  timers: "import { setTimeout as wait } from 'node:timers/promises'\n\nexport const x = wait",
  random: 'export const x = Math.random()',
}

interface Diagnostic {
  readonly category: string
  readonly location: { readonly path: string | { readonly file: string } }
}

describe('the linter', function () {
  this.timeout(60_000)
  const directory = mkdtempSync(join(tmpdir(), 'tsop-lint-'))
  after(() => rmSync(directory, { recursive: true, force: true }))

  /** The rules that each file breaks. */
  function lint(files: Readonly<Record<string, string>>): Map<string, Set<string>> {
    rmSync(join(directory, 'lib'), { recursive: true, force: true })
    for (const name of ['biome.json', '.gitignore', 'lint']) cpSync(join(ROOT, name), join(directory, name), { recursive: true })
    if (readdirSync(directory).includes('node_modules') === false) symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
    mkdirSync(join(directory, '.git'), { recursive: true })
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, file)), { recursive: true })
      writeFileSync(join(directory, file), `${text}\n`)
    }
    const biome = join(ROOT, 'node_modules/.bin/biome')
    const { stdout, stderr } = spawnSync(biome, ['lint', '--reporter=json', '--max-diagnostics=none', 'lib'], {
      cwd: directory,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    expect(stdout, stderr).to.match(/^{/)
    const broken = new Map<string, Set<string>>()
    for (const { category, location } of (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics) {
      const path = typeof location.path === 'string' ? location.path : location.path.file
      broken.set(path, (broken.get(path) ?? new Set()).add(category))
    }
    return broken
  }

  it('knows every folder of lib', () => {
    const there = readdirSync(join(ROOT, 'lib'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(FOLDERS).to.include.members(there.map(({ name }) => name))
  })

  it('holds the import arrows, for types as well, and however the path is written', () => {
    const files: Record<string, string> = {}
    const expected = new Set<string>()
    for (const from of FOLDERS) {
      for (const to of FOLDERS) {
        if (from === to) continue
        const forms = {
          value: `import { x } from '../${to}/x.ts'\n\nexport const y = x`,
          type: `import type { X } from '../${to}/x.ts'\n\nexport type Y = X`,
          lazy: `export const y = () => import('../${to}/x.ts')`,
          detour: `export { x } from '../../lib/${to}/x.ts'`,
        }
        for (const [form, text] of Object.entries(forms)) {
          const file = `lib/${from}/to-${to}-${form}.ts`
          files[file] = text
          if (!MAY[from]?.includes(to)) expected.add(file)
        }
      }
      if (from === 'cli') continue
      files[`lib/${from}/to-index.ts`] = "import type { X } from '../index.ts'\n\nexport type Y = X"
      files[`lib/${from}/to-package.ts`] = "import type { X } from 'tsop'\n\nexport type Y = X"
      expected.add(`lib/${from}/to-index.ts`).add(`lib/${from}/to-package.ts`)
    }
    const broken = lint(files)
    const found = [...broken].filter(([, rules]) => rules.has('lint/style/noRestrictedImports')).map(([file]) => file)
    expect(found.sort()).to.deep.equal([...expected].sort())
  })

  it('keeps time, chance and requests out of what must run in simulated time', () => {
    const files: Record<string, string> = {}
    for (const folder of TIMELESS) for (const [name, text] of Object.entries(FORBIDDEN)) files[`lib/${folder}/${name}.ts`] = text
    const allowed = 'lib/api/clock.ts'
    for (const file of [allowed, 'lib/api/http-transport.ts'])
      files[file] = 'export const x = [Math.random(), Date.now()]\nsetTimeout(() => {}, 1)'
    const broken = lint(files)
    const rules = ['lint/style/noRestrictedGlobals', 'lint/style/noRestrictedImports', 'plugin']
    const missed = Object.keys(files).filter((file) => !rules.some((rule) => broken.get(file)?.has(rule)))
    expect(missed).to.deep.equal([allowed])
  })

  it('wants promises awaited and types without any', () => {
    const broken = lint({
      'lib/engine/floating.ts': 'async function f() {}\n\nf()',
      'lib/engine/any.ts': 'export const x: any = 1',
      'lib/engine/default.ts': 'export default 1',
      'lib/engine/console.ts': 'console.log(1)',
      'lib/engine/barrel.ts': "export * from './floating.ts'",
    })
    expect([...(broken.get('lib/engine/floating.ts') ?? [])]).to.include('lint/nursery/noFloatingPromises')
    expect([...(broken.get('lib/engine/any.ts') ?? [])]).to.include('lint/suspicious/noExplicitAny')
    expect([...(broken.get('lib/engine/default.ts') ?? [])]).to.include('lint/style/noDefaultExport')
    expect([...(broken.get('lib/engine/console.ts') ?? [])]).to.include('lint/suspicious/noConsole')
    expect([...(broken.get('lib/engine/barrel.ts') ?? [])]).to.include('lint/performance/noReExportAll')
  })
})
