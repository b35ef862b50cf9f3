/** What was waited for, and what was there in the end, in the words of a failure. */
import type { KubeObject } from '../resource/kind.ts'
import { condition } from './conditions.ts'

/** Most of an object's text that is shown. */
const LONGEST = 3000

/** Most of a function's text that is shown. */
const LONGEST_SOURCE = 100
/** How many objects that are not ready are named. */
const NAMED = 5

type AnyFunction = (...args: never[]) => unknown

/** For a wait that its caller gave no name. */
export function awaited(ask: AnyFunction, holds: AnyFunction): string {
  if (holds === (Boolean as AnyFunction)) return `something from ${source(ask)}`
  // What a function is called says more than what is in it.
  return `${holds.name === '' ? source(holds) : `${holds.name}()`} to hold of ${source(ask)}`
}

function source(f: AnyFunction): string {
  // Compiled to CommonJS, an imported `at(…)` reads `(0,import_fixtures.at)(…)`.
  const text = f
    .toString()
    .replace(/\s+/g, ' ')
    .replace(/\(0, ?(import_\w+\.\w+)\)/g, '$1')
    .replace(/\bimport_\w+\.(\w+)/g, '$1')
  return `\`${text.length > LONGEST_SOURCE ? `${text.slice(0, LONGEST_SOURCE)}…` : text}\``
}

/** `Task default/a: PodsStarting: 0 of 1 pods`; lines for those of the objects that are not ready. */
export function unready(objects: readonly KubeObject[]): string {
  const lines = objects.flatMap((object) => {
    const ready = condition(object, 'Ready')
    if (ready?.status === 'True') return []
    const { name, namespace } = object.metadata
    const why = ready === undefined ? 'has no condition yet' : [ready.reason, ready.message].filter(Boolean).join(': ')
    return [`${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}: ${why}`]
  })
  const more = lines.length > NAMED ? [`and ${lines.length - NAMED} more`] : []
  return lines.length === 0 ? '' : `\n  not ready:${[...lines.slice(0, NAMED), ...more].map((line) => `\n    ${line}`).join('')}`
}

export function lastSeen({ answer, error }: { readonly answer?: unknown; readonly error?: unknown }): string {
  const lines: string[] = []
  if (error !== undefined) lines.push(`the last answer was ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`)
  if (answer !== undefined) lines.push(`it was last: ${textOf(answer)}`)
  if (lines.length === 0) lines.push('it was last: undefined')
  return lines.map((line) => `\n  ${line.replaceAll('\n', '\n  ')}`).join('')
}

function textOf(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value, withoutNoise, 2) ?? String(value)
  } catch {
    text = String(value)
  }
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

function withoutNoise(key: string, value: unknown): unknown {
  return key === 'managedFields' ? undefined : value
}
