/** What the manifests of an operator have in common: its names, and what its classes ask for. */

import type { HandlerSpec } from '../resource/handler-spec.ts'

export interface OperatorModel {
  /** As `tsop-run --name`: it owns the fields that the operator writes. */
  readonly operator: string
  /** Of its objects in the cluster: a DNS label. */
  readonly name: string
  /** Where it runs. */
  readonly home: string
  /** What it serves (`tsop-run -n`). Undefined: all namespaces. */
  readonly namespaces: readonly string[] | undefined
  readonly specs: readonly HandlerSpec[]
}

/** Room for what is put behind it (`-leader-election`, a hash), within the 63 characters of a label. */
const LONGEST = 45

/** `@acme/database-operator` becomes `acme-database-operator`. */
export function objectName(operator: string): string {
  const name = operator
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, '')
  // Names of Services begin with a letter.
  return /^[a-z]/.test(name) ? name : `operator${name === '' ? '' : `-${name}`}`
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** By which the operator's pods are selected. */
export function selectorOf({ name }: Pick<OperatorModel, 'name'>): Record<string, string> {
  return { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'operator' }
}
