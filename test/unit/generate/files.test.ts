import { expect } from 'chai'
import { unifiedDiff } from '../../../lib/generate/diff.ts'
import { type Folder, plan } from '../../../lib/generate/plan.ts'
import { stamped, stampOf } from '../../../lib/generate/stamp.ts'

const COMMAND = 'tsop generate crds handlers'

describe('the stamp of a generated file', () => {
  for (const path of ['a.yaml', 'a.ts', 'a.mjs', 'a.md', 'a.json', '_helpers.tpl', 'NOTES.txt', 'Dockerfile']) {
    describe(`in ${path}`, () => {
      const content = path.endsWith('.json') ? '{\n  "a": [\n    1\n  ]\n}\n' : 'one\n\ntwo\n'
      const text = stamped(path, content, COMMAND)

      it('says what made the file', () => expect(stampOf(path, text)).to.deep.equal({ command: COMMAND, intact: true }))

      it('tells an edit', () => {
        expect(stampOf(path, text.replace(path.endsWith('.json') ? '1' : 'two', '2'))).to.deep.equal({ command: COMMAND, intact: false })
      })

      it('bears the line ends of other systems', () => expect(stampOf(path, text.replaceAll('\n', '\r\n'))?.intact).to.equal(true))

      it('is not on a file that somebody else wrote', () => expect(stampOf(path, content)).to.equal(undefined))
    })
  }

  it('is a comment of the language', () => {
    expect(stamped('a.yaml', 'a: 1\n', COMMAND)).to.match(/^# Made by .*\n# tsop sha256:\w{16}\na: 1\n$/)
    expect(stamped('a.ts', '', COMMAND)).to.match(/^\/\/ .*\n\/\/ .*\n$/)
    expect(stamped('a.tpl', '', COMMAND)).to.match(/^{{- \/\* .* \*\/ -}}\n{{- \/\* .* \*\/ -}}\n$/)
    expect(JSON.parse(stamped('a.json', '{"a":1}', COMMAND))).to.have.property('a', 1)
  })

  it('of a broken JSON file is none', () => expect(stampOf('a.json', '{')).to.equal(undefined))
})

describe('a plan', () => {
  const content = 'a: 1\n'
  const text = stamped('a.yaml', content, COMMAND)
  const older = stamped('a.yaml', 'a: 0\n', COMMAND)
  const found = (there: Record<string, string>, files = [{ path: 'a.yaml', content }]) =>
    plan(files, folder(there), COMMAND).map((step) => [step.path, step.found, step.text !== undefined])

  it('writes what is missing', () => expect(found({})).to.deep.equal([['a.yaml', 'nothing', true]]))
  it('leaves what is the same', () => expect(found({ 'a.yaml': text })).to.deep.equal([['a.yaml', 'same', true]]))
  it('takes other line ends for the same', () => {
    expect(found({ 'a.yaml': text.replaceAll('\n', '\r\n') })).to.deep.equal([['a.yaml', 'same', true]])
  })
  it('replaces what it made earlier', () => expect(found({ 'a.yaml': older })).to.deep.equal([['a.yaml', 'outdated', true]]))
  it('knows what was edited', () => {
    expect(found({ 'a.yaml': older.replace('0\n', '5\n') })).to.deep.equal([['a.yaml', 'edited', true]])
    expect(found({ 'a.yaml': `${text}b: 2\n` })).to.deep.equal([['a.yaml', 'edited', true]])
  })
  it('knows what it did not make', () => expect(found({ 'a.yaml': content })).to.deep.equal([['a.yaml', 'foreign', true]]))
  it('removes what the same command made and does not make any more', () => {
    expect(
      found({ 'old.yaml': text, 'mine.yaml': 'a: 1\n', 'other.yaml': stamped('other.yaml', '', 'tsop generate crds examples') }, []),
    ).to.deep.equal([['old.yaml', 'outdated', false]])
  })
  it('knows what was edited of that, too', () => {
    expect(found({ 'old.yaml': `${text}b: 2\n` }, [])).to.deep.equal([['old.yaml', 'edited', false]])
  })
  it('shows what would change', () => {
    const [step] = plan([{ path: 'a.yaml', content }], folder({ 'a.yaml': older }), COMMAND)
    expect(step?.diff).to.match(/^--- a.yaml\n\+\+\+ a.yaml\n@@ .*-a: 0\n.*\+a: 1\n$/s)
  })
  it('refuses two files of one path', () => {
    expect(() =>
      found({}, [
        { path: 'a', content },
        { path: 'a', content },
      ]),
    ).to.throw('two files of one path: a, a')
  })
})

describe('a diff', () => {
  const diff = (before: string, after: string) => unifiedDiff(before, after, { before: 'a', after: 'b' })
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\n`).join('')

  it('is empty between equal texts', () => expect(diff('a\n', 'a\n')).to.equal(''))
  it('shows three lines around each change', () => {
    expect(diff(numbers(1, 20), numbers(1, 20).replace('10\n', 'ten\n'))).to.equal(
      '--- a\n+++ b\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n',
    )
  })
  it('puts changes that are near into one hunk, and others into their own', () => {
    expect(
      diff(numbers(1, 30), numbers(1, 30).replace('\n5\n', '\n').replace('\n9\n', '\n').replace('\n25\n', '\n25\nx\n')).match(/^@@.*/gm),
    ).to.deep.equal(['@@ -2,11 +2,9 @@', '@@ -23,6 +21,7 @@'])
  })
  it('shows a new file and an empty one', () => {
    expect(diff('', 'a\n')).to.equal('--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n')
    expect(diff('a\n', '')).to.equal('--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n')
  })
  it('tells a missing line end', () => expect(diff('a\n', 'a')).to.include('+a (no newline)'))
  it('gives up on finding what two very different texts have in common', () => {
    const lines = (prefix: string) => Array.from({ length: 3000 }, (_, i) => `${prefix}${i}\n`).join('')
    expect(diff(lines('a'), lines('b')).split('\n')).to.have.length(6000 + 4)
  })
})

function folder(there: Record<string, string>): Folder {
  return { read: (path) => there[path], list: () => Object.keys(there) }
}
