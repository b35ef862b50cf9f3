/**
 * What two servers answer the same is written the same: names, numbers and times that a server chooses get names by their first
 * appearance, revisions their rank.
 */
import type { Exchange } from './world.ts'

export interface Chosen {
  /** The case's own word. */
  readonly id: string
  /** All that the case sent. */
  readonly sent: string
}

type Json = unknown
interface JsonObject {
  [member: string]: Json
}

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
const DAY_MS = 86_400_000

export function normalise(log: readonly Exchange[], chosen: Chosen): unknown[] {
  const objects = new Set<number>()
  const generated = new Map<string, string>()
  for (const each of log) survey(each.body ?? each.events, objects, generated)
  return new Normaliser(
    chosen,
    [...objects].sort((a, b) => a - b),
    generated,
  ).all(log)
}

/** Collects the revisions of objects, and generated names. */
function survey(value: Json, objects: Set<number>, generated: Map<string, string>): void {
  if (Array.isArray(value)) for (const each of value) survey(each, objects, generated)
  if (!isObject(value)) return
  const { metadata } = value
  if (isObject(metadata)) {
    if (!isCollection(value) && isRevision(metadata['resourceVersion'])) objects.add(Number(metadata['resourceVersion']))
    const { name, generateName: base } = metadata
    if (typeof name === 'string' && typeof base === 'string' && name.startsWith(base) && name !== base && !generated.has(name))
      generated.set(name, `${base}<generated-${generated.size + 1}>`)
  }
  for (const each of Object.values(value)) survey(each, objects, generated)
}

class Normaliser {
  readonly #chosen: Chosen
  readonly #revisions: readonly number[]
  readonly #generated: ReadonlyMap<string, string>
  readonly #uids = new Map<string, string>()
  readonly #now = Date.now()

  constructor(chosen: Chosen, revisions: readonly number[], generated: ReadonlyMap<string, string>) {
    this.#chosen = chosen
    this.#revisions = revisions
    this.#generated = generated
  }

  all(log: readonly Exchange[]): unknown[] {
    return log.map((exchange) => {
      const { ask, ...rest } = exchange
      return { ask: this.#ask(ask), ...(this.#value(rest) as object) }
    })
  }

  #ask(text: string): string {
    const plain = text.replace(/continue=[^&\s]+/g, 'continue=<token>')
    return this.#text(plain.replace(/resourceVersion=(\d+)/g, (_, revision) => `resourceVersion=${this.#place(revision)}`))
  }

