/**
 * What an Event looks like on the wire: `events.k8s.io/v1`
 * (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/). The limits are those of the API server's
 * validation; an Event that breaks one is refused as a whole.
 */

import { createHash } from 'node:crypto'
import { microTimestamp } from '../api/clock.ts'
import type { KindRef, KubeObject } from '../resource/kind.ts'

export interface EventObject extends KubeObject {
  eventTime: string
  type: 'Normal' | 'Warning'
  reason: string
  note: string
  action: string
  regarding: { apiVersion?: string; kind?: string; namespace?: string; name: string; uid: string; resourceVersion?: string }
  reportingController: string
  reportingInstance: string
  series?: { count: number; lastObservedTime: string }
}

/** An Event before it is created. */
export type NewEvent = Omit<EventObject, 'metadata'> & { readonly metadata: { readonly name: string; readonly namespace: string } }

export const Event: KindRef<EventObject> = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', scope: 'Namespaced' }

export interface Observation {
  /** The object the event is about. */
  readonly regarding: KubeObject
  readonly type: 'Normal' | 'Warning'
  /** CamelCase, for machines. Cut to 128 bytes. */
  readonly reason: string
  /** For people. Cut to 1 KiB. */
  readonly message: string
}

const LONGEST_NOTE = 1024
const LONGEST_WORD = 128
const LONGEST_NAME = 253

/** `at` in milliseconds since 1970: when it was first seen. */
export function eventObject(what: Observation, at: number, reporter: { component: string; instance: string }): NewEvent {
  const { metadata, apiVersion, kind } = what.regarding
  // Events about cluster-scoped objects live in `default`, as client-go's do.
  const namespace = metadata.namespace ?? 'default'
  return {
    apiVersion: Event.apiVersion,
    kind: Event.kind,
    metadata: { name: eventName(what, at), namespace },
    eventTime: microTimestamp(at),
    type: what.type,
    reason: cut(what.reason, LONGEST_WORD) || 'Unknown',
    note: cut(what.message, LONGEST_NOTE),
    action: 'Reconcile',
    regarding: {
      ...(apiVersion !== undefined && { apiVersion }),
      ...(kind !== undefined && { kind }),
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      name: metadata.name,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    },
    reportingController: qualifiedName(reporter.component),
    reportingInstance: cut(reporter.instance, LONGEST_WORD) || 'unknown',
  }
}

/** Two observations with the same identity are one Event, counted. */
export function identity({ regarding, type, reason, message }: Observation): string {
  return [regarding.metadata.uid, type, reason, message].join('\0')
}

/**
 * `<object>.<hash>`. The same observation always gets the same name, so that a create that is tried again after a lost answer
 * finds the first one. Names of some objects (`system:node`) are no DNS names, and Events must have one.
 */
function eventName(what: Observation, at: number): string {
  const hash = createHash('sha256')
    .update(`${identity(what)}\0${at}`)
    .digest('hex')
    .slice(0, 16)
  const room = LONGEST_NAME - hash.length - 1
  const name = what.regarding.metadata.name
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .slice(0, room)
    .replace(/\.(?=\.|-)|(?<=-)\./g, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
  return name === '' ? hash : `${name}.${hash}`
}

/** A reporting controller must be a qualified name; an npm name such as `@shop/operator` is none. */
function qualifiedName(text: string): string {
  if (/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(text)) return text
  const name = text
    .replace(/[^-A-Za-z0-9_.]/g, '-')
    .slice(0, 63)
    .replace(/^[-_.]+|[-_.]+$/g, '')
  return name === '' ? 'tsop' : name
}

/** At most `bytes` bytes of UTF-8, never half a character; what was cut shows as `…`. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  const room = bytes - Buffer.byteLength('…')
  const kept = Buffer.from(text).subarray(0, room).toString()
  return `${kept.replace(/\uFFFD$/, '')}…`
}
