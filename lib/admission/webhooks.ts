/** What the API server asks the operator about: one webhook for each method of `@validates` and `@defaults`. */

import { hash } from 'node:crypto'
import { parseDuration } from '../resource/duration.ts'
import type { AdmissionMethod, HandlerSpec } from '../resource/handler-spec.ts'
import { groupOf, type KindRef } from '../resource/kind.ts'

export type Operation = 'create' | 'update' | 'delete' | 'status'

export interface Webhook {
  readonly type: 'validate' | 'default'
  readonly spec: HandlerSpec
  readonly method: string
  /** Unique in the cluster, but for other operators of the same kind: `validate.databases.db.example.com`. */
  readonly name: string
  /** Of the URL. */
  readonly path: string
  readonly on: readonly Operation[]
  readonly failurePolicy: 'Fail' | 'Ignore'
  /** How long the API server waits. */
  readonly timeoutSeconds: number
  /** How long the method may take: the answer must still arrive. */
  readonly limitMs: number
}

export const CONVERT_PATH = '/convert'

/** Of the Secret that holds the certificate for a Service. */
export const secretNameOf = (service: string) => `${service}-tls`

const TIMEOUT = '10s'
const SHARE = 0.9
/** Of the first label of a webhook's name. */
const LONGEST_LABEL = 40

/** Those that fill in first. */
export function webhooksOf(specs: readonly HandlerSpec[]): Webhook[] {
  return [
    ...specs.flatMap((spec) => (spec.defaults === undefined ? [] : webhook('default', spec, spec.defaults))),
    ...specs.flatMap((spec) => (spec.validates ?? []).map((each) => webhook('validate', spec, each))),
  ]
}

/** Whether the API server needs to reach the operator at all. */
export function needsServing(specs: readonly HandlerSpec[]): boolean {
  return convertedKinds(specs).length > 0 || webhooksOf(specs).length > 0
}

/** Every kind with conversions that the classes name, also those that others of them own or watch. */
export function convertedKinds(specs: readonly HandlerSpec[]): KindRef<unknown>[] {
  const all = specs.flatMap(({ kind, owns, watches }) => [kind, ...owns.map((each) => each.kind), ...watches.map((each) => each.kind)])
  return [...new Set(all.filter(({ conversion, foreign }) => conversion !== undefined && foreign !== true))]
}

function webhook(
  type: Webhook['type'],
  spec: HandlerSpec,
  { method, options }: AdmissionMethod & { readonly options: { on?: readonly Operation[] } },
): Webhook {
  const { on = ['create', 'update'], failurePolicy = 'Fail', timeout = TIMEOUT } = options
  const timeoutMs = parseDuration(timeout, 'timeout')
  const group = groupOf(spec.kind.apiVersion)
  const plural = String(spec.kind.plural)
  return {
    type,
    spec,
    method,
    // Of the core group: as the finalizers of its kinds.
    name: `${dashed(method)}.${plural}.${group === '' ? 'core.tsop.dev' : group}`,
    path: `/${type}/${group === '' ? 'core' : group}/${plural}/${encodeURIComponent(method)}`,
    on,
    failurePolicy,
    timeoutSeconds: timeoutMs / 1000,
    limitMs: timeoutMs * SHARE,
  }
}

/** `checkQuota` as a DNS label. Whatever does not tell two methods apart any more gets a hash: an API server refuses two webhooks of one name. */
function dashed(method: string): string {
  const label = method
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  const isPlain = /^[a-z][a-zA-Z0-9]*$/.test(method) && !/[A-Z]{2}/.test(method)
  if (isPlain && label.length <= LONGEST_LABEL) return label
  const start = label.slice(0, LONGEST_LABEL - 9).replace(/-+$/, '')
  return `${start === '' ? 'method' : start}-${hash('sha256', method).slice(0, 8)}`
}
