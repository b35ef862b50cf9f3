import { expect } from 'chai'
import { parseYaml, YamlError } from '../../../lib/resource/yaml.ts'

const values = (text: string) => parseYaml(text).map(({ value }) => value)
const value = (text: string) => (values(`v: ${text}\n`)[0] as { v: unknown }).v

function problem(text: string): string {
  try {
    parseYaml(text)
  } catch (error) {
    expect(error).to.be.instanceOf(YamlError)
    const { line, column, message } = error as YamlError
    return `${line}:${column}: ${message}`
  }
  throw new Error('it was accepted')
}

describe('YAML', () => {
  describe('has the values that kubectl sends', () => {
    // Taken from sigs.k8s.io/yaml 1.6.0.
    const table: [string, unknown][] = [
      ['yes', true],
      ['on', true],
      ['Y', true],
      ['no', false],
      ['Off', false],
      ['n', false],
      ['TRUE', true],
      ['"yes"', 'yes'],
      ['yeS', 'yeS'],
      ['~', null],
      ['', null],
      ['Null', null],
      ['0755', 493],
      ['-0755', -493],
      ['007', 7],
      ['08', 8],
      ['0899', 899],
      ['0o17', 15],
      ['0o8', '0o8'],
      ['0x1F', 31],
      ['0X1f', 31],
      ['0b101', 5],
      ['-0b11', -3],
      ['0x', '0x'],
      ['1_000', 1000],
      ['+12', 12],
      ['-0', 0],
      ['1e3', 1000],
      ['1.', 1],
      ['.5', 0.5],
      ['-1.5e-3', -0.0015],
      ['1e999', '1e999'],
      ['1.2.3', '1.2.3'],
      ['100m', '100m'],
      ['1Gi', '1Gi'],
      ['.', '.'],
      ['12:30', '12:30'],
      ['12:30:45', '12:30:45'],
      ['2026-01-01', '2026-01-01'],
      ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
      ['2026-01-01 10:00:00', '2026-01-01 10:00:00'],
      ['!!str 123', '123'],
      ['!!int "12"', 12],
      ['=', '='],
    ]
    for (const [text, expected] of table)
      it(`${text || 'nothing'} is ${JSON.stringify(expected)}`, () => expect(value(text)).to.equal(expected))

    it('has keys of these values, too', () => {
      expect(value('{1: a, 0755: b, 1.5: c, yes: d}')).to.deep.equal({ '1': 'a', '493': 'b', '1.5': 'c', true: 'd' })
    })

    it('keeps __proto__ a key like any other', () => {
      const object = value('{__proto__: {a: 1}}') as object
      expect(Object.keys(object)).to.deep.equal(['__proto__'])
      expect('a' in object).to.equal(false)
    })

    it('joins the halves of a character that JSON has escaped', () => expect(value('"\\ud83d\\ude00"')).to.equal('😀'))
  })

  it('stays as it is written where all values are texts', () => {
    const text = '{a: 0123, b: 1e5, c: yes, d: 2026-01-01, e: 12345678901234567890, f: true, g: null, h: "true", i: {<<: {j: 1}}}'
    expect(parseYaml(text, { verbatim: true })[0]?.value).to.deep.equal({
      a: '0123',
      b: '1e5',
      c: 'yes',
      d: '2026-01-01',
      e: '12345678901234567890',
      f: true,
      g: null,
      h: 'true',
      i: { j: '1' },
    })
  })

  it('comes in documents, and empty ones do not count', () => {
    expect(values('')).to.deep.equal([])
    expect(values('---\n---\n# nothing\n')).to.deep.equal([])
    expect(values('---\n# nothing\n---\na: 1\n---\nb: 2\n...\n')).to.deep.equal([{ a: 1 }, { b: 2 }])
    expect(values('\uFEFF{"a":\n\t[1, "\\/"]}')).to.deep.equal([{ a: [1, '/'] }])
  })

  it('knows the line in which a document begins', () => {
    const lines = (text: string) => parseYaml(text).map(({ line }) => line)
    expect(lines('# first\n\na: 1\n---\n# second\nb: 2\n--- text\n---\n\n&x\nc: 3\n---\n!!map\nd: 4\n')).to.deep.equal([3, 6, 7, 10, 13])
    expect(lines('a: 1\r\n---\r\nb: 2\r\n')).to.deep.equal([1, 3])
  })

  it('may repeat itself by anchors and merge keys', () => {
    expect(values('a: &x {b: 1, c: 2}\nd: *x\ne: {<<: *x, c: 3}')[0]).to.deep.equal({
      a: { b: 1, c: 2 },
      d: { b: 1, c: 2 },
      e: { b: 1, c: 3 },
    })
  })

  it('is refused with line and column', () => {
    expect(problem('a: 1\nb: [')).to.match(/^2:\d+: .*end of the stream/)
    expect(problem('a:\n  b: 1\n c: 2')).to.match(/^3:2: bad indentation/)
    expect(problem('a: 1\nb: *x')).to.match(/^2:\d+: unidentified alias "x"/)
  })

  it('is refused where a key is given twice', () => {
    expect(problem('a: 1\nb: 2\na: 3')).to.equal('3:1: duplicated mapping key')
    expect(problem('{"a": 1, "a": 2}')).to.equal('1:11: duplicated mapping key')
  })

  it('is refused where it stands for too much, or for something without an end', () => {
    const level = (i: number) => `a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`)}]`
    const bomb = ['---', `a0: &a0 [${Array(9).fill('text')}]`, ...[1, 2, 3, 4, 5, 6, 7, 8].map(level)].join('\n')
    expect(problem(bomb)).to.equal('2:1: its aliases stand for too much')
    expect(problem('a: &x [*x]')).to.equal('1:1: an anchor contains itself')
    expect(problem('['.repeat(2000))).to.match(/nesting/)
  })

  it('may be large and deep', () => {
    expect(values(`a: ${'['.repeat(900)}${']'.repeat(900)}`)).to.have.length(1)
    expect(
      Object.keys(values(Array.from({ length: 5000 }, (_, i) => `k${i}: ${'x'.repeat(1000)}`).join('\n'))[0] as object),
    ).to.have.length(5000)
  })
})
