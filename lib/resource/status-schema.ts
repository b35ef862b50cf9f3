/** The parts of a status that the engine writes. */

import type { Schema } from './schema.ts'

/** `metav1.Condition`, with the bounds of its Go type (https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#Condition). */
const CONDITION: Schema = {
  type: 'object',
  properties: {
    type: {
      type: 'string',
      maxLength: 316,
      pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      description: 'The generation of the object that the condition is about.',
    },
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'When the status last changed.' },
    reason: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      description: 'One CamelCase word for programs.',
    },
    message: { type: 'string', maxLength: 32768, description: 'A sentence for people.' },
  },
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
}

export const CONDITIONS: Schema = {
  type: 'array',
  description: 'What can be said of the object: Ready, and while it is true, Reconciling or Stalled.',
  items: CONDITION,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
}

export const OBSERVED_GENERATION: Schema = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  description: 'The generation that the status is about.',
}

export const EXTERNAL: Schema = {
  type: 'object',
  description: 'The record of steps outside the cluster, by name, kept by the operator.',
  additionalProperties: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}
