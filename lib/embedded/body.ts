/** Bodies of requests, as JSON or YAML, with what a strict reader finds in them. */
import { load } from 'js-yaml'
import { duplicateMembers } from './duplicate-members.ts'
import { goSyntaxError } from './go-syntax-error.ts'
import { decodeJson, type Json } from './json.ts'
import type { Media } from './negotiate.ts'
import { ApiError, badRequest } from './status.ts'

const LIMIT = 3 * 1024 * 1024

export interface Body {
  readonly value: Json
  /** `duplicate field "spec.a"`. */
  readonly problems: readonly string[]
}

/** @throws ApiError 413 */
export function bodyText(body: Buffer | string | undefined): string {
  if (body === undefined) return ''
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (size > LIMIT) throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${LIMIT}`)
  return typeof body === 'string' ? body : body.toString('utf8')
}

/** `strict`: also look for members that are there twice. @throws ApiError 400, where the text does not name the kind yet */
export function decodeBody(text: string, media: Media, strict: boolean): Body {
  return media === 'yaml' ? decodeYaml(text, strict) : decode(text, strict)
}

function decode(text: string, strict: boolean): Body {
  let value: Json
  try {
    value = decodeJson(text)
  } catch (error) {
    if (error instanceof RangeError) throw new UnreadableBody(error.message)
    if (!(error instanceof SyntaxError)) throw error
    throw new UnreadableBody(`couldn't get version/kind; json parse error: ${goSyntaxError(text)}`)
  }
  return { value, problems: strict ? duplicateMembers(text, value).map((path) => `duplicate field ${JSON.stringify(path)}`) : NONE }
}

const NONE: readonly string[] = []

function decodeYaml(text: string, strict: boolean): Body {
  // JSON is YAML, and `decodeJson` keeps all digits of a number.
  if (/^\s*[{[]/.test(text)) {
    try {
      return decode(text, strict)
    } catch {
      // It may still be YAML in flow style.
    }
  }
  try {
    return { value: (load(text, {}) ?? null) as Json, problems: NONE }
  } catch (error) {
    try {
      const value = (load(text, { json: true }) ?? null) as Json
      return { value, problems: strict ? [yamlProblem(error)] : NONE }
    } catch {
      throw new UnreadableBody(`error converting YAML to JSON: yaml: ${yamlText(error)}`)
    }
  }
}

interface YamlError {
  readonly reason?: string
  readonly mark?: { readonly line: number; readonly snippet?: string }
}

/** `line 5: key "a" already set in map` */
function yamlProblem(error: unknown): string {
  const { mark } = error as YamlError
  const line = mark?.line ?? 0
  const key = /^\s*(?:-\s+)?"?([^":]+)"?\s*:/.exec(
    mark?.snippet
      ?.split('\n')
      .find((each) => each.startsWith(` ${line + 1} |`))
      ?.slice(` ${line + 1} |`.length) ?? '',
  )?.[1]
  return `line ${line + 1}: key ${JSON.stringify(key ?? '')} already set in map`
}

function yamlText(error: unknown): string {
  const { reason, mark } = error as YamlError
  return `line ${(mark?.line ?? 0) + 1}: ${reason ?? String(error)}`
}

/** A body that is neither; whoever knows the kind tells it. */
export class UnreadableBody extends Error {}

/** @throws ApiError always */
export function refuseUnreadable(error: UnreadableBody, kind: string, text: string): never {
  throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${error.message} (${summary(text)})`)
}

const SUMMARY = 30

/** As the real server shows a body that it cannot read. */
export function summary(text: string): string {
  if (text === '') return '<empty>'
  const json = /^\s*\{/.test(text)
  if (json) return text.length > SUMMARY ? `${text.slice(0, SUMMARY)} ...` : text
  const hex = Buffer.from(text).toString('hex')
  return hex.length > SUMMARY ? `${hex.slice(0, SUMMARY)} ...` : hex
}