  #value(value: Json, key = '', parent: JsonObject = {}): Json {
    if (typeof value === 'string') return this.#string(value, key, parent)
    if (typeof value === 'number') return this.#number(value, key)
    if (Array.isArray(value)) {
      if (key === 'managedFields') return this.#owners(value as JsonObject[])
      return value.map((each) => (key === 'cells' && isAge(each) ? '<age>' : this.#value(each, key, parent)))
    }
    if (!isObject(value)) return value
    const whole = value['kind'] === 'Status' ? ordered(value) : value
    const entries = Object.entries(whole).map(([name, each]): [string, Json] => {
      if (name === 'metadata' && isObject(each)) return [name, this.#metadata(each, whole)]
      return [this.#text(name), this.#value(each, name, whole)]
    })
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  }

  #metadata(metadata: JsonObject, holder: JsonObject): Json {
    const { resourceVersion: revision, ...rest } = metadata
    const plain = this.#value(rest) as JsonObject
    if (!isRevision(revision)) return revision === undefined ? plain : { ...plain, resourceVersion: revision }
    return { ...plain, resourceVersion: isCollection(holder) ? this.#after(Number(revision)) : this.#revision(revision) }
  }

  #string(text: string, key: string, parent: JsonObject): Json {
    if (key === 'continue') return text === '' ? '' : '<token>'
    if (key === 'storageVersionHash' || key === 'hash') return '<hash>'
    if (key === 'message' && parent['kind'] === 'Status') return this.#text(text.replace(/, current: \d+/, ', current: <revision>'))
    return this.#text(text)
  }

  #number(value: number, key: string): Json {
    const isPort = /nodePort$/i.test(key) && value >= 30_000 && value <= 32_767
    return isPort && !this.#chosen.sent.includes(String(value)) ? '<node port>' : value
  }

  #text(text: string): string {
    const { id } = this.#chosen
    let out = text.replaceAll(id, '<id>').replaceAll(`${id[0]?.toUpperCase()}${id.slice(1)}`, '<Id>')
    for (const [name, instead] of this.#generated) out = out.replaceAll(name, instead)
    return (
      out
        .replace(UUID, (uid) => this.#uid(uid))
        .replace(TIME, (time, fraction) => (this.#isRecent(time) ? (fraction === undefined ? '<time>' : '<micro time>') : time))
        .replace(/kube-api-access-\w{5}/g, 'kube-api-access-<generated>')
        .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>')
        .replace(/hash=[0-9A-F]{20,}/g, 'hash=<hash>')
        .replace(/\b10\.0\.0\.\d+\b/g, (address) => (this.#chosen.sent.includes(address) ? address : '<ip>'))
        .replace(/(?<=^duplicate nodePort: \{\w+ )\d+/, '<node port>')
        .replace(/(?<=^Duplicate value: )3\d{4}$/, '<node port>')
        .replace(/(?<=\d:)3\d{4}(?=\/(TCP|UDP))/g, '<node port>')
        // Inside of a text that shows an object.
        .replace(/(?<=resourceVersion\\?"?: ?\\?")\d+/g, (revision) => this.#revision(revision))
        .replace(/(?<=ResourceVersion in (?:the precondition|record) \()\d+/g, (revision) => this.#revision(revision))
    )
  }

  #uid(uid: string): string {
    if (!this.#uids.has(uid)) this.#uids.set(uid, `<uid-${this.#uids.size + 1}>`)
    return this.#uids.get(uid) as string
  }

  #isRecent(time: string): boolean {
    return Math.abs(Date.parse(time) - this.#now) < DAY_MS
  }

  #revision(text: string): string {
    const rank = this.#revisions.indexOf(Number(text))
    return rank >= 0 ? `<${rank + 1}>` : this.#place(text)
  }

  /** Of one that came from a server; not of one that the case made up. */
  #place(text: string): string {
    return Number(text) < 2 || Number(text) > 1e8 ? text : this.#after(Number(text))
  }

  /** A collection's revision counts all writes of the server: only its place between those of objects is the same. */
  #after(revision: number): string {
    return `<from ${this.#revisions.filter((each) => each <= revision).length}>`
  }

  /** Each owner in short, in an order that does not hang on the second of the write. */
  #owners(entries: readonly JsonObject[]): string[] {
    const short = entries.map((entry) => {
      const { manager, operation, apiVersion, subresource, fieldsType, fieldsV1, time, ...more } = entry
      const name = [manager, operation, apiVersion, subresource].filter((each) => each !== undefined).join(' ')
      const odd = [fieldsType !== 'FieldsV1' && fieldsType, typeof time !== 'string' && 'no time', ...Object.keys(more)].filter(Boolean)
      return this.#text(`${name}: ${fields(this.#value(fieldsV1))}${odd.length > 0 ? ` (${odd.join(', ')})` : ''}`)
    })
    return short.sort()
  }
}

/** `{"f:data":{".":{},"f:a":{}}}` is `data(.,a)`. */
function fields(value: Json): string {
  if (!isObject(value)) return String(value)
  const members = Object.keys(value).sort()
  return members
    .map((name) => {
      const inner = fields(value[name])
      return `${name.replace(/^f:/, '')}${inner === '' ? '' : `(${inner})`}`
    })
    .join(',')
}

/** A real server gives the causes of a refusal in the order of a Go map: any. */
function ordered(status: JsonObject): JsonObject {
  const details = status['details'] as { causes?: { field?: string; message?: string; reason?: string }[] } | undefined
  const causes = details?.causes
  const text = status['message']
  // Of a typed object: its fields too are a map.
  if (typeof text === 'string' && text.includes('): errors:\n')) return { ...status, message: text.split('\n').sort().join('\n') }
  if (!Array.isArray(causes) || causes.length < 2) return status
  let message = String(status['message'])
  const joined = `[${causes.map(({ field, message }) => `${field}: ${message}`).join(', ')}]`
  if (message.includes(joined)) message = message.replace(joined, () => '[the causes]')
  else message = message.split('\n').sort().join('\n')
  const sorted = causes.map((each) => ({ each, key: JSON.stringify([each.field, each.reason, each.message]) }))
  sorted.sort((a, b) => (a.key < b.key ? -1 : 1))
  return { ...status, message, details: { ...details, causes: sorted.map(({ each }) => each) } }
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
const isRevision = (value: Json): value is string => typeof value === 'string' && /^[1-9]\d*$/.test(value)
const isAge = (value: Json) => typeof value === 'string' && /^(\d+[smhd])+$/.test(value)
/** A list, a table, or the object of a bookmark, which has nothing but a revision. */
function isCollection(value: JsonObject): boolean {
  const { metadata } = value
  const isBookmark = isObject(metadata) && metadata['name'] === undefined && metadata['uid'] === undefined
  return Array.isArray(value['items']) || Array.isArray(value['rows']) || isBookmark
}
