import { expect } from 'chai'
import fc from 'fast-check'
import { Http1Answer } from '../../../lib/api/http1-answer.ts'

interface Seen {
  status?: number
  headers?: Record<string, string>
  reusable?: boolean
  body: string
  done: boolean
  /** Bytes that were none of it. */
  surplus: number
}

/** What is read of these bytes, cut at these places. */
function read(bytes: string, cuts: readonly number[] = [], closes = false): Seen {
  const seen: Seen = { body: '', done: false, surplus: 0 }
  const answer = new Http1Answer({
    head: (status, headers, reusable) => Object.assign(seen, { status, headers: { ...headers }, reusable }),
    body: (chunk) => {
      seen.body += chunk.toString('latin1')
    },
  })
  const all = Buffer.from(bytes, 'latin1')
  const places = [0, ...[...cuts].sort((a, b) => a - b), all.length]
  for (let i = 1; i < places.length; i++) {
    const piece = all.subarray(places[i - 1], places[i])
    seen.surplus += piece.length - answer.read(piece)
  }
  if (closes) answer.close()
  seen.done = answer.isDone
  return seen
}

const ok = (headers: string, body: string) => `HTTP/1.1 200 OK\r\n${headers}\r\n${body}`

const WHOLE: Record<string, [bytes: string, seen: Partial<Seen>]> = {
  'with a length': [
    ok('Content-Length: 5\r\nX: a\r\nx:  b \r\n', 'hello'),
    { status: 200, body: 'hello', reusable: true, headers: { 'content-length': '5', x: 'a, b' } },
  ],
  'with no body': [ok('content-length: 0\r\n', ''), { body: '', reusable: true }],
  'in chunks': [
    ok('transfer-encoding: Chunked\r\n', '5\r\nhello\r\n00A;x="y"\r\n0123456789\r\n0\r\n\r\n'),
    { body: 'hello0123456789', reusable: true },
  ],
  'in chunks with trailers': [ok('transfer-encoding: chunked\r\n', '1\r\n\r\r\n0\r\nx: y\r\nz: w\r\n\r\n'), { body: '\r', reusable: true }],
  'of 204': ['HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', reusable: true }],
  'of 304, with the length of what it does not have': [
    'HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n',
    { status: 304, body: '', reusable: true },
  ],
  'after 100 and 103': [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${ok('content-length: 2\r\n', 'ok')}`,
    { status: 200, body: 'ok' },
  ],
  'with a warning that is no ASCII': [
    ok('warning: 299 - "\xc4\x8dt\xc4\x9bte"\r\ncontent-length: 1\r\n', 'x'),
    { headers: { warning: '299 - "\xc4\x8dt\xc4\x9bte"', 'content-length': '1' } },
  ],
  'that ends the connection': [ok('connection: keep-alive, Close\r\ncontent-length: 1\r\n', 'x'), { body: 'x', reusable: false }],
  'of HTTP/1.0': ['HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx', { body: 'x', reusable: false }],
  'of HTTP/1.0 that keeps it': ['HTTP/1.0 200\r\nconnection: Keep-Alive\r\ncontent-length: 1\r\n\r\nx', { body: 'x', reusable: true }],
  'with headers that objects have': [
    ok('constructor: a\r\n__proto__: b\r\ncontent-length: 0\r\n', ''),
    { headers: { constructor: 'a', 'content-length': '0' } },
  ],
}

describe('an answer of HTTP/1.1', () => {
  for (const [what, [bytes, expected]] of Object.entries(WHOLE)) {
    it(`${what} is read, cut wherever it may be`, () => {
      const whole = read(bytes)
      expect(whole).to.deep.include({ done: true, surplus: 0 })
      if (what !== 'with headers that objects have') expect(whole).to.deep.include(expected)
      else expect(Object.getPrototypeOf(whole.headers)).to.equal(Object.prototype)
      for (let cut = 1; cut < bytes.length; cut++) expect(read(bytes, [cut])).to.deep.equal(whole)
      expect(
        read(
          bytes,
          Array.from({ length: bytes.length - 1 }, (_, i) => i + 1),
        ),
      ).to.deep.equal(whole)
    })

    it(`${what} ends where it ends`, () => {
      expect(read(`${bytes}HTTP/1.1 4`)).to.deep.include({ done: true, surplus: 10, body: read(bytes).body })
    })

    it(`${what} is not taken for whole when its end is missing`, () => {
      expect(read(bytes.slice(0, -1), [], true).done).to.equal(false)
    })
  }

  it('without a length ends with the connection, which is then of no more use', () => {
    const bytes = ok('', 'all that comes')
    expect(read(bytes)).to.deep.include({ done: false, body: 'all that comes', reusable: false })
    expect(read(bytes, [25], true)).to.deep.include({ done: true, body: 'all that comes' })
  })

  it('gives any body back, in chunks of any size, cut anywhere', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 }), { maxLength: 6 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        (pieces, cuts) => {
          const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')
          const bytes = ok('transfer-encoding: chunked\r\n', `${chunks}0\r\n\r\n`)
          const seen = read(
            bytes,
            cuts.map((cut) => Math.min(cut, bytes.length)),
          )
          expect(seen).to.deep.include({ done: true, surplus: 0, body: pieces.join('') })
        },
      ),
    )
  })

  for (const [what, bytes, message] of [
    ['another protocol', 'SSH-2.0-x', 'beginning "SSH-2.0-x"'],
    ['HTTP/2 after all', '\0\0\x12\x04\0\0\0\0\0', 'beginning'],
    ['another version', 'HTTP/1.2 200 OK\r\n\r\n', 'status line "HTTP/1.2 200 OK"'],
    ['no status', 'HTTP/1.1 2000 OK\r\n\r\n', 'status line'],
    ['a status of no class', 'HTTP/1.1 600 OK\r\n\r\n', 'status line'],
    ['a space before the colon', ok('content-length : 5\r\n', 'hello'), 'header "content-length : 5"'],
    ['a line that goes on', ok('x: a\r\n b\r\n', ''), 'header " b"'],
    ['a header without a name', ok(': a\r\n', ''), 'header ": a"'],
    ['a bare line feed', ok('x: a\ny: b\r\n', ''), 'header'],
    ...['-5', 'abc', '2.5', '0x5', '+5', '', '9'.repeat(16), '1e3'].map((length) => [
      `the length ${JSON.stringify(length)}`,
      ok(`content-length: ${length}\r\n`, 'hello'),
      `content-length ${JSON.stringify(length)}`,
    ]),
    ['two lengths', ok('content-length: 5\r\ncontent-length: 5\r\n', 'hello'), 'content-length "5, 5"'],
    ['a length and chunks', ok('content-length: 5\r\ntransfer-encoding: chunked\r\n', ''), 'transfer-encoding "chunked"'],
    ['another encoding', ok('transfer-encoding: gzip, chunked\r\n', ''), 'transfer-encoding "gzip, chunked"'],
    ...['zz', '-6', '5x', '', ' 5', '0x5', '1'.repeat(13)].map((size) => [
      `a chunk of size ${JSON.stringify(size)}`,
      ok('transfer-encoding: chunked\r\n', `2\r\nok\r\n${size}\r\nhello`),
      `chunk size ${JSON.stringify(size)}`,
    ]),
    ['a chunk that is longer than its size', ok('transfer-encoding: chunked\r\n', '2\r\nhello\r\n'), 'end of a chunk "llo"'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'a protocol that nobody asked for'],
    ['a head without end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(12_000)}`, 'a head of more than 64 KiB'],
    ['a chunk size without end', ok('transfer-encoding: chunked\r\n', '1;'.repeat(3000)), 'a chunk-size of more than 4 KiB'],
    ['trailers without end', ok('transfer-encoding: chunked\r\n', `0\r\n${'x: y\r\n'.repeat(20_000)}`), 'too many trailers'],
  ] as [string, string, string][]) {
    it(`is refused with ${what}, however it comes`, () => {
      expect(() => read(bytes)).to.throw(Error, message)
      const size = bytes.length > 500 ? 1000 : 1
      expect(() =>
        read(
          bytes,
          Array.from({ length: Math.ceil(bytes.length / size) - 1 }, (_, i) => (i + 1) * size),
        ),
      ).to.throw(Error, /answer/)
    })
  }
})
