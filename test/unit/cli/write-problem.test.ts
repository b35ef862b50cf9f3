import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { writeProblem } from '../../../lib/cli/write-problem.ts'

describe('what is told of a file that cannot be written', () => {
  let root: string
  before(() => {
    root = mkdtempSync(join(realpathSync(tmpdir()), 'tsop-write-'))
    mkdirSync(join(root, 'folder'))
    writeFileSync(join(root, 'file'), '')
  })
  after(() => rmSync(root, { recursive: true, force: true }))
  /** As `node:fs` throws it; root may write everywhere, so that not all of them can be had here. */
  const problem = (code: string, path: string, more = {}) =>
    writeProblem(Object.assign(new Error(`${code}: as the system says it`), { code, path: join(root, path), ...more })).replaceAll(
      root,
      '~',
    )

  it('is which file stands where a directory should be', () => {
    expect(problem('EEXIST', 'file')).to.equal('~/file is a file, not a directory; move it, or name another directory')
    expect(problem('ENOTDIR', 'file/a/b')).to.equal('~/file is a file, not a directory; move it, or name another directory')
  })

  it('is which directory stands where a file should be', () => {
    const renamed = { dest: join(root, 'folder') }
    expect(problem('EISDIR', '.folder.1.tsop-part', renamed)).to.equal(
      '~/folder is a directory, not a file; move it, or name another place',
    )
  })

  it('is where the rights end', () => {
    expect(problem('EACCES', 'folder/a/b')).to.equal(
      'you have no permission to write in ~/folder; change its permissions, or name another place',
    )
    expect(problem('EACCES', 'file')).to.equal('you have no permission to write ~/file; change its permissions, or name another place')
    expect(problem('EROFS', 'folder/a')).to.equal('~/folder is on a file system that is read-only; name another place')
  })

  it('is what the system says, of everything else', () => {
    expect(problem('ENOSPC', 'folder/a')).to.equal('ENOSPC: as the system says it')
    expect(writeProblem(new Error('in use'))).to.equal('in use')
  })
})
