/**
 * Keeps what must not be read out of logs, conditions, Events, probes and traces. Of a Kubernetes object only which one it is remains;
 * of an error what names it; what is filed under a name such as `password` is left out, and so is what looks like a credential in a text.
 *
 * It cannot know a secret by itself: `log.info('the password is ' + password)` is written as it is.
 */

import { describeError } from './describe-error.ts'

export const REDACTED = '[redacted]'

/** Names of fields whose texts nobody may read. At the end of a name: `dbPassword`, `access_token`, `x-auth-token`, but not `secretName`. */
const SECRETIVE =
  /(?:pass(?:word|wd|phrase)|secrets?|tokens?|api[-_]?keys?|access[-_]?keys?|private[-_]?keys?|credentials?|authorization|authentication|cookies?)$/i
/** What ends like one of them and is none. */
const HARMLESS = /^fencing[-_]?token$/i
/** Names of headers, whose values follow them in a list. `Secret` alone is a kind. */
const HEADER = /^(?:(?:proxy-)?authorization|(?:set-)?cookie|[\w-]+[-_](?:token|key|secret|password))$/i
/** The parts of a Secret; those of a ConfigMap cannot be told apart. */
const BODIES = new Set(['data', 'stringData', 'binaryData'])

const DEEPEST = 8
/** Values of one line. */
const MOST_VALUES = 2_000
/** Of one text. Characters. */
const LONGEST = 8_192

/** A copy of the fields of a log line that may be read by everybody. */
export function redact(fields: object, stacks = false): Record<string, unknown> {
  const walk = new Walk(stacks)
  if (isKubeObject(fields)) return { object: reference(fields) }
  return walk.object(fields, false) as Record<string, unknown>
}

/** One value, wherever it comes from. */
export function redactValue(value: unknown, stacks = false): unknown {
  return new Walk(stacks).value(value, '', false)
}

class Walk {
  readonly #stacks: boolean
  readonly #above = new Set<object>()
  #left = MOST_VALUES

  constructor(stacks: boolean) {
    this.#stacks = stacks
  }

