/** Bodies of requests, as JSON or YAML, with what a strict reader finds in them. */
import { duplicateMembers } from './duplicate-members.ts'
import { goSyntaxError } from './go-syntax-error.ts'
import { decodeJson, type Json } from './json.ts'
import type { Media } from './negotiate.ts'
import { nestsTooDeep, TOO_DEEP } from './nesting.ts'
import { ApiError } from './status.ts'
import { readYaml, YamlError } from './yaml/read.ts'

const LIMIT = 3 * 1024 * 1024

export interface Body {
  readonly value: Json
  /** What is there twice, as warnings: `duplicate field "spec.a"`. */
  readonly problems: readonly string[]
  /** The same as an error's parts. */
  readonly strict: readonly string[]
}

/** A body that cannot be read; whoever knows what it should be tells it. */
export class UnreadableBody extends Error {
  /** It can be read as far as to see which kind it is. */
  readonly kindKnown: boolean

  constructor(message: string, kindKnown = false) {
    super(message)
    this.kindKnown = kindKnown
  }
}

/** @throws ApiError 413 */
export function bodyText(body: Buffer | string | undefined): string {
  if (body === undefined) return ''
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (size > LIMIT) throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${LIMIT}`)
  return typeof body === 'string' ? body : body.toString('utf8')
}

/** `strict`: also look for members that are there twice. @throws UnreadableBody */
export function decodeBody(text: string, media: Media, strict: boolean): Body {
  return media === 'yaml' ? decodeYaml(text, strict) : decode(text, strict)
}

const NONE: readonly string[] = []

function decode(text: string, strict: boolean): Body {
  if (nestsTooDeep(text)) throw new UnreadableBody(`couldn't get version/kind; json parse error: ${TOO_DEEP}`)
  let value: Json
  try {
    value = decodeJson(text)
  } catch (error) {
    if (error instanceof RangeError) throw new UnreadableBody(error.message, true)
    if (!(error instanceof SyntaxError)) throw error
    throw new UnreadableBody(`couldn't get version/kind; json parse error: ${goSyntaxError(text)}`)
  }
  const duplicates = strict ? duplicateMembers(text, value) : NONE
  if (duplicates.length === 0) return { value, problems: NONE, strict: NONE }
  const problems = duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`)
  return { value, problems, strict: problems }
}

function decodeYaml(text: string, strict: boolean): Body {
  const json = asJson(text, strict)
  if (json !== undefined) return json
  try {
    const { value, problems } = readYaml(text, strict)
    return { value, problems, strict: problems.length === 0 ? NONE : [`yaml: unmarshal errors:\n  ${problems.join('\n  ')}`] }
  } catch (error) {
    // The reader's stack has ended.
    if (error instanceof RangeError) throw new UnreadableBody(`yaml: ${TOO_DEEP}`)
    if (!(error instanceof YamlError)) throw error
    throw new UnreadableBody(`yaml: ${error.message}`)
  }
}

/** Most YAML that clients send is JSON, which is read faster. Undefined: it has to be read as YAML. */
function asJson(text: string, strict: boolean): Body | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const body = decode(text, strict)
    return body.problems.length === 0 ? body : undefined
  } catch {
    return undefined
  }
}

const SUMMARY = 30

/** As the real server shows the beginning of a body that it cannot read. */
export function summary(text: string): string {
  if (text === '') return '<empty>'
  if (/^\s*\{/.test(text)) return text.length > SUMMARY ? `${text.slice(0, SUMMARY)} ...` : text
  const bytes = Buffer.from(text)
  return bytes.length > SUMMARY ? `${bytes.subarray(0, SUMMARY).toString('hex')} ...` : bytes.toString('hex')
}
