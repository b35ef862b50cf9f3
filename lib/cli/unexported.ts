/**
 * Handler classes that nobody exports. The module does not show them, so they are looked for in its text: classes at the beginning of a
 * line with `@onReconcile` inside, whose name is in no export.
 */

import { readFileSync } from 'node:fs'

/** Their names, without those in `known`: classes that were found in another way. */
export function unexported(file: string, known: ReadonlySet<string>): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^(?:abstract )?class (\w+)(.*?)^}/gms)].flatMap(([, name = '', body = '']) => {
    const isHandler = /^\s+@onReconcile\(/m.test(body)
    const isExported = new RegExp(`^export\\b(?:[^\\n]*|\\s*\\{[^}]*)\\b${name}\\b`, 'm').test(text)
    return isHandler && !isExported && !known.has(name) ? [name] : []
  })
}
