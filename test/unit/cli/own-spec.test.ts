import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { ownSpec } from '../../../lib/cli/own-spec.ts'
import { version } from '../../../lib/cli/version.ts'

describe('what a new project asks npm for', () => {
  const directory = mkdtempSync(join(tmpdir(), 'own-spec-'))
  const root = join(directory, 'there/node_modules/tsop')
  const project = join(directory, 'here/shop')
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  const installed = (resolved: string) =>
    write('there/node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/tsop': { resolved } } }))
  beforeEach(() => mkdirSync(root, { recursive: true }))
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('is the version, where tsop came from a registry', () => {
    installed('https://registry.example.com/tsop/-/tsop-0.1.0.tgz')
    expect(ownSpec(project, root)).to.deep.equal({ spec: `^${version()}` })
  })

  it('is the tarball that tsop was installed from', () => {
    write('tsop-0.1.0.tgz', '')
    installed('file:../tsop-0.1.0.tgz')
    expect(ownSpec(project, root)).to.deep.equal({ spec: 'file:../../tsop-0.1.0.tgz', file: join(directory, 'tsop-0.1.0.tgz') })
  })

  it('is the version, where that tarball is gone, or nothing tells where tsop came from', () => {
    expect(ownSpec(project, root)).to.deep.equal({ spec: `^${version()}` })
    installed('file:../tsop-0.1.0.tgz')
    expect(ownSpec(project, root)).to.deep.equal({ spec: `^${version()}` })
  })

  it('is the clone that it runs from', () => {
    expect(ownSpec(project, join(directory, 'clones/tsop'))).to.deep.equal({
      spec: 'file:../../clones/tsop',
      file: join(directory, 'clones/tsop'),
    })
  })
})
