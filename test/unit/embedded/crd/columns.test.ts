import { expect } from 'chai'
import { printerColumns } from '../../../../lib/embedded/crd/columns.ts'
import type { ApiObject } from '../../../../lib/embedded/types.ts'

const NOW = Date.parse('2026-01-01T01:00:00Z')
const object: ApiObject = {
  apiVersion: 'x.io/v1',
  kind: 'Widget',
  metadata: { name: 'a' },
  spec: { n: 1.7, s: 'x', o: { a: 1 }, b: true, none: null, at: '2026-01-01T00:58:30Z', l: ['p', 'q'] },
}

function cell(type: string, jsonPath: string): unknown {
  return printerColumns([{ name: 'C', type, jsonPath }])?.cells(object, NOW)[1]
}

describe('printer columns', () => {
  it('are Name and Age where the definition has none', () => {
    expect(printerColumns([])).to.equal(undefined)
  })

  it('are described by their path where nobody described them', () => {
    expect(printerColumns([{ name: 'C', type: 'string', jsonPath: '.spec.s' }])?.columns[1]).to.deep.equal({
      name: 'C',
      type: 'string',
      format: '',
      priority: 0,
      description: 'Custom resource definition column (in JSONPath format): .spec.s',
    })
  })

  const CASES: [string, string, unknown][] = [
    ['integer', '.spec.n', 1],
    ['number', '.spec.n', 1.7],
    ['integer', '.spec.s', null],
    ['boolean', '.spec.b', true],
    ['boolean', '.spec.s', null],
    ['string', '.spec.n', '1.7'],
    ['string', '.spec.o', '{"a":1}'],
    ['string', '.spec.none', '<no value>'],
    ['string', '.spec.missing', null],
    ['string', '.spec.l[*]', 'p'],
    ['date', '.spec.at', '90s'],
    ['date', '.spec.s', '<invalid>'],
    ['date', '.spec.missing', null],
  ]
  for (const [type, path, expected] of CASES) {
    it(`shows ${path} as ${type}`, () => expect(cell(type, path)).to.equal(expected))
  }
})
