/** Answers as bytes: Go's way of writing JSON, YAML, and the headers that every answer has. */
import { encodeJson } from './json.ts'
import type { Representation } from './negotiate.ts'
import type { ApiError } from './status.ts'
import type { ApiResponse } from './types.ts'
import { toYaml } from './yaml/write.ts'

const GZIP_FROM = 128 * 1024

/** What `encoding/json` escapes so that JSON can stand within HTML. */
const UNSAFE = /[<>&\u2028\u2029]/
const EACH_UNSAFE = /[<>&\u2028\u2029]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** One line of JSON without its end. */
export function goJson(value: object, indent?: number): string {
  const text = encodeJson(value, indent)
  return UNSAFE.test(text) ? text.replace(EACH_UNSAFE, (character) => ESCAPES[character] ?? character) : text
}

export function encode(value: object, { media, pretty }: Representation): string {
  if (media === 'yaml') return toYaml(value)
  return `${goJson(value, pretty ? 2 : undefined)}\n`
}

export interface AnswerHeaders {
  readonly auditId: string
  readonly warnings: readonly string[]
  readonly acceptEncoding: string | undefined
}

const CONTENT_TYPES = { json: 'application/json', yaml: 'application/yaml' } as const

export function answer(status: number, value: object, representation: Representation, extra: AnswerHeaders): ApiResponse {
  return compressed(
    {
      status,
      headers: commonHeaders(CONTENT_TYPES[representation.media], extra),
      body: encode(value, representation),
    },
    extra.acceptEncoding,
  )
}

export function answerError(error: ApiError, representation: Representation, extra: AnswerHeaders): ApiResponse {
  const headers = commonHeaders(CONTENT_TYPES[representation.media], extra)
  const retry = error.details?.retryAfterSeconds
  if (retry !== undefined && retry > 0) headers['retry-after'] = String(retry)
  return { status: error.code, headers, body: encode(error.toStatus(), representation) }
}

export function plainText(status: number, text: string, extra: AnswerHeaders): ApiResponse {
  return { status, headers: { ...commonHeaders('text/plain; charset=utf-8', extra), 'x-content-type-options': 'nosniff' }, body: text }
}

export function commonHeaders(contentType: string, { auditId, warnings }: AnswerHeaders): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {
    'audit-id': auditId,
    'cache-control': 'no-cache, private',
    'content-type': contentType,
    'x-kubernetes-pf-flowschema-uid': FLOW_SCHEMA,
    'x-kubernetes-pf-prioritylevel-uid': PRIORITY_LEVEL,
  }
  if (warnings.length > 0) headers.warning = [...new Set(warnings)].map(warningHeader)
  return headers
}

// There is no flow control; clients only log these.
const FLOW_SCHEMA = '00000000-0000-4000-8000-000000000001'
const PRIORITY_LEVEL = '00000000-0000-4000-8000-000000000002'

/** RFC 7234 as `k8s.io/apimachinery/pkg/util/net` writes it: agent and date left out, control characters too. */
export function warningHeader(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these may not stand in a header
  const clean = text.replace(/[\u0000-\u001f\u007f]+/g, ' ')
  return `299 - "${latin1(clean.replace(/[\\"]/g, '\\$&'))}"`
}

/** A header holds bytes: text beyond ASCII goes as the bytes of its UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const latin1 = (text: string) => (/^[\u0000-\u007f]*$/.test(text) ? text : Buffer.from(text).toString('latin1'))

/** Only large answers, only where asked for. */
export function compressed(response: ApiResponse, acceptEncoding: string | undefined): ApiResponse {
  const { body } = response
  if (acceptEncoding === undefined || typeof body !== 'string' || body.length < GZIP_FROM || !/\bgzip\b/.test(acceptEncoding))
    return response
  const zlib = process.getBuiltinModule('node:zlib')
  return {
    ...response,
    headers: { ...response.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    body: zlib.gzipSync(body, { level: 1 }),
  }
}
