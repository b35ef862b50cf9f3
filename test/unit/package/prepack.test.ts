import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { run } from './packed.ts'

describe('npm pack', function () {
  this.timeout(30_000)

  it('builds the package in a clone where nothing is built, so that none is packed without its code', () => {
    const directory = mkdtempSync(join(tmpdir(), 'tsop-prepack-'))
    try {
      const given = JSON.parse(readFileSync(fileURLToPath(new URL('../../../package.json', import.meta.url)), 'utf8'))
      const scripts = { ...given.scripts, build: 'mkdir dist && touch dist/index.js' }
      writeFileSync(join(directory, 'package.json'), JSON.stringify({ ...given, scripts }))
      const [{ files }] = JSON.parse(run('npm', ['pack', '--json'], directory)) as [{ files: { path: string }[] }]
      expect(files.map(({ path }) => path)).to.include('dist/index.js')
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
