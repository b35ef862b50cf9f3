/** The objects that cases make. */

import type { Body as Any } from './world.ts'

export const configMap = (name: string, data: Any = {}, metadata: object = {}): Any => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})

export const container = (more: object = {}): Any => ({ name: 'web', image: 'web:1', ...more })

export const deployment = (name: string, spec: object = {}, metadata: object = {}): Any => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...metadata },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container()] } },
    ...spec,
  },
})

export const service = (name: string, spec: object = {}, metadata: object = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, ...metadata },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
})

export const ownedBy = ({ apiVersion, kind, metadata }: Any, more: object = {}): object => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  ...more,
})

/** Schemas in a word. */
export const S = {
  string: { type: 'string' },
  int: { type: 'integer' },
  bool: { type: 'boolean' },
  strings: { type: 'array', items: { type: 'string' } },
  object: (properties: object, more: object = {}) => ({ type: 'object', properties, ...more }),
  list: (items: object, more: object = {}) => ({ type: 'array', items, ...more }),
  map: (values: object) => ({ type: 'object', additionalProperties: values }),
  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
} as const

/** Of objects that a controller has written meanwhile, next to others. */
export const withoutRevision = ({ metadata: { resourceVersion, ...metadata }, ...rest }: Any): Any => ({ ...rest, metadata })

/** A refusal to change what is fixed ends with a diff of Go structs, which the embedded server leaves out. */
export const withoutDiff = ({ message, details, reason, status }: Any): Any => ({
  message: message.split('\n')[0],
  reason,
  status,
  causes: details?.causes?.map((each: Any) => ({ ...each, message: each.message.split('\n')[0] })),
})