  /** `hidden`: it stands under a name whose texts nobody may read. */
  value(value: unknown, name: string, hidden: boolean): unknown {
    if (typeof value === 'string') return hidden ? REDACTED : redactText(value)
    if (typeof value === 'bigint' || typeof value === 'symbol') return hidden ? REDACTED : String(value)
    if (typeof value !== 'object' || value === null) return hidden && typeof value === 'number' ? REDACTED : value
    if (this.#left-- <= 0 || this.#above.size >= DEEPEST) return '[too much]'
    if (this.#above.has(value)) return '[circular]'
    this.#above.add(value)
    try {
      return this.#composite(value, hidden || BODIES.has(name))
    } catch {
      return '[unreadable]'
    } finally {
      this.#above.delete(value)
    }
  }

  #composite(value: object, hidden: boolean): unknown {
    if (value instanceof Error) return hidden ? REDACTED : redactError(value, this.#stacks)
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    if (isKubeObject(value)) return reference(value)
    if (Array.isArray(value)) return this.#list(value, hidden)
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.value(value.toJSON(), '', hidden)
    return this.object(value, hidden)
  }

  #list(values: readonly unknown[], hidden: boolean): unknown[] {
    const safe: unknown[] = []
    for (const [i, value] of values.entries()) {
      if (this.#left <= 0) break
      // `['Authorization', 'Basic …']`, as Node keeps raw headers.
      const before = i > 0 ? values[i - 1] : undefined
      safe.push(this.value(value, '', hidden || (typeof before === 'string' && HEADER.test(before))))
    }
    return safe
  }

  object(value: object, hidden: boolean): Record<string, unknown> {
    const safe: Record<string, unknown> = {}
    // `{ name: 'PASSWORD', value: '…' }`, as a container's environment has it.
    const named = 'name' in value && typeof value.name === 'string' && isSecretive(value.name)
    for (const [name, member] of Object.entries(value)) {
      if (this.#left <= 0) break
      const conceals = hidden || isSecretive(name) || (named && name === 'value')
      Object.defineProperty(safe, name, { value: this.value(member, name, conceals), enumerable: true, writable: true, configurable: true })
    }
    return safe
  }
}

/** An error as fields; see `describeError`. */
export function redactError(error: Error, stacks: boolean): object {
  try {
    const described = describeError(error, stacks)
    return new Walk(stacks).object(described, false)
  } catch {
    return { type: 'Error', message: '[unreadable]' }
  }
}

function isSecretive(name: string): boolean {
  return SECRETIVE.test(name) && !HARMLESS.test(name)
}

const KEY = 'pass(?:word|wd|phrase)|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|authorization|cookie'

/** One look that finds most texts innocent. */
const SUSPECT = new RegExp(`${KEY}|bearer|basic|eyJ|-----BEGIN|://`, 'i')

const PATTERNS: readonly (readonly [RegExp, string | ((match: string, ...groups: string[]) => string)])[] = [
  [/-----BEGIN ([A-Z0-9 ]{0,40})PRIVATE KEY-----[\s\S]*?(?:-----END \1PRIVATE KEY-----|$)/g, REDACTED],
  // JSON Web Tokens, such as those of service accounts.
  [/eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, REDACTED],
  // `https://user:password@host`
  [/([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@"'\\]{0,256}):[^\s@/"'\\]{1,1024}@/gi, `$1:${REDACTED}@`],
  [/\b(bearer) +(?:(?=[a-z+/~=]*[\d._-])[\w.~+/=-]{6,}|[\w.~+/=-]{20,})/gi, `$1 ${REDACTED}`],
  [/\b(basic) +([a-z0-9+/]{6,}={0,2})/gi, (match, basic = '', text = '') => (isUserAndPassword(text) ? `${basic} ${REDACTED}` : match)],
  // `"password":"…"`, `password='…'`, also within JSON within JSON; up to the end where it was cut.
  [
    new RegExp(`(${KEY})(\\\\*["']?\\s{0,8}[:=]\\s{0,8})(\\\\*)(["'])[\\s\\S]*?(?:(?<!\\\\)\\3\\4|$)`, 'gi'),
    (_match, key = '', between = '', slashes = '', quote = '') => `${key}${between}${slashes}${quote}${REDACTED}${slashes}${quote}`,
  ],
  // `token=…` of a URL or a connection string.
  [new RegExp(`(${KEY})=([^\\s&;,"'\\\\[\\]]+)`, 'gi'), `$1=${REDACTED}`],
  // Headers as they are written; of one with parts, all of them.
  [/((?:set-)?cookie)(\s{0,4}:\s{0,4})(?![\s"'{[\\])[^\r\n]+/gi, `$1$2${REDACTED}`],
  [/(authorization\s{0,4}:\s{0,4}digest) {1,4}[^\r\n]+/gi, `$1 ${REDACTED}`],
  [
    /((?:proxy-)?authorization|x-[\w-]{0,40}token|pass(?:word|wd|phrase)|api[-_]?key)(\s{0,4}:\s{0,4})(?!digest |[\s"'{[\\])(?:(?:bearer|basic|negotiate|token) {1,4})?[^\s"',;{}\\]*[^\s"',;:{}\\]/gi,
    `$1$2${REDACTED}`,
  ],
]

/** A text without what looks like a credential. */
export function redactText(text: string): string {
  const short = text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`
  if (!SUSPECT.test(short)) return short
  let safe = short
  for (const [pattern, by] of PATTERNS) safe = typeof by === 'string' ? safe.replace(pattern, by) : safe.replace(pattern, by)
  return safe
}

function isUserAndPassword(base64: string): boolean {
  return /^[\x20-\x7e]*:[\s\S]*$/.test(Buffer.from(base64, 'base64').toString('latin1'))
}

// ---- Kubernetes objects ----

interface Identified {
  readonly kind?: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
}

function isKubeObject(value: object): value is Identified {
  if ('kind' in value && value.kind === 'Secret') return true
  if (!('metadata' in value)) return false
  const { metadata } = value
  return typeof metadata === 'object' && metadata !== null && 'name' in metadata && typeof metadata.name === 'string'
}

/** `Secret shop/credentials` */
function reference({ kind, metadata }: Identified): string {
  const name = metadata?.name
  const what = typeof kind === 'string' ? kind : 'object'
  if (typeof name !== 'string') return what
  return `${what} ${typeof metadata?.namespace === 'string' ? `${metadata.namespace}/` : ''}${name}`
}
