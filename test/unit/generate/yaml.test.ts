import { expect } from 'chai'
import fc from 'fast-check'
import { load } from 'js-yaml'
import { toYaml } from '../../../lib/generate/yaml.ts'
import { parseYaml } from '../../../lib/resource/yaml.ts'

describe('generated YAML', () => {
  it('keeps the order of keys, leaves out what is undefined, and lists at the level of their key', () => {
    const object = { kind: 'List', absent: undefined, items: [{ b: 1, a: [] }, ['x', { z: {} }]], text: 'one\n\ntwo\n' }
    expect(toYaml(object)).to.equal(
      ['kind: List', 'items:', '- b: 1', '  a: []', '- - x', '  - z: {}', 'text: |', '  one', '', '  two', ''].join('\n'),
    )
  })

  it('separates documents', () => expect(toYaml({ a: 1 }, { b: 2 })).to.equal('a: 1\n---\nb: 2\n'))

  for (const text of [
    'yes',
    'No',
    'on',
    '~',
    'null',
    '0755',
    '0x1f',
    '1_000',
    '12:30',
    '1e3',
    '.5',
    '.inf',
    '2026-01-01',
    '',
    ' a',
    'a ',
  ]) {
    it(`quotes ${JSON.stringify(text)}`, () => expect(toYaml({ text })).to.equal(`text: '${text}'\n`))
  }

  for (const text of ['1Gi', '10m', '30s', '.spec.replicas', 'apps/v1', "it's", 'self.a == self.b', 'a:b', 'Größe']) {
    it(`does not quote ${text}`, () => expect(toYaml({ text })).to.equal(`text: ${text}\n`))
  }

  it('is read back as it was, by YAML 1.1 as kubectl has it and by YAML 1.2', function () {
    this.timeout(20_000)
    const word = fc.stringMatching(/^[-+.~yYnNoO0-9xe_:#'" \n\t{}[\],&*!|>%@`\\a\u0085\u2028]{0,8}$/)
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), word)
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('tree'), { maxLength: 3 }),
      map: fc.dictionary(text, tie('tree'), { maxKeys: 3 }),
    }))
    fc.assert(
      fc.property(fc.record({ value: tree }), (object) => {
        const expected = JSON.parse(JSON.stringify(object))
        const written = toYaml(object)
        expect(parseYaml(written).map(({ value }) => JSON.parse(JSON.stringify(value)))).to.deep.equal([expected])
        expect(JSON.parse(JSON.stringify(load(written)))).to.deep.equal(expected)
      }),
      { numRuns: 300 },
    )
  })
})
