/**
 * YAML as kubectl reads it (sigs.k8s.io/yaml on go-yaml 2): the scalars of YAML 1.1, but times and base 60 (`12:30`) stay texts.
 * So `mode: 0755` is 493 and `enabled: yes` is true, here as there. Only a key that is given twice is refused, as the API server does.
 */

import { createRequire } from 'node:module'

export interface YamlDocument {
  readonly value: unknown
  /** Where its content begins, from 1. */
  readonly line: number
}

/** Line and column count from 1. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
  readonly line: number
  readonly column: number

  constructor(message: string, line: number, column: number) {
    super(message)
    this.line = line
    this.column = column
  }
}

/**
 * The documents of a text but empty ones. JSON is YAML.
 *
 * @param options.verbatim numbers, and words such as `yes` for true, stay texts as they are written: for formats whose values are texts
 * @throws YamlError
 */
export function parseYaml(text: string, options: { verbatim?: boolean } = {}): YamlDocument[] {
  const yaml = load()
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    const events = yaml.parseEvents(source, { maxDepth: MAX_DEPTH })
    const values = yaml.constructFromEvents(events, { source, schema: options.verbatim === true ? verbatim(yaml) : asKubectl(yaml) })
    const starts = events.flatMap((event, i) => (event.type === yaml.EVENT_ID.DOCUMENT ? startOf(events[i + 1]) : []))
    const documents = values.map((value, i) => ({ value, line: lineAt(source, starts[i] ?? 0) }))
    for (const { value, line } of documents) refuseEndless(value, line)
    return documents.filter(({ value }) => value !== null && value !== undefined)
  } catch (error) {
    if (!(error instanceof yaml.YAMLException)) throw error
    const { line = 0, column = 0 } = error.mark ?? {}
    throw new YamlError(error.reason, line + 1, column + 1)
  }
}

type Yaml = typeof import('js-yaml')

/** Loaded when it is needed: most operators never read YAML. A bundler resolves the first call. */
function load(): Yaml {
  return typeof require === 'function' ? require('js-yaml') : createRequire(import.meta.url)('js-yaml')
}

/** Definitions nest deeply, but none a thousand levels. */
const MAX_DEPTH = 1000

function verbatim(yaml: Yaml) {
  return yaml.FAILSAFE_SCHEMA.withTags(yaml.nullCoreTag, yaml.boolCoreTag, yaml.mergeTag)
}

function asKubectl(yaml: Yaml) {
  const integer = numberTag(yaml, 'int', integerOf)
  const float = numberTag(yaml, 'float', floatOf)
  return yaml.FAILSAFE_SCHEMA.withTags(yaml.nullYaml11Tag, yaml.boolYaml11Tag, integer, float, yaml.mergeTag)
}

function numberTag(yaml: Yaml, name: string, parse: (plain: string) => number | undefined) {
  return yaml.defineScalarTag<number>(`tag:yaml.org,2002:${name}`, {
    implicit: true,
    implicitFirstChars: [...'+-.0123456789'],
    resolve: (text) => parse(text.replaceAll('_', '')) ?? yaml.NOT_RESOLVED,
    identify: () => false,
  })
}

/** A leading zero means octal where all digits are, as in a file's mode; otherwise it means nothing. */
function integerOf(plain: string): number | undefined {
  const [, sign, digits] = /^([-+]?)(0x[\da-f]+|0b[01]+|0o[0-7]+|\d+)$/i.exec(plain) ?? []
  if (digits === undefined) return undefined
  const value = Number(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits)
  return sign === '-' && value !== 0 ? -value : value
}

function floatOf(plain: string): number | undefined {
  const value = /^[-+]?(\.\d+|\d+(\.\d*)?)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

/** The offset of a node: a tag and an anchor stand before its text. An empty one has none. */
function startOf(node: ReturnType<Yaml['parseEvents']>[number] | undefined): number {
  if (node === undefined || !('tagStart' in node)) return 0
  const offsets = [node.tagStart, node.anchorStart, 'start' in node ? node.start : node.valueStart]
  return Math.min(...offsets.map((offset) => (offset < 0 ? Number.POSITIVE_INFINITY : offset)))
}

function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split(/\r\n|\n|\r/).length
}

/** What no API server would take: it refuses requests of more than 3 MiB. */
const MAX_EXPANDED = 2 ** 24

/**
 * An alias costs the parser nothing, but whoever goes through the value meets it each time: a few lines can stand for gigabytes, or
 * contain themselves.
 */
function refuseEndless(document: unknown, line: number): void {
  const sizes = new Map<object, number | undefined>()
  const size = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return typeof value === 'string' ? value.length : 1
    if (sizes.has(value)) {
      const known = sizes.get(value)
      if (known === undefined) throw new YamlError('an anchor contains itself', line, 1)
      return known
    }
    sizes.set(value, undefined)
    let sum = 1
    for (const [key, inner] of Object.entries(value)) sum += key.length + size(inner)
    if (sum > MAX_EXPANDED) throw new YamlError('its aliases stand for too much', line, 1)
    sizes.set(value, sum)
    return sum
  }
  size(document)
}
