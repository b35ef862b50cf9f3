/** YAML as the API server reads it: to JSON, with the keys that a strict reader finds twice. */
import {
  constructFromEvents,
  defineScalarTag,
  EVENT_ID,
  type Event,
  FAILSAFE_SCHEMA,
  getScalarValue,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  YAMLException,
} from 'js-yaml'
import { define, type Json } from '../json.ts'
import { resolveScalar } from './scalars.ts'

export interface YamlDocument {
  readonly value: Json
  /** `line 5: key "a" already set in map` */
  readonly problems: readonly string[]
}

/** Its text is what Go says after `yaml: `, as near as it gets. */
export class YamlError extends Error {}

const scalarTag = defineScalarTag('tag:yaml.org,2002:k8s', {
  implicit: true,
  resolve(source: string) {
    const value = resolveScalar(source)
    return typeof value === 'string' ? NOT_RESOLVED : value
  },
  identify: () => false,
})
const SCHEMA = FAILSAFE_SCHEMA.withTags(scalarTag, mergeTag)

/** An empty text is null. Only the first document counts. @throws YamlError */
export function readYaml(text: string, strict: boolean): YamlDocument {
  try {
    const events = parseEvents(text, { maxDepth: 1_000 })
    if (events.length === 0) return { value: null, problems: [] }
    const [value] = constructFromEvents(events, { source: text, schema: SCHEMA, json: true })
    return { value: toJson(value, { left: MOST_NODES }), problems: strict ? duplicateKeys(text, events) : [] }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    throw new YamlError(describe(error))
  }
}

/** A few aliases of aliases make a document of gigabytes out of one of a few lines. */
const MOST_NODES = 1_000_000

/** As `encoding/json` would have it: keys are strings, and there is no infinity. */
function toJson(value: unknown, nodes: { left: number }): Json {
  if (nodes.left-- === 0) throw new YamlError('document contains excessive aliasing')
  if (typeof value === 'number' && !Number.isFinite(value)) throw new YamlError('json: unsupported value')
  if (typeof value !== 'object' || value === null) return value as Json
  if (Array.isArray(value)) return value.map((item) => toJson(item, nodes))
  const object = {}
  for (const key of Object.keys(value)) define(object, key, toJson((value as Record<string, unknown>)[key], nodes))
  return object
}

interface Mapping {
  readonly keys: Set<string> | undefined
  /** Of a mapping: whether the next node is a key. */
  atKey: boolean
}

function duplicateKeys(text: string, events: readonly Event[]): string[] {
  const problems: string[] = []
  const open: Mapping[] = []
  const nodeEnds = () => {
    const parent = open.at(-1)
    if (parent?.keys !== undefined) parent.atKey = !parent.atKey
  }
  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.MAPPING:
        open.push({ keys: new Set(), atKey: true })
        break
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.DOCUMENT:
        open.push({ keys: undefined, atKey: false })
        break
      case EVENT_ID.SCALAR: {
        const parent = open.at(-1)
        if (parent?.keys !== undefined && parent.atKey) {
          const key = getScalarValue(text, event)
          if (parent.keys.has(key)) problems.push(`line ${lineAt(text, event.valueStart)}: key ${JSON.stringify(key)} already set in map`)
          parent.keys.add(key)
        }
        nodeEnds()
        break
      }
      case EVENT_ID.ALIAS:
        nodeEnds()
        break
      case EVENT_ID.POP:
        open.pop()
        nodeEnds()
    }
  }
  return problems
}

function lineAt(text: string, position: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i !== -1 && i < position; i = text.indexOf('\n', i + 1)) line++
  return line
}

function describe({ reason, mark }: { reason: string; mark?: { line: number } | undefined | null }): string {
  const text = GO_REASONS.get(reason) ?? reason
  return mark === undefined || mark === null ? text : `line ${mark.line + 1}: ${text}`
}

/** What people get wrong most, in the words of Go's reader. */
const GO_REASONS: ReadonlyMap<string, string> = new Map([
  ['tab characters must not be used in indentation', 'found character that cannot start any token'],
  ['unexpected end of the stream within a flow collection', 'did not find expected node content'],
])
