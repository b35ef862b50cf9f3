/** Which form an answer takes (`Accept`) and which form a body has (`Content-Type`), as kube-apiserver negotiates them. */
import { ApiError } from './status.ts'

export type Media = 'json' | 'yaml'
export type Conversion = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'

export interface Representation {
  readonly media: Media
  readonly pretty: boolean
  /** What the client wants instead of the object itself. */
  readonly as: Conversion | undefined
  /** Of `meta.k8s.io`, for `as`. */
  readonly version: string
}

const JSON_PLAIN: Representation = { media: 'json', pretty: false, as: undefined, version: 'v1' }
const JSON_PRETTY: Representation = { ...JSON_PLAIN, pretty: true }

const ACCEPTED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const STREAMS = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const MEDIA: Readonly<Record<string, Media | undefined>> = { 'application/json': 'json', 'application/yaml': 'yaml' }

const PRODUCED = new Set(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'])

export interface Wanted {
  readonly accept: string | undefined
  readonly userAgent: string | undefined
  readonly query: URLSearchParams
  readonly watch: boolean
  readonly custom: boolean
}

/** @throws ApiError 406 */
export function negotiate({ accept, userAgent, query, watch, custom }: Wanted): Representation {
  const pretty = isPretty(query, userAgent)
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return pretty ? JSON_PRETTY : JSON_PLAIN
  const clauses = parseAccept(accept)
  // Built-in kinds go through a router that refuses what none of their representations fits, in its own words.
  if (!custom && !clauses.some(({ type }) => type === '*/*' || PRODUCED.has(type))) {
    throw new ApiError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${ACCEPTED}`, {})
  }
  for (const clause of clauses) {
    for (const media of ['json', 'yaml'] as const) {
      if (!matches(clause.type, media) || (watch && media === 'yaml')) continue
      const found = accepted(clause.parameters, media, pretty)
      if (found !== undefined) return found
    }
  }
  throw new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${watch ? STREAMS : ACCEPTED}`)
}

/** The form of an error, which is never refused. */
export function negotiateError(accept: string | undefined, userAgent: string | undefined, query: URLSearchParams): Representation {
  const pretty = isPretty(query, userAgent)
  for (const { type } of accept === undefined ? [] : parseAccept(accept)) {
    if (type === 'application/yaml') return { ...JSON_PLAIN, media: 'yaml' }
    if (matches(type, 'json')) break
  }
  return pretty ? JSON_PRETTY : JSON_PLAIN
}

/** @throws ApiError 415 */
export function bodyMedia(contentType: string | undefined): Media {
  if (contentType === undefined || contentType === '' || contentType === 'application/json') return 'json'
  const media = MEDIA[mediaType(contentType)]
  if (media !== undefined) return media
  throw new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${ACCEPTED}`,
  )
}

/** Without parameters, in lower case. */
export function mediaType(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

interface Clause {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly q: number
}

function parseAccept(header: string): Clause[] {
  const clauses = header.split(',').map((text): Clause => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim())
    const parameters = new Map<string, string>()
    for (const part of rest) {
      const [name = '', value = ''] = part.split('=')
      parameters.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'))
    }
    const q = Number(parameters.get('q') ?? 1)
    parameters.delete('q')
    return { type: type.toLowerCase(), parameters, q: Number.isNaN(q) ? 0 : q }
  })
  return clauses.toSorted((a, b) => b.q - a.q || specificity(b.type) - specificity(a.type))
}

const specificity = (type: string) => (type === '*/*' ? 0 : type.endsWith('/*') ? 1 : 2)

function matches(type: string, media: Media | 'protobuf'): boolean {
  if (type === '*/*' || type === 'application/*') return true
  return type === (media === 'protobuf' ? 'application/vnd.kubernetes.protobuf' : `application/${media}`)
}

function accepted(parameters: ReadonlyMap<string, string>, media: Media, queryPretty: boolean): Representation | undefined {
  let as: Conversion | undefined
  let version = ''
  let group = ''
  let converts = false
  let pretty = queryPretty
  for (const [name, value] of parameters) {
    if (name === 'as') as = value as Conversion
    if (name === 'g') group = value
    if (name === 'v') version = value
    if (name === 'as' || name === 'g' || name === 'v') converts = true
    if (name === 'stream' && value !== '' && (value !== 'watch' || media === 'yaml')) return undefined
    if (name === 'sv' && value !== '') return undefined
    if (name === 'pretty' && value === '1') pretty = true
  }
  if (!converts) return { media, pretty, as: undefined, version: 'v1' }
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined
  return { media, pretty, as, version }
}

function isPretty(query: URLSearchParams, userAgent: string | undefined): boolean {
  const asked = query.get('pretty')
  if (asked !== null && asked !== '') return /^(1|t|T|true|TRUE|True)$/.test(asked)
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent)
}
