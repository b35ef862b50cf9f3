/** URLs and their parts. */
import { type Library, member, overload } from '../environment.ts'
import { BOOL, listOf, mapOf, STRING, struct } from '../types.ts'
import { escapedPath, hostname, parseRequestUrl, parseUrl, port, queryValues, showUrl, type Url, UrlError } from '../url.ts'
import { CelError, noSuchOverload, Opaque, PlainList, PlainMap, type Value } from '../values.ts'

const TYPE = struct('kubernetes.URL')

class UrlValue extends Opaque {
  readonly typeName = TYPE.name
  readonly url: Url

  constructor(url: Url) {
    super()
    this.url = url
  }

  equals(other: Value): Value {
    return other instanceof UrlValue ? showUrl(this.url) === showUrl(other.url) : noSuchOverload()
  }
}

function url(text: string): UrlValue | CelError {
  try {
    parseRequestUrl(text)
    return new UrlValue(parseUrl(text))
  } catch (error) {
    if (error instanceof UrlError) return new CelError(`URL parse error during conversion from string: ${error.message}`)
    throw error
  }
}

function isUrl(text: string): Value {
  try {
    parseRequestUrl(text)
    return true
  } catch (error) {
    if (error instanceof UrlError) return false
    throw error
  }
}

const part = (id: string, get: (url: Url) => string) => [member(id, [TYPE], STRING, (value: UrlValue) => get(value.url))]

export const urls: Library = {
  url: [overload('string_to_url', [STRING], TYPE, url)],
  isURL: [overload('is_url_string', [STRING], BOOL, isUrl)],
  getScheme: part('url_get_scheme', ({ scheme }) => scheme),
  getHost: part('url_get_host', ({ host }) => host),
  getHostname: part('url_get_hostname', hostname),
  getPort: part('url_get_port', port),
  getEscapedPath: part('url_get_escaped_path', escapedPath),
  getQuery: [
    member(
      'url_get_query',
      [TYPE],
      mapOf(STRING, listOf(STRING)),
      (value: UrlValue) => new PlainMap([...queryValues(value.url)].map(([key, values]) => [key, new PlainList(values)] as const)),
    ),
  ],
}
