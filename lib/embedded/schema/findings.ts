/**
 * What validation found, as kube-openapi collects it: messages are not said twice, and successful checks are counted, because
 * the alternative of an `anyOf` that came farthest tells what is wrong.
 */
import { type FieldError, invalid, notSupported, quote, required, tooLong, tooMany, typeInvalid } from '../field-error.ts'

export interface Finding {
  /** Relative to where validation began, with a leading dot at the root; undefined: of no field. */
  readonly path: string | undefined
  /** Go's text of the error: two with one text are one. */
  readonly text: string
  readonly toError: (field: string) => FieldError
}

export class Findings {
  readonly list: Finding[] = []
  matches = 0

  add(finding: Finding): void {
    if (!this.list.some((each) => each.text === finding.text)) this.list.push(finding)
  }

  merge(other: Findings): void {
    for (const finding of other.list) this.add(finding)
    this.matches += other.matches
  }
}

/** How Go shows a field path of nothing. */
export const NO_FIELD = '<nil>'

/** `prefix`: where the validated value is in the object. */
export function toFieldErrors(findings: Findings, prefix: string): FieldError[] {
  return findings.list.map(({ path, toError }) => {
    const name = path === undefined || path === '.' ? '' : path.replace(/^\./, '')
    return toError(prefix === '' ? name || NO_FIELD : name === '' ? prefix : `${prefix}.${name}`)
  })
}

const finding = (path: string, text: string, toError: Finding['toError']): Finding => ({ path, text, toError })

/** `actual`: the JSON type that was found, or the text that is not of the format. */
export function wrongType(path: string, expected: string, actual: string): Finding {
  const text = `${path} in body must be of type ${expected}: ${quote(actual)}`
  return finding(path, text, (field) => typeInvalid(field, actual, text))
}

export function missing(path: string): Finding {
  return finding(path, `${path} in body is required`, (field) => required(field))
}

export function unsupported(path: string, value: unknown, values: readonly string[]): Finding {
  return finding(path, `${path} in body should be one of ${values.join(' ')}`, (field) => notSupported(field, value, values))
}

export function tooLongText(path: string, limit: number): Finding {
  return finding(path, `${path} in body should be at most ${limit} chars long`, (field) => tooLong(field, limit))
}

export function tooManyOf(path: string, what: 'items' | 'properties', actual: number, limit: number): Finding {
  return finding(path, `${path} in body should have at most ${limit} ${what}`, (field) => tooMany(field, actual, limit))
}

/** `path in body RULE` */
export function broken(path: string, value: unknown, rule: string): Finding {
  return faulty(path, value, `${path} in body ${rule}`)
}

export function faulty(path: string, value: unknown, text: string): Finding {
  return finding(path, text, (field) => invalid(field, value, text))
}

/** A key that `additionalProperties: false` does not let in. */
export function forbiddenProperty(path: string, key: string): Finding {
  const text = `${path}.${key} in body is a forbidden property`
  return finding(path, text, (field) => invalid(field, key, text))
}

/** Of no field: the error of a composition, or of a limit that does not fit its type. */
export function general(text: string): Finding {
  return { path: undefined, text, toError: (field) => invalid(field, '', text) }
}
