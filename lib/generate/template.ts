/**
 * Objects as templates of Helm. A value that the chart decides is put into the object as a mark, and becomes template text when the object
 * has become YAML: so objects are built in one place, whatever they are written for.
 */

import { toYaml } from './yaml.ts'

export class Template {
  readonly #marks = new Map<string, Mark>()

  /** A text, or a part of one. Quoted: a namespace may be called `2026`. */
  value(expression: string): string {
    return this.#mark({ kind: 'value', expression })
  }

  /** A value that is a number. */
  number(expression: string): string {
    return this.#mark({ kind: 'number', expression })
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
    // Nothing that anybody writes. What begins with a digit is quoted in YAML, and with it every text that begins with such a mark.
    const name = `${mark.kind === 'value' ? '0-' : ''}TEMPLATE-MARK-${this.#marks.size}-END`
    this.#marks.set(name, mark)
    return name
  }

  #line(line: string): string[] {
    const [first] = line.match(MARK) ?? []
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
    const expressionOf = (name: string) => (this.#marks.get(name) as { expression: string }).expression
    return [
      line.replace(ALONE, (_, name) => `{{ ${expressionOf(name)} | quote }}`).replaceAll(MARK, (name) => `{{ ${expressionOf(name)} }}`),
    ]
  }
}

const MARK = /(?:0-)?TEMPLATE-MARK-\d+-END/g
/** A text of which nothing is known beforehand, and so not whether single quotes hold it. */
const ALONE = /(?<= )'(0-TEMPLATE-MARK-\d+-END)'$/

type Mark =
  | { readonly kind: 'value' | 'number' | 'block'; readonly expression: string }
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
