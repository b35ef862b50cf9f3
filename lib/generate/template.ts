/**
 * Objects as templates of Helm. A value that the chart decides is put into the object as a mark, and becomes template text when the object
 * has become YAML: so objects are built in one place, whatever they are written for.
 */

import { toYaml } from './yaml.ts'

export class Template {
  readonly #marks = new Map<string, Mark>()

  /** A value, or a part of a text. */
  value(expression: string): string {
    return this.#mark({ kind: 'value', expression })
  }

  /** An item of a list, or with `true` as its value a member of an object, that becomes these lines; `N` in them is the number for `nindent`. */
  lines(...lines: readonly string[]): string {
    return this.#mark({ kind: 'lines', lines })
  }

  /** A value that is a whole object or list. */
  block(expression: string): string {
    return this.#mark({ kind: 'block', expression })
  }

  /** Everything between braces that is in the objects themselves stays as it is. */
  render(...objects: readonly object[]): string {
    const text = toYaml(...objects).replaceAll('{{', '{{ "{{" }}')
    return text
      .split('\n')
      .flatMap((line) => this.#line(line))
      .join('\n')
  }

  #mark(mark: Mark): string {
    // Plain in YAML, and nothing that anybody writes.
    const name = `TEMPLATE-MARK-${this.#marks.size}-END`
    this.#marks.set(name, mark)
    return name
  }

  #line(line: string): string[] {
    const found = [...line.matchAll(/TEMPLATE-MARK-\d+-END/g)].map(([name]) => name)
    const [first] = found
    if (first === undefined) return [line]
    const mark = this.#marks.get(first) as Mark
    const indent = line.length - line.trimStart().length
    if (mark.kind === 'lines')
      return mark.lines.map((each) => `${each.startsWith('{{-') ? '' : ' '.repeat(indent)}${each.replaceAll('N ', `${indent} `)}`)
    if (mark.kind === 'block') {
      // Below a dash the members stand two further in.
      const deeper = /^\s*- /.test(line) ? 4 : 2
      return [line.replace(` ${first}`, ` {{- toYaml ${mark.expression} | nindent ${indent + deeper} }}`)]
    }
    return [line.replaceAll(/TEMPLATE-MARK-\d+-END/g, (name) => `{{ ${(this.#marks.get(name) as { expression: string }).expression} }}`)]
  }
}

type Mark =
  | { readonly kind: 'value' | 'block'; readonly expression: string }
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
