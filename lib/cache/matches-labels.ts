import type { Selector } from '../resource/selector.ts'

/** Stands in for lib/api/selectors.ts until that is there: equality only. */
export function matchesLabels(selector: Selector, labels: Readonly<Record<string, string>>): boolean {
  if (typeof selector === 'string')
    return selector.split(',').every((part) => labels[part.split('=')[0] as string] === part.split('=').at(-1))
  const wanted = ('matchLabels' in selector ? selector.matchLabels : selector) as Record<string, string>
  return Object.entries(wanted).every(([name, value]) => labels[name] === value)
}
