import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { NODE_FLAGS } from '../../../lib/generate/container.ts'
import { Project, widgetHandler } from './project.ts'

describe('tsop build', function () {
  this.timeout(60_000)
  let project: Project

  afterEach(() => project.remove())

  it('makes one file that node alone runs, in any folder, with the name that the project has', async () => {
    project = new Project({
      'handlers/widget.ts': widgetHandler(),
      'handlers/gadget.ts': widgetHandler({ className: 'GadgetHandler', kind: 'Gadget' }),
      'package.json': '{ "name": "shop-operator", "version": "1.4.0", "type": "module" }',
    })
    const { code, stdout, stderr } = await build()
    expect([code, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.match(/^build\/operator\.mjs {2}\S+ [kM]B, and \S+ [kM]B of source map; loads in \d+ ms$/m)
    // The image that the manifests name.
    expect(stdout).to.match(/^Make the image: +docker build -t shop-operator:1\.4\.0 build$/m)
    const lines = 'Gadget.example.com: GadgetHandler in handlers/gadget.ts\nWidget.example.com: WidgetHandler in handlers/widget.ts\n'
    expect(elsewhere(['--check'])).to.equal(lines)
    const map = JSON.parse(read('build/operator.mjs.map')) as { sources: string[] }
    expect(map.sources.some((source) => source.endsWith('handlers/widget.ts'))).to.equal(true)
  })

  it('takes the options of tsop-run, but no other handlers', async () => {
    project = new Project({ 'handlers/widget.ts': widgetHandler() })
    await build()
    expect(elsewhere(['--version'])).to.match(/^\d+\.\d+\.\d+/)
    expect(() => elsewhere(['--check', 'more/'])).to.throw('this is a bundle with its handlers built in; it loads no others: more/')
    expect(() => elsewhere(['--embedded'])).to.throw(
      'tsop-run: the embedded API server does not start: it is not in this bundle, which needs a cluster',
    )
  })

  it('keeps modules in their places: what they read from beside themselves comes along, and none takes itself for the main file', async () => {
    const handler = `
      import { readFileSync } from 'node:fs'
      ${widgetHandler({ className: 'Base' })}
      if (import.meta.main) throw new Error('started')
      const name = readFileSync(new URL('./data/name.txt', import.meta.url), 'utf8').trim()
      export const handlers = () => [new { [name]: class extends Base {} }[name]()]
    `
    project = new Project({ 'handlers/widget.ts': handler, 'handlers/data/name.txt': 'FromAFile\n' })
    const { stdout, stderr } = await build()
    expect(stderr).to.equal('')
    expect(stdout).to.include('build/handlers/data/name.txt  copied: a handler reads it\n')
    expect(read('build/Dockerfile')).to.include('COPY ["handlers/data/name.txt", "./handlers/data/name.txt"]')
    expect(elsewhere(['--check'])).to.include('FromAFile in handlers/widget.ts')
  })

  it('writes a Dockerfile without node_modules and without root, and leaves one alone that was edited', async () => {
    project = new Project({ 'handlers/widget.ts': widgetHandler() })
    await build()
    const dockerfile = read('build/Dockerfile')
    expect(dockerfile).to.match(/^FROM gcr\.io\/distroless\/nodejs24-debian13:nonroot$/m)
    expect(dockerfile).to.match(/^USER 65532:65532$/m)
    expect(dockerfile).to.include(
      `ENTRYPOINT ["/nodejs/bin/node", ${NODE_FLAGS.map((flag) => `"${flag}"`).join(', ')}, "/app/operator.mjs"]`,
    )
    project.write('build/Dockerfile', `${dockerfile}LABEL mine=true\n`)
    expect((await build()).stdout).to.include('build/Dockerfile  kept as it was edited; --force overwrites it')
    expect(read('build/Dockerfile')).to.include('mine=true')
    expect((await build('--force')).stdout).to.include('build/Dockerfile  written')
    expect(read('build/Dockerfile')).to.equal(dockerfile)
  })

  for (const [output, file] of [
    ['package.json', 'package.json/operator.mjs'],
    ['package.json/x', 'package.json/x/operator.mjs'],
  ] as const) {
    it(`says what is in the way of -o ${output}`, async () => {
      project = new Project({ 'handlers/widget.ts': widgetHandler() })
      const { code, stdout, stderr } = await build('-o', output)
      expect(stderr).to.match(
        new RegExp(`^tsop: cannot write ${file}\\S*: package\\.json is a file, not a directory; move it, or name another directory\n$`),
      )
      expect([code, stdout]).to.deep.equal([1, ''])
    })
  }

  it('says which directory is in the place of the bundle', async () => {
    project = new Project({ 'handlers/widget.ts': widgetHandler(), 'build/operator.mjs/a': '' })
    expect(await build()).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'tsop: cannot write build/operator.mjs: build/operator.mjs is a directory, not a file; move it, or name another place\n',
    })
  })

  it('says where in the handlers something is missing', async () => {
    project = new Project({ 'handlers/widget.ts': `import './nowhere.ts'\n${widgetHandler()}` })
    const { code, stderr } = await build()
    expect([code, stderr]).to.deep.equal([3, 'tsop: handlers/widget.ts:1:8: Could not resolve "./nowhere.ts"\n'])
  })

  it('says what is wrong with handlers that do not load', async () => {
    project = new Project({ 'handlers/widget.ts': 'export const nothing = 1\n' })
    const { code, stderr } = await build()
    expect(code).to.equal(3)
    expect(stderr).to.match(/^tsop: the bundle does not load: no handler/)
  })

  const build = (...args: string[]) => project.run(['build', ...args], { command: 'tsop' })
  const read = (file: string) => readFileSync(join(project.path, file), 'utf8')

  /** What the bundle says in a folder without anything else, as in an image. */
  function elsewhere(args: readonly string[]): string {
    const folder = mkdtempSync(join(tmpdir(), 'image-'))
    try {
      cpSync(join(project.path, 'build'), folder, { recursive: true })
      writeFileSync(join(folder, 'package.json'), '{}')
      return execFileSync(process.execPath, [...NODE_FLAGS, 'operator.mjs', ...args], {
        cwd: folder,
        encoding: 'utf8',
        env: { HOME: folder },
        stdio: 'pipe',
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
})
