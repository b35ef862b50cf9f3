/** One custom kind with every structure a schema can have, and an object of it under many hands. */
import { readFileSync } from 'node:fs'
import { applyConfiguration, trackUpdate } from '../../../../lib/embedded/apply/field-manager.ts'
import { cloneJson } from '../../../../lib/embedded/json.ts'
import type { ApiObject, ManagedFieldsEntry, Schema, SchemaSource } from '../../../../lib/embedded/types.ts'

type Variant = 'same' | 'granular' | 'less'
const SCHEMAS: Record<Variant, Schema> = JSON.parse(readFileSync(new URL('widget-schemas.json', import.meta.url), 'utf8'))

export const source = (variant: Variant): SchemaSource => ({ root: SCHEMAS[variant], resolve: (schema) => schema })

export interface Hand {
  readonly by: string
  readonly force?: boolean
  readonly subresource?: string
  /** `v1` or `v2`. */
  readonly version?: string
}

/** As a CustomResourceDefinition with the subresource `status` has it. */
const RESET: Record<string, string[][]> = { '': [['status']], status: [['spec'], ['metadata']] }

export class Widget {
  live: ApiObject | undefined
  time = '2026-01-01T00:00:00Z'
  readonly #v2: Variant
  readonly #reset: boolean

  /** `v2`: how the schema of the version v2 differs from that of v1. */
  constructor({ v2 = 'same', reset = false }: { v2?: Variant; reset?: boolean } = {}) {
    this.#v2 = v2
    this.#reset = reset
  }

  update(body: object, hand: Hand): ApiObject {
    const next = cloneJson(widget(body, hand))
    trackUpdate({ ...this.#write(hand), next, apiVersion: next.apiVersion })
    return this.#store(next)
  }

  apply(body: object, hand: Hand): ApiObject {
    const { version = 'v1' } = hand
    const config = widget(body, hand)
    const type = { group: 'ex.io', version, kind: 'Widget' }
    return this.#store(applyConfiguration({ ...this.#write(hand), config, type, force: hand.force === true }))
  }

  /** Another `spec` that nobody has written. */
  poke(spec: object): void {
    if (this.live !== undefined) this.live = { ...this.live, spec }
  }

  get managedFields(): ManagedFieldsEntry[] {
    return this.live?.metadata.managedFields ?? []
  }

  /** FieldsV1 of each owner, by name and operation. */
  get owners(): Record<string, unknown> {
    return Object.fromEntries(this.managedFields.map(({ manager, operation, fieldsV1 }) => [`${manager} ${operation}`, fieldsV1]))
  }

  #store(object: ApiObject): ApiObject {
    this.live = { ...object, metadata: { ...object.metadata, uid: 'u' } }
    return object
  }

  #write({ by, subresource = '', version = 'v1' }: Hand) {
    return {
      live: this.#read(version),
      manager: by,
      subresource,
      time: this.time,
      schemas: source(version === 'v2' ? this.#v2 : 'same'),
      resetFields: this.#reset ? RESET[subresource] : undefined,
      convert: (object: ApiObject, apiVersion: string) =>
        ({ 'ex.io/v1': this.#at(object, apiVersion, 'same'), 'ex.io/v2': this.#at(object, apiVersion, this.#v2) })[apiVersion],
    }
  }

  #at(object: ApiObject, apiVersion: string, variant: Variant) {
    return { object: { ...object, apiVersion }, schemas: source(variant), unchecked: true }
  }

  /** What is read in a version has only the fields of that version. */
  #read(version: string): ApiObject | undefined {
    if (this.live === undefined) return undefined
    const object: ApiObject = { ...this.live, apiVersion: `ex.io/${version}` }
    if (version === 'v2' && this.#v2 === 'less' && object['spec']?.list !== undefined) {
      object['spec'] = { ...object['spec'] }
      delete object['spec'].list
    }
    return object
  }
}

/** A whole object is taken as it is; anything else is what is special about one. */
function widget(body: object, { version = 'v1' }: Hand): ApiObject {
  const { metadata, ...rest } = body as { metadata?: object; kind?: string }
  if (rest.kind !== undefined) return body as ApiObject
  return { apiVersion: `ex.io/${version}`, kind: 'Widget', metadata: { name: 'a', ...metadata }, ...rest } as ApiObject
}
