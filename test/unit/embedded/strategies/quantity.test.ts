import { expect } from 'chai'
import { canonicalQuantity, compareQuantities, parseQuantity, wholeValue } from '../../../../lib/embedded/quantity.ts'

describe('a quantity', () => {
  const table: [string | number, string][] = [
    ['100m', '100m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1.5', '1500m'],
    ['0.5', '500m'],
    [0.5, '500m'],
    [2, '2'],
    ['0', '0'],
    ['0m', '0'],
    ['-0', '0'],
    ['1024Mi', '1Gi'],
    ['10Gi', '10Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Mi', '512Ki'],
    ['0.5Ki', '512'],
    ['1000', '1k'],
    ['1e3', '1e3'],
    ['1E3', '1E3'],
    ['12e2', '1200'],
    ['1000000', '1M'],
    ['1.500', '1.500'],
    ['100000n', '100u'],
    ['1.1111111111', '1111111112n'],
    ['8Ei', '9223372036854775807'],
    ['-1000m', '-1'],
    ['2048', '2048'],
    ['64Mi', '64Mi'],
  ]
  for (const [given, expected] of table) {
    it(`${JSON.stringify(given)} is written ${expected}`, () => expect(canonicalQuantity(given)).to.equal(expected))
  }

  it('is refused with the text of the server', () => {
    const regexp = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    for (const text of ['', 'abc', '1x', '1 2', '1..2']) expect(() => parseQuantity(text), text).to.throw(regexp)
    for (const text of ['1mm', '1e', '1ki']) expect(() => parseQuantity(text), text).to.throw("unable to parse quantity's suffix")
  })

  it('does not fill the memory with a huge exponent', () => {
    expect(() => parseQuantity('1e999999999')).to.throw()
  })

  it('compares by value, not by text', () => {
    expect(compareQuantities(parseQuantity('1Gi'), parseQuantity('1G'))).to.equal(1)
    expect(compareQuantities(parseQuantity('1000m'), parseQuantity('1'))).to.equal(0)
    expect(wholeValue(parseQuantity('1500m'))).to.equal(2n)
  })
})
