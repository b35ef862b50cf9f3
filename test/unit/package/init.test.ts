/** A new project, from `tsop init` of the packed package to all that its README says can be done with it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { cleanEnv, pack, run } from './packed.ts'

describe('a project made by tsop init', function () {
  this.timeout(300_000)
  const directory = mkdtempSync(join(tmpdir(), 'tsop-init-'))
  const project = join(directory, 'shop-operator')

  before(() => {
    const tarball = pack(directory)
    const elsewhere = join(directory, 'elsewhere')
    mkdirSync(elsewhere)
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], elsewhere)
    const said = run(join(elsewhere, 'node_modules/.bin/tsop'), ['init', 'shop-operator'], directory)
    expect(said).to.include('cd shop-operator\n  npm install\n')
    // The version that package.json asks for is not published yet: the tarball stands for it.
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], project)
  })

  after(() => rmSync(directory, { recursive: true, force: true }))

  const npm = (...args: string[]) => run('npm', args, project)

  it('passes its tests', () => expect(npm('test')).to.match(/pass 4\n.*fail 0\n/s))

  it('passes its type checker, and its handlers load', () => {
    npm('run', 'types')
    expect(npm('run', 'check')).to.include('Shop.example.com: ShopHandler in handlers/shop.ts')
  })

  it('starts without a cluster, and makes its sample ready', async () => {
    const child = spawn('npm', ['start'], { cwd: project, env: { ...cleanEnv(), HOME: directory }, detached: true })
    const exited = once(child, 'exit')
    try {
      await new Promise<void>((resolve, reject) => {
        let said = ''
        const listen = (text: Buffer) => {
          said += text
          if (/"name":"shop-sample".*"msg":"ready"/.test(said)) resolve()
        }
        child.stdout.on('data', listen)
        child.stderr.on('data', listen)
        child.once('exit', () => reject(new Error(said)))
      })
    } finally {
      // The whole group: npm, tsop-run, and the operator that it restarts.
      process.kill(-(child.pid as number), 'SIGINT')
      await exited
    }
  })

  it('generates its manifests, which are then up to date', () => {
    npm('run', 'generate')
    expect(readFileSync(join(project, 'config/crd/shops.example.com.yaml'), 'utf8')).to.include('kind: CustomResourceDefinition')
    npm('run', 'generate:check')
  })

  it('gets another kind by tsop add', () => {
    const said = run(join(project, 'node_modules/.bin/tsop'), ['add', 'kind', 'WebCache'], project)
    expect(said).to.include('handlers/web-cache.ts\n')
    expect(npm('test')).to.match(/pass 8\n.*fail 0\n/s)
    expect(npm('run', 'check')).to.include('WebCache.example.com')
    expect(() => npm('run', 'generate:check')).to.throw('webcaches.example.com.yaml: is missing')
    npm('run', 'types')
  })

  it('becomes a bundle that loads', () => {
    npm('run', 'build')
    const bundled = run(process.execPath, ['build/operator.mjs', '--check'], project)
    expect(bundled).to.include('Shop.example.com')
  })
})
