/** URLs as Go's `net/url` reads them. */

export class UrlError extends Error {}

export interface Url {
  readonly scheme: string
  readonly opaque: string
  readonly user: string | undefined
  readonly host: string
  readonly path: string
  /** As written, where that is not how the path would be escaped. */
  readonly rawPath: string
  readonly query: string
  readonly forceQuery: boolean
  readonly fragment: string
}

/** An absolute URI or an absolute path, as in an HTTP request. @throws UrlError with Go's text */
export function parseRequestUrl(text: string): Url {
  return attempt(text, () => parse(text, true))
}

/** @throws UrlError with Go's text */
export function parseUrl(text: string): Url {
  const hash = text.indexOf('#')
  const main = hash < 0 ? text : text.slice(0, hash)
  return attempt(main, () => {
    const url = parse(main, false)
    return hash < 0 ? url : { ...url, fragment: decodePart(text.slice(hash + 1), 'fragment') }
  })
}

function attempt(text: string, parse: () => Url): Url {
  try {
    return parse()
  } catch (error) {
    if (error instanceof UrlError) throw new UrlError(`parse ${quote(text)}: ${error.message}`)
    throw error
  }
}

const quote = (text: string) => JSON.stringify(text)

function parse(text: string, request: boolean): Url {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (/[\x00-\x1f\x7f]/.test(text)) throw new UrlError('net/url: invalid control character in URL')
  if (text === '' && request) throw new UrlError('empty url')
  const nothing: Url = {
    scheme: '',
    opaque: '',
    user: undefined,
    host: '',
    path: '',
    rawPath: '',
    query: '',
    forceQuery: false,
    fragment: '',
  }
  if (text === '*') return { ...nothing, path: '*' }
  const { scheme, rest: afterScheme } = schemeOf(text)
  const { rest, query, forceQuery } = queryOf(afterScheme)
  const url = { ...nothing, scheme, query, forceQuery }
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...url, opaque: rest }
    if (request) throw new UrlError('invalid URI for request')
    if ((rest.split('/')[0] as string).includes(':')) throw new UrlError('first path segment in URL cannot contain colon')
  }
  const isAuthority = (scheme !== '' || (!request && !rest.startsWith('///'))) && rest.startsWith('//')
  if (!isAuthority) return { ...url, ...pathOf(rest) }
  const authority = rest.slice(2)
  const slash = authority.indexOf('/')
  const [place, path] = slash < 0 ? [authority, ''] : [authority.slice(0, slash), authority.slice(slash)]
  return { ...url, ...placeOf(place), ...pathOf(path) }
}

function schemeOf(text: string): { scheme: string; rest: string } {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*)?:/.exec(text)
  if (match === null) return { scheme: '', rest: text }
  if (match[1] === undefined) throw new UrlError('missing protocol scheme')
  return { scheme: match[1].toLowerCase(), rest: text.slice(match[0].length) }
}

function queryOf(text: string): { rest: string; query: string; forceQuery: boolean } {
  if (text.endsWith('?') && text.split('?').length === 2) return { rest: text.slice(0, -1), query: '', forceQuery: true }
  const mark = text.indexOf('?')
  return mark < 0
    ? { rest: text, query: '', forceQuery: false }
    : { rest: text.slice(0, mark), query: text.slice(mark + 1), forceQuery: false }
}

function placeOf(authority: string): { user: string | undefined; host: string } {
  const at = authority.lastIndexOf('@')
  const host = hostOf(authority.slice(at + 1))
  if (at < 0) return { user: undefined, host }
  const user = authority.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError('net/url: invalid userinfo')
  decodePart(user, 'user')
  return { user, host }
}

function hostOf(host: string): string {
  const colon = host.lastIndexOf(':')
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    if (end < 0) throw new UrlError("missing ']' in host")
    portOf(host.slice(end + 1))
  } else if (colon >= 0) portOf(host.slice(colon))
  return decodePart(host, 'host')
}

function portOf(text: string): void {
  if (text !== '' && !/^:\d*$/.test(text)) throw new UrlError(`invalid port ${quote(text)} after host`)
}

type Part = 'path' | 'query' | 'host' | 'user' | 'fragment'

function decodePart(text: string, part: Part): string {
  const odd = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)
  if (odd !== null) throw new UrlError(`invalid URL escape ${quote(odd[0])}`)
  if (part === 'host') checkHost(text)
  const plus = part === 'query' ? text.replaceAll('+', ' ') : text
  if (!plus.includes('%')) return plus
  const bytes = plus
    .split(/(%[0-9a-fA-F]{2})/)
    .map((piece) => (/^%[0-9a-fA-F]{2}$/.test(piece) ? Buffer.from(piece.slice(1), 'hex') : Buffer.from(piece)))
  return Buffer.concat(bytes).toString()
}

/** Only what is not ASCII may be escaped in a host, and few characters are allowed. */
function checkHost(host: string): void {
  const escaped = /%(?!25)[0-7][0-9a-fA-F]/.exec(host)
  if (escaped !== null) throw new UrlError(`invalid URL escape ${quote(escaped[0])}`)
  const odd = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)
  if (odd !== null) throw new UrlError(`invalid character ${quote(odd[0])} in host name`)
}

function pathOf(text: string): { path: string; rawPath: string } {
  const path = decodePart(text, 'path')
  return { path, rawPath: escapePath(path) === text ? '' : text }
}

function escapePath(path: string): string {
  return [...Buffer.from(path)]
    .map((byte) => {
      const letter = String.fromCharCode(byte)
      return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

/** The path as it was written where that is valid, else as it would be. */
export function escapedPath({ path, rawPath }: Url): string {
  if (rawPath !== '' && /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]]|%[0-9a-fA-F]{2})*$/.test(rawPath)) return rawPath
  return path === '*' ? '*' : escapePath(path)
}

/** Without the port, and without the brackets of an IPv6 address. */
export function hostname({ host }: Url): string {
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']'))
  return host.replace(/:\d*$/, '')
}

export function port({ host }: Url): string {
  return /(?:^|[^:]|\]):(\d*)$/.exec(host)?.[1] ?? ''
}

/** Values by key, in the order they stand; what cannot be read is left out. */
export function queryValues({ query }: Url): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const equals = pair.indexOf('=')
    try {
      const key = decodePart(equals < 0 ? pair : pair.slice(0, equals), 'query')
      const value = equals < 0 ? '' : decodePart(pair.slice(equals + 1), 'query')
      values.set(key, [...(values.get(key) ?? []), value])
    } catch (error) {
      if (!(error instanceof UrlError)) throw error
    }
  }
  return values
}

export function showUrl(url: Url): string {
  const scheme = url.scheme === '' ? '' : `${url.scheme}:`
  const query = url.forceQuery || url.query !== '' ? `?${url.query}` : ''
  const fragment = url.fragment === '' ? '' : `#${escapePath(url.fragment)}`
  if (url.opaque !== '') return `${scheme}${url.opaque}${query}${fragment}`
  const authority =
    url.scheme !== '' || url.host !== '' || url.user !== undefined ? `//${url.user === undefined ? '' : `${url.user}@`}${url.host}` : ''
  return `${scheme}${authority}${escapedPath(url)}${query}${fragment}`
}
