import { expect } from 'chai'
import fc from 'fast-check'
import { Lines } from '../../../lib/cache/lines.ts'

function split(chunks: Buffer[]): { lines: string[]; rest: string } {
  const lines: string[] = []
  const splitter = new Lines((line) => lines.push(line))
  for (const chunk of chunks) splitter.push(chunk)
  return { lines, rest: splitter.rest() }
}

function cut(bytes: Buffer, at: number[]): Buffer[] {
  const points = [...new Set(at.map((n) => n % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...points].map((from, i) => bytes.subarray(from, points[i] ?? bytes.length))
}

describe('Lines', () => {
  const text = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('é漢字😀'), fc.constant('')), { maxLength: 30 })

  it('gives the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(text, fc.boolean(), fc.array(fc.nat(), { maxLength: 40 }), (parts, trailing, at) => {
        const whole = parts.map((part) => part.replaceAll('\n', '\r')).join('\n') + (trailing ? '\n' : '')
        const expected = whole.split('\n')
        const { lines, rest } = split(cut(Buffer.from(whole), at))
        expect([...lines, rest]).to.deep.equal(expected)
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  it('puts together a line that comes byte by byte, split inside characters', () => {
    const bytes = Buffer.from('{"a":"é漢😀"}\n\n{"b":1}\nrest😀')
    const { lines, rest } = split([...bytes].map((byte) => Buffer.from([byte])))
    expect(lines).to.deep.equal(['{"a":"é漢😀"}', '', '{"b":1}'])
    expect(rest).to.equal('rest😀')
  })

  it('does not keep the memory of the chunks it was given', () => {
    const chunk = Buffer.from('begun')
    const lines: string[] = []
    const splitter = new Lines((line) => lines.push(line))
    splitter.push(chunk)
    chunk.fill('x')
    splitter.push(Buffer.from(' line\n'))
    expect(lines).to.deep.equal(['begun line'])
  })

  it('copies each byte a bounded number of times, also of a line of megabytes in small chunks', () => {
    const chunk = Buffer.alloc(64, 'a')
    let copied = 0
    const copy = Buffer.prototype.copy
    Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<typeof copy>) {
      const n = copy.apply(this, args)
      copied += n
      return n
    }
    try {
      let length = 0
      const splitter = new Lines((line) => {
        length = line.length
      })
      const chunks = (4 * 1024 * 1024) / chunk.length
      for (let i = 0; i < chunks; i++) splitter.push(chunk)
      splitter.push(Buffer.from('\n'))
      expect(length).to.equal(4 * 1024 * 1024)
      expect(copied).to.be.lessThan(4 * length)
    } finally {
      Buffer.prototype.copy = copy
    }
  })
})
