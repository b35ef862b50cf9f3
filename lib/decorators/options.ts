/** Checks what was handed to a decorator. JavaScript users have no type checker, and NaN has the type number. */

import { parseDuration } from '../resource/duration.ts'
import type { DecoratorName } from './metadata.ts'

type Check = (value: unknown) => string | undefined

const SELECTION: Record<string, Check> = {
  labels: selector,
  fields: selector,
  namespaces: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string' && NAMESPACE.test(name))
      ? undefined
      : "expected a list of at least one namespace, such as ['team-a']",
  when: (value) => (typeof value === 'function' ? undefined : 'expected a function that says whether an object wakes a run'),
}

const ADMISSION: Record<string, Check> = {
  failurePolicy: (value) => (value === 'Fail' || value === 'Ignore' ? undefined : "expected 'Fail' or 'Ignore'"),
  timeout: (value) => {
    const problem = timeout(value)
    if (problem !== undefined) return problem
    const seconds = parseDuration(value as string | number, '') / 1000
    return Number.isInteger(seconds) && seconds <= 30 ? undefined : 'the API server waits for whole seconds, from 1 to 30'
  },
}

const OPTIONS: Record<DecoratorName, Record<string, Check>> = {
  onReconcile: {
    concurrency: (value) => (Number.isInteger(value) && (value as number) >= 1 ? undefined : 'expected a whole number from 1 on'),
    timeout,
    ...SELECTION,
    uses: (value) => (Array.isArray(value) ? value.map(useProblem).find(Boolean) : 'expected a list of kinds and verbs'),
  },
  onDelete: {
    finalizer: (value) =>
      typeof value === 'string' && FINALIZER.test(value) ? undefined : "expected a name with a domain, such as 'db.example.com/cleanup'",
  },
  owns: {
    suffix: (value) =>
      typeof value === 'string' && SUFFIX.test(value) ? undefined : "expected lower-case letters, digits and dashes, such as 'replica'",
  },
  watches: SELECTION,
  validates: { on: operations('create', 'update', 'delete', 'status'), ...ADMISSION },
  defaults: { on: operations('create', 'update'), ...ADMISSION },
}

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const SUFFIX = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
/** A qualified name (https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/). */
const FINALIZER =
  /^(?=.{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

const VERB = /^[a-z]+$/
const USE = ['kind', 'verbs', 'subresource', 'names', 'namespaces']

/** A wildcard is no verb here: `uses` says what is used. */
function useProblem(value: unknown): string | undefined {
  const use = (value ?? {}) as Record<string, unknown>
  const kind = use['kind'] as { apiVersion?: unknown; kind?: unknown } | undefined
  if (typeof kind?.apiVersion !== 'string' || typeof kind.kind !== 'string')
    return 'expected a kind in each, such as { kind: Pod, verbs: [...] }'
  if (!texts(use['verbs'], VERB)) return "expected verbs in each, such as ['get', 'delete']"
  if (use['subresource'] !== undefined && !texts([use['subresource']], /^[a-z]+$/))
    return "expected the name of a subresource, such as 'status'"
  if (use['names'] !== undefined && !texts(use['names'], /^[^*]+$/)) return 'expected a list of names'
  if (use['namespaces'] !== undefined && !texts(use['namespaces'], NAMESPACE)) return 'expected a list of namespaces'
  const unknown = Object.keys(use).find((name) => !USE.includes(name))
  return unknown === undefined ? undefined : `unknown field ${unknown} (it takes ${USE.join(', ')})`
}

function texts(value: unknown, pattern: RegExp): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && pattern.test(one))
}

function operations(...known: readonly string[]): Check {
  return (value) =>
    Array.isArray(value) && value.length > 0 && value.every((one) => known.includes(one))
      ? undefined
      : `expected a list of ${known.map((one) => `'${one}'`).join(', ')}`
}

/** What is wrong with the options, one text a fault. */
export function optionProblems(decorator: DecoratorName, options: unknown): string[] {
  if (options === undefined) return []
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return [`@${decorator}: expected an object of options, not ${show(options)}`]
  }
  const known = OPTIONS[decorator]
  return Object.entries(options).flatMap(([name, value]) => {
    const check = Object.hasOwn(known, name) ? known[name] : undefined
    if (check === undefined) return `@${decorator}: unknown option ${name}; it takes ${Object.keys(known).join(', ')}`
    const problem = value === undefined ? undefined : check(value)
    return problem === undefined ? [] : `@${decorator}: ${name}: ${problem}, not ${show(value)}`
  })
}

function timeout(value: unknown): string | undefined {
  try {
    return parseDuration(value as string | number, '') > 0 ? undefined : 'expected more than 0'
  } catch {
    return "expected a duration such as '30s', or milliseconds"
  }
}

function selector(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? 'expected a selector' : undefined
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined
  return "expected a selector such as 'app=db' or { app: 'db' }"
}

/** One short line of any value. */
export function show(value: unknown): string {
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`
  if (typeof value === 'object' && value !== null) {
    try {
      const text = JSON.stringify(value)
      return text.length > 60 ? `${text.slice(0, 57)}…` : text
    } catch {
      return 'an object'
    }
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
