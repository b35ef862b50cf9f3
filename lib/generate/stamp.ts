/**
 * The two lines at the top of each generated file. The first says how to make it again; the second has a hash of the rest, so that an
 * edit by hand shows and is never overwritten without a word.
 */

import { createHash } from 'node:crypto'

export interface Stamp {
  /** What made the file, such as `tsop generate crds handlers`. */
  readonly command: string
  /** Whether the content is as it was made. */
  readonly intact: boolean
}

/** The file's whole text. Line ends do not count, for git may change them. */
export function stamped(path: string, content: string, command: string): string {
  const lines = [`Made by \`${command}\`; change what it is made from and run it again.`, `tsop sha256:${hashOf(content)}`]
  if (path.endsWith('.json')) {
    const object = JSON.parse(content) as object
    return `${JSON.stringify({ $comment: lines.join(' '), ...object }, undefined, 2)}\n`
  }
  const [open, close] = commentOf(path)
  return `${lines.map((line) => `${open}${line}${close}\n`).join('')}${content}`
}

/** Undefined: no command of tsop made the text. */
export function stampOf(path: string, text: string): Stamp | undefined {
  if (path.endsWith('.json')) return jsonStamp(text)
  const [first = '', second = '', ...rest] = text.replaceAll('\r\n', '\n').split('\n')
  const command = COMMAND.exec(first)?.[1]
  if (command === undefined) return undefined
  return { command, intact: HASH.exec(second)?.[1] === hashOf(rest.join('\n')) }
}

const COMMAND = /Made by `(tsop [^`]+)`;/
const HASH = /tsop sha256:([0-9a-f]{16})/

function jsonStamp(text: string): Stamp | undefined {
  try {
    const { $comment = '', ...object } = JSON.parse(text) as { $comment?: string }
    const command = COMMAND.exec($comment)?.[1]
    if (command === undefined) return undefined
    return { command, intact: HASH.exec($comment)?.[1] === hashOf(`${JSON.stringify(object, undefined, 2)}\n`) }
  } catch {
    return undefined
  }
}

function hashOf(content: string): string {
  return createHash('sha256').update(content.replaceAll('\r\n', '\n')).digest('hex').slice(0, 16)
}

/** How a line of its own is commented out in a file of this name. */
function commentOf(path: string): readonly [string, string] {
  if (/\.[cm]?[jt]s$/.test(path)) return ['// ', '']
  if (/\.(md|html)$/.test(path)) return ['<!-- ', ' -->']
  // Of a Helm chart: what is no YAML would be printed.
  if (/\.(tpl|txt)$/.test(path)) return ['{{- /* ', ' */ -}}']
  return ['# ', '']
}
