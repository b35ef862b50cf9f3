import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileChanges } from '../../../lib/cli/file-changes.ts'

describe('the watch on handler files', () => {
  let root: string
  let changes: FileChanges
  const write = (name: string) => writeFileSync(join(root, name), String(Math.random()))
  /** As many editors save: a new file takes the place of the old one. */
  const replace = (name: string) => {
    write(`${name}.tmp`)
    renameSync(join(root, `${name}.tmp`), join(root, name))
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tsop-changes-'))
    mkdirSync(join(root, 'sub'))
    write('a.ts')
    write('sub/b.ts')
    changes = new FileChanges([root])
  })
  afterEach(() => {
    changes.close()
    rmSync(root, { recursive: true, force: true })
  })

  it('hears of a file each time it is replaced by another one', async () => {
    for (let i = 0; i < 3; i++) {
      const change = changes.next()
      replace('a.ts')
      await change
    }
  })

  it('hears of files in directories, also in those that are made later and made anew', async () => {
    for (const step of [
      () => replace('sub/b.ts'),
      () => mkdirSync(join(root, 'new')),
      () => write('new/c.ts'),
      () => replace('new/c.ts'),
    ]) {
      const change = changes.next()
      step()
      await change
    }
    const removed = changes.next()
    rmSync(join(root, 'sub'), { recursive: true })
    await removed
    const anew = changes.next()
    mkdirSync(join(root, 'sub'))
    await anew
    const change = changes.next()
    write('sub/b.ts')
    await change
  })
})
