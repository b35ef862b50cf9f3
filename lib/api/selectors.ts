/**
 * Label and field selectors: the text the API server takes, and the same answer here. Syntax and meaning as
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors and
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/ say.
 */

import type { FieldSelector, LabelRequirement, LabelSelector, Selector } from '../resource/selector.ts'

/** The text for `?labelSelector=`. Throws a `TypeError` where the selector makes no sense. */
export function toLabelSelector(selector: Selector): string {
  if (typeof selector === 'string') {
    parseLabelSelector(selector)
    return selector
  }
  return requirementsOf(selector).map(requirementText).join(',')
}

/** For a `metav1.LabelSelector`; undefined where the text compares numbers, which that cannot say. */
export function toMatchExpressions(selector: Selector): LabelRequirement[] | undefined {
  const requirements = typeof selector === 'string' ? parseLabelSelector(selector) : requirementsOf(selector)
  const expressions = requirements.flatMap(({ key, operator, values }): LabelRequirement[] =>
    operator === 'Gt' || operator === 'Lt' ? [] : [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
  )
  return expressions.length === requirements.length ? expressions : undefined
}

/** Whether an object with these labels is selected. The empty selector selects all. */
export function matchesLabels(selector: Selector, labels: Labels | undefined): boolean {
  return labelMatcher(selector)(labels)
}

/** `matchesLabels` for many objects: reads the selector once. */
export function labelMatcher(selector: Selector): (labels: Labels | undefined) => boolean {
  const requirements = typeof selector === 'string' ? parseLabelSelector(selector) : requirementsOf(selector)
  return (labels) => requirements.every((requirement) => holds(requirement, labels))
}

/** The text for `?fieldSelector=`. */
export function toFieldSelector(selector: FieldSelector): string {
  if (typeof selector === 'string') {
    parseFieldSelector(selector)
    return selector
  }
  return Object.entries(selector)
    .map(([path, value]) => `${path}=${value.replace(/[\\,=]/g, '\\$&')}`)
    .join(',')
}

/** Whether an object is selected. A field that is not there counts as empty text, as on the server. */
export function matchesFields(selector: FieldSelector, object: object): boolean {
  const terms =
    typeof selector === 'string'
      ? parseFieldSelector(selector)
      : Object.entries(selector).map(([path, value]) => ({ path, value, not: false }))
  return terms.every(({ path, value, not }) => (fieldText(object, path) === value) !== not)
}

type Labels = Readonly<Record<string, string>>

interface Requirement {
  readonly key: string
  readonly operator: LabelRequirement['operator'] | 'Gt' | 'Lt'
  readonly values: readonly string[]
}

function holds({ key, operator, values }: Requirement, labels: Labels | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return isInteger(value) && BigInt(value) > BigInt(values[0] ?? '0')
    case 'Lt':
      return isInteger(value) && BigInt(value) < BigInt(values[0] ?? '0')
  }
}

function requirementsOf(selector: Exclude<Selector, string>): Requirement[] {
  if (!isLabelSelector(selector)) {
    return Object.entries(selector).map(([key, value]) => ({ key, operator: 'In', values: [value] }))
  }
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]): Requirement => ({ key, operator: 'In', values: [value] }))
  return [...equal, ...(selector.matchExpressions ?? []).map(checked)]
}

/** A label's value is a text, so anything else under these two keys makes it a `metav1.LabelSelector`. */
function isLabelSelector(selector: Exclude<Selector, string>): selector is LabelSelector {
  return ['matchLabels', 'matchExpressions'].some((key) => key in selector && typeof (selector as Labels)[key] !== 'string')
}

function checked({ key, operator, values = [] }: LabelRequirement): Requirement {
  const takesValues = operator === 'In' || operator === 'NotIn'
  if (!takesValues && operator !== 'Exists' && operator !== 'DoesNotExist') {
    throw new TypeError(`label selector: "${key}" has the operator "${operator}"; it must be In, NotIn, Exists or DoesNotExist`)
  }
  if (takesValues && values.length === 0) throw new TypeError(`label selector: "${key}" with ${operator} needs values`)
  if (!takesValues && values.length > 0) throw new TypeError(`label selector: "${key}" with ${operator} takes no values`)
  return { key, operator, values }
}

function requirementText({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'In':
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`
    case 'NotIn':
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(',')})`
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
    case 'Gt':
      return `${key}>${values[0]}`
    case 'Lt':
      return `${key}<${values[0]}`
  }
}

/** One term up to the next comma outside parentheses: `a`, `!a`, `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a>1`, `a<1`. */
const TERM =
  /^\s*(?:(?<not>!)\s*(?<absent>[^\s=!,()<>]+)|(?<key>[^\s=!,()<>]+)(?:\s*(?<sign>==|=|!=|>|<)\s*(?<value>[^\s=!,()<>]*)|\s+(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*(?:,|$)/

function parseLabelSelector(text: string): Requirement[] {
  const requirements: Requirement[] = []
  let rest = text
  while (rest.trim() !== '') {
    const match = TERM.exec(rest)
    if (match?.groups === undefined) throw new TypeError(`label selector "${text}": cannot read "${rest.trim()}"`)
    if (match[0] === rest && rest.trimEnd().endsWith(',')) throw new TypeError(`label selector "${text}": nothing follows the last comma`)
    requirements.push(requirementOf(match.groups, text))
    rest = rest.slice(match[0].length)
  }
  return requirements
}

function requirementOf(groups: Record<string, string | undefined>, text: string): Requirement {
  const { absent, key = '', sign, value = '', set, values = '' } = groups
  if (absent !== undefined) return { key: absent, operator: 'DoesNotExist', values: [] }
  if (set !== undefined) return { key, operator: set === 'in' ? 'In' : 'NotIn', values: values.split(',').map((each) => each.trim()) }
  if (sign === undefined) return { key, operator: 'Exists', values: [] }
  if (sign === '>' || sign === '<') {
    if (!isInteger(value)) throw new TypeError(`label selector "${text}": "${value}" must be a whole number`)
    return { key, operator: sign === '>' ? 'Gt' : 'Lt', values: [value] }
  }
  return { key, operator: sign === '!=' ? 'NotIn' : 'In', values: [value] }
}

function parseFieldSelector(text: string): { path: string; value: string; not: boolean }[] {
  if (text.trim() === '') return []
  return splitUnescaped(text).map((term) => {
    const match = /^\s*(?<path>[^=!\\]+?)\s*(?<sign>==|=|!=)(?<value>(?:[^\\=]|\\[\\,=])*)$/.exec(term)
    if (match?.groups === undefined) throw new TypeError(`field selector "${text}": cannot read "${term.trim()}"`)
    const { path = '', sign, value = '' } = match.groups
    return { path, value: value.replace(/\\([\\,=])/g, '$1'), not: sign === '!=' }
  })
}

function splitUnescaped(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function fieldText(object: object, path: string): string {
  let value: unknown = object
  for (const part of path.replace(/^\./, '').split('.')) {
    if (typeof value !== 'object' || value === null) return ''
    value = (value as Record<string, unknown>)[part]
  }
  return value === undefined || value === null ? '' : String(value)
}

function isInteger(value: string | undefined): value is string {
  return value !== undefined && /^-?\d+$/.test(value)
}
