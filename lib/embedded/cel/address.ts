/** IP addresses and prefixes, as Go's `net/netip` reads and writes them. */

export class AddressError extends Error {}

/** Four or sixteen bytes. */
export type Address = readonly number[]

export interface Prefix {
  readonly address: Address
  readonly bits: number
}

/** @throws AddressError with Go's text */
export function parseAddress(text: string): { address: Address; zone: string } {
  const mark = /[.:%]/.exec(text)?.[0]
  const fail: Fail = (message, at = '') => {
    const place = at === '' ? '' : ` (at ${JSON.stringify(at)})`
    return new AddressError(`ParseAddr(${JSON.stringify(text)}): ${message}${place}`)
  }
  if (mark === '.') return { address: parseFour(text, fail), zone: '' }
  if (mark === ':') return parseSixteen(text, fail)
  throw fail(mark === '%' ? 'missing IPv6 address' : 'unable to parse IP')
}

type Fail = (message: string, at?: string) => AddressError

function parseFour(text: string, fail: Fail): number[] {
  const fields: number[] = []
  let field = ''
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] as string
    if (letter >= '0' && letter <= '9') {
      if (field === '0') throw fail('IPv4 field has octet with leading zero')
      field += letter
      if (Number(field) > 255) throw fail('IPv4 field has value >255')
    } else if (letter === '.') {
      if (i === 0 || i === text.length - 1 || text[i - 1] === '.') throw fail('IPv4 field must have at least one digit', text.slice(i))
      if (fields.length === 3) throw fail('IPv4 address too long')
      fields.push(Number(field))
      field = ''
    } else throw fail('unexpected character', text.slice(i))
  }
  if (fields.length < 3) throw fail('IPv4 address too short')
  return [...fields, Number(field)]
}

function parseSixteen(text: string, fail: Fail): { address: Address; zone: string } {
  const percent = text.indexOf('%')
  const zone = percent < 0 ? '' : text.slice(percent + 1)
  if (percent >= 0 && zone === '') throw fail('zone must be a non-empty string')
  let rest = percent < 0 ? text : text.slice(0, percent)
  const bytes: number[] = []
  let gap = -1
  if (rest.startsWith('::')) {
    gap = 0
    rest = rest.slice(2)
    if (rest === '') return { address: new Array(16).fill(0), zone }
  }
  while (bytes.length < 16) {
    const digits = (/^[0-9a-fA-F]*/.exec(rest) as RegExpExecArray)[0]
    if (digits.length > 4) throw fail('each group must have 4 or less digits', rest)
    if (digits === '') throw fail('each colon-separated field must have at least one digit', rest)
    if (rest[digits.length] === '.') {
      if (gap < 0 && bytes.length !== 12) {
        throw fail('embedded IPv4 address must replace the final 2 fields of the address', rest)
      }
      if (bytes.length + 4 > 16) throw fail('too many hex fields to fit an embedded IPv4 at the end of the address', rest)
      bytes.push(...parseFour(rest, fail))
      rest = ''
      break
    }
    const value = Number.parseInt(digits, 16)
    bytes.push(value >> 8, value & 255)
    rest = rest.slice(digits.length)
    if (rest === '') break
    if (rest[0] !== ':') throw fail('unexpected character, want colon', rest)
    if (rest.length === 1) throw fail('colon must be followed by more characters', rest)
    rest = rest.slice(1)
    if (rest[0] !== ':') continue
    if (gap >= 0) throw fail('multiple :: in address', rest)
    gap = bytes.length
    rest = rest.slice(1)
    if (rest === '') break
  }
  if (rest !== '') throw fail('trailing garbage after address', rest)
  if (bytes.length === 16) {
    if (gap >= 0) throw fail('the :: must expand to at least one field of zeros')
    return { address: bytes, zone }
  }
  if (gap < 0) throw fail('address string too short')
  bytes.splice(gap, 0, ...new Array<number>(16 - bytes.length).fill(0))
  return { address: bytes, zone }
}

/** @throws AddressError with Go's text */
export function parsePrefix(text: string): Prefix {
  const fail = (message: string) => new AddressError(`netip.ParsePrefix(${JSON.stringify(text)}): ${message}`)
  const slash = text.lastIndexOf('/')
  if (slash < 0) throw fail("no '/'")
  const { address, zone } = addressOf(text.slice(0, slash), fail)
  if (zone !== '') throw fail('IPv6 zones cannot be present in a prefix')
  const bits = text.slice(slash + 1)
  if (!/^(?:\d|[1-9]\d*)$/.test(bits)) throw fail(`bad bits after slash: ${JSON.stringify(bits)}`)
  if (Number(bits) > address.length * 8) throw fail('prefix length out of range')
  return { address, bits: Number(bits) }
}

function addressOf(text: string, fail: (message: string) => AddressError): { address: Address; zone: string } {
  try {
    return parseAddress(text)
  } catch (error) {
    if (error instanceof AddressError) throw fail(error.message)
    throw error
  }
}

export function showAddress(address: Address): string {
  if (address.length === 4) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((address[2 * i] as number) << 8) | (address[2 * i + 1] as number))
  const { start, length } = longestZeros(groups)
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':')
  return length < 2 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`
}

/** The first of the longest. */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  for (let i = 0; i < groups.length; i++) {
    let end = i
    while (groups[end] === 0) end++
    if (end - i > best.length) best = { start: i, length: end - i }
  }
  return best
}

/** `::ffff:1.2.3.4` */
export const isMapped = (address: Address): boolean =>
  address.length === 16 && address.slice(0, 10).every((byte) => byte === 0) && address[10] === 255 && address[11] === 255

/** Bits after the prefix are 0. */
export function mask({ address, bits }: Prefix): Address {
  return address.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * i))) & 255)
}

export function prefixContains(prefix: Prefix, address: Address): boolean {
  if (prefix.address.length !== address.length) return false
  const [network, masked] = [mask(prefix), mask({ address, bits: prefix.bits })]
  return network.every((byte, i) => byte === masked[i])
}
