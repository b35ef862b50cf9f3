import { expect } from 'chai'
import { formatCheck } from '../../../../lib/embedded/schema/formats.ts'

/** Good values first, bad ones after them; as kube-apiserver 1.36 takes them. */
const FORMATS: Record<string, [string[], string[]]> = {
  'date-time': [
    ['2020-01-01T00:00:00Z', '2020-01-01t00:00:00.123+01:00'],
    ['2020-01-01', '2020-02-30T00:00:00Z', '2020-01-01T24:00:00Z', ''],
  ],
  date: [['2020-02-29'], ['2020-13-01', '2021-02-29', '20-1-1']],
  duration: [
    ['1h30m', '-1.5h', '0', '3 days', '2 weeks', '1.5 weeks'],
    ['x', '', '3', '1 fortnight'],
  ],
  ipv4: [
    ['1.2.3.4', '01.002.3.4', '::ffff:1.2.3.4'],
    ['1.2.3', '::1', '1.2.3.256'],
  ],
  ipv6: [
    ['::1', '::ffff:1.2.3.4'],
    ['1.2.3.4', 'fe80::1%eth0', ':::'],
  ],
  cidr: [
    ['10.0.0.0/8', '::/0'],
    ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/x'],
  ],
  email: [
    ['a@b', 'Jo <jo@x.io>', '"a b"@x.io'],
    ['a', 'a@', '@b', 'a b@x.io'],
  ],
  uuid: [['123E4567-e89b-12d3-a456-426614174000', '123e4567e89b12d3a456426614174000'], ['123e4567']],
  byte: [
    ['aGk=', 'YWJj'],
    ['a', '', 'aGk'],
  ],
  hostname: [
    ['example.com', 'a-b.example.com', 'x'],
    ['-a.com', 'a..b', 'x'.repeat(64)],
  ],
  uri: [
    ['http://x.io/a?b', '/a', 'mailto:a@b.c'],
    ['a', '', 'http://x y/', 'http://x:port/', '/%zz'],
  ],
  mac: [
    ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab'],
    ['01:23:45:67:89', '01:23-45:67:89:ab'],
  ],
  isbn: [['0321751043', '978-0321751041'], ['0321751044']],
  creditcard: [['4111 1111 1111 1111'], ['4111111111111112']],
  hexcolor: [['#fff', 'FFFFFF'], ['#ff']],
  rgbcolor: [['rgb(1, 2,255)'], ['rgb(1,2,256)']],
  ssn: [['111-22-3333'], ['111223333']],
  password: [['anything'], []],
  'k8s-short-name': [['a-b'], ['a.b', 'A', 'a'.repeat(64)]],
  'k8s-long-name': [['a.b-c'], ['a..b', '']],
}

describe('formats of strings', () => {
  for (const [format, [good, bad]] of Object.entries(FORMATS)) {
    it(`${format} takes what it should`, () => {
      const check = formatCheck(format)
      expect(good.filter((text) => !check?.(text))).to.deep.equal([])
      expect(bad.filter((text) => check?.(text))).to.deep.equal([])
    })
  }

  it('are ignored when unknown', () => expect(formatCheck('colour')).to.equal(undefined))
})
