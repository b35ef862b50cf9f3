/**
 * The code in README and guide is real: each `ts` block names its file in its first line (`// file: name.ts`), is compiled as strictly as
 * the project itself, and is loaded as `tsop-run` loads it. A block that names a file again goes on where the last one ended.
 * Files that end in `.test.ts` are run.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import { loadHandlers } from '../../../lib/cli/load-handlers.ts'
import { blocks, pagesIn, ROOT, read } from './markdown.ts'

describe('code in the documentation', () => {
  // Within the project, so that `tsop` is this very package; hidden, so that nothing else takes notice.
  const directory = join(ROOT, `test/unit/docs/.examples-${process.pid}`)
  const pages = ['README.md', ...pagesIn('docs/guide')]
  const files = new Map(pages.flatMap((page) => [...examplesOf(page)].map(([name, text]) => [join(basename(page, '.md'), name), text])))

  before(() => {
    for (const [path, text] of files) {
      mkdirSync(join(directory, path, '..'), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ extends: '../../../../tsconfig.json', include: ['*/*.ts'], exclude: [] }),
    )
  })

  after(() => rmSync(directory, { recursive: true, force: true }))

  it('is there', () => expect(files).to.not.have.length(0))

  it('passes the type checker', function () {
    this.timeout(120_000)
    run('node_modules/.bin/tsc', '--project', directory)
  })

  for (const [path, text] of files) {
    if (path.endsWith('.test.ts')) {
      it(`${path} passes`, function () {
        this.timeout(120_000)
        run(
          'node_modules/.bin/mocha',
          '--no-config',
          '--node-option=import=tsx',
          '--node-option=conditions=tsop-source',
          join(directory, path),
        )
      })
    } else if (/^ *@onReconcile/m.test(text)) {
      it(`${path} loads`, async function () {
        this.timeout(30_000)
        expect(await loadHandlers([path], { cwd: directory })).to.not.have.length(0)
      })
    }
  }
})

function examplesOf(page: string): Map<string, string> {
  const examples = new Map<string, string>()
  for (const { text, line } of blocks(read(page), 'ts')) {
    const [, name] = /^\/\/ file: ([-a-z0-9.]+\.ts)\n/.exec(text) ?? []
    if (name === undefined) throw new Error(`${page}:${line}: the first line of a ts block must name its file: // file: name.ts`)
    examples.set(name, `${examples.get(name) ?? ''}${text}`)
  }
  return examples
}

/** Fails with what the program printed. */
function run(program: string, ...args: string[]): void {
  try {
    execFileSync(join(ROOT, program), args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${stdout}${stderr}`)
  }
}
