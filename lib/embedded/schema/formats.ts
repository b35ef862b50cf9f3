/**
 * String formats that are enforced (`k8s.io/kube-openapi/pkg/validation/strfmt`); all others are ignored. Dashes in a
 * format's name do not count: `date-time` is `datetime`.
 */
import { isIPv4, isIPv6 } from 'node:net'

export type FormatCheck = (text: string) => boolean

const matches =
  (pattern: RegExp): FormatCheck =>
  (text) =>
    pattern.test(text)

const CHECKS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['bsonobjectid', matches(/^[0-9a-fA-F]{24}$/)],
  ['uri', isUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && isIp(text)],
  ['ipv6', (text) => text.includes(':') && !text.includes('%') && isIPv6(text)],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', isRgbColor],
  ['byte', matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)],
  ['k8slongname', (text) => text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)],
])

/** Undefined: not a format that is enforced for strings. */
export const formatCheck = (format: string): FormatCheck | undefined => CHECKS.get(format.replaceAll('-', ''))

/** Whether a schema's format means anything for its type; the server warns of others when a definition is written. */
export function isKnownFormat(format: string, type: string | undefined): boolean {
  if (type === undefined || type === '' || type === 'string') return formatCheck(format) !== undefined
  if (type === 'integer') return format === 'int32' || format === 'int64'
  return type === 'number' && (format === 'float' || format === 'double')
}

/** `time.Parse("2006-01-02")` */
export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (month < 1 || month > 12 || day < 1) return false
  return day <= (month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31)
}

const isLeap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t')
  if (time === undefined || !isDate(date)) return false
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})([^\n][0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time)
  return match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59'
}

const DURATION = /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
/** Go's units last; others are known by how they begin (`days`, `weeks`, `minutes`). */
const UNIT = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/

/** `time.ParseDuration`, else any number with a unit somewhere in it: `3 days` is one, and so is `1.5 weeks`. */
export function isDuration(text: string): boolean {
  if (DURATION.test(text) && !isTooLong(text)) return true
  let found = false
  for (const match of text.matchAll(/(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g)) {
    if (BigInt(match[1]!) > 2n ** 63n - 1n) return false
    found ||= UNIT.test(match[2]!.toLowerCase())
  }
  return found
}

const SECONDS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }
const LONGEST_SECONDS = 2 ** 63 / 1e9

function isTooLong(text: string): boolean {
  let seconds = 0
  for (const [, number, unit] of text.matchAll(/([\d.]+)([a-zµμ]+)/g)) seconds += Number(number) * (SECONDS[unit!] ?? 0)
  return seconds >= LONGEST_SECONDS
}

/** Leading zeros are let through, as in the real server. */
function isIp(text: string): boolean {
  const plain = text.replaceAll(/(^|[.:])0+(?=\d)/g, '$1')
  return isIPv4(plain) || (!text.includes('%') && isIPv6(plain))
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  if (slash < 0) return false
  const address = text.slice(0, slash)
  const length = text.slice(slash + 1)
  if (!isIp(address) || !/^\d{1,5}$/.test(length)) return false
  return Number(length) <= (address.includes(':') ? 128 : 32)
}

function isMac(text: string): boolean {
  return (
    (/^([0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\2)*[0-9a-f]{2}$/i.test(text) && [17, 23, 59].includes(text.length)) ||
    /^(?:[0-9a-f]{4}\.){2}(?:[0-9a-f]{4}|[0-9a-f]{4}\.[0-9a-f]{4}|(?:[0-9a-f]{4}\.){7}[0-9a-f]{4})$/i.test(text)
  )
}

const LABEL = '[a-zA-Z0-9\\p{S}\\p{L}]'
const HOSTNAME = new RegExp(
  `^(${LABEL}((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|(${LABEL}(([a-zA-Z0-9\\-\\p{S}\\p{L}]{0,61}${LABEL})?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$`,
  'u',
)

function isHostname(text: string): boolean {
  // Looked at first: what is longer than any host name must not cost a match.
  if (Buffer.byteLength(text) > 255 || text.split('.').some((part) => Buffer.byteLength(part) > 63)) return false
  return HOSTNAME.test(text)
}

const ATOM = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~\\-\\u0080-\\u{10ffff}]+"
const DOT_ATOM = `${ATOM}(?:\\.${ATOM})*`
const QUOTED = '"(?:[^"\\\\\\r\\n\\u0000-\\u001f]|\\\\[^\\r\\n])*"'
const ADDRESS = `(?:${DOT_ATOM}|${QUOTED})@(?:${DOT_ATOM}|\\[[^\\[\\]\\\\]*\\])`
const EMAIL = new RegExp(`^[ \\t]*(?:${ADDRESS}|(?:(?:${ATOM}|${QUOTED}|[. \\t])*)<[ \\t]*${ADDRESS}[ \\t]*>)[ \\t]*$`, 'u')

/** `net/mail.ParseAddress`: with a display name or without. */
function isEmail(text: string): boolean {
  return text.length <= 10_000 && EMAIL.test(text)
}

/** `net/url.ParseRequestURI`: an absolute URI or an absolute path. */
export function isUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: just these are refused
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return false
  if (text === '*') return true
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)
  let rest = (scheme === null ? text : text.slice(scheme[0].length)).replace(/\?.*$/s, '')
  if (!rest.startsWith('/')) return scheme !== null
  if (rest.startsWith('//') && (scheme !== null || !rest.startsWith('///'))) {
    const end = rest.indexOf('/', 2)
    if (!isAuthority(end < 0 ? rest.slice(2) : rest.slice(2, end))) return false
    rest = end < 0 ? '' : rest.slice(end)
  }
  return !/%(?![0-9a-fA-F]{2})/.test(rest)
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@')
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at))) return false
  const host = authority.slice(at + 1)
  const parts = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d*))?$/.exec(host)
  // Only bytes beyond ASCII, and the percent sign itself, may be escaped in a host.
  return parts !== null && !/[ \\^`{|}#/]|%(?!25|[89a-fA-F][0-9a-fA-F])/.test(parts[1]!)
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\t\n\f\r -]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\t\n\f\r -]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return Number(digits[12]) === (10 - (sum % 10)) % 10
}

const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, '')
  if (!CARD.test(digits)) return false
  let sum = 0
  for (const [i, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (i % 2 === 0 ? 1 : 2)
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}

const CHANNEL = '[\\t\\n\\f\\r ]*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])[\\t\\n\\f\\r ]*'
const RGB = new RegExp(`^rgb\\(${CHANNEL},${CHANNEL},${CHANNEL}\\)$`)

function isRgbColor(text: string): boolean {
  return RGB.test(text)
}
