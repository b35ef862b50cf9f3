/** Semantic versions, as `blang/semver` reads them. */
import { type Library, member, overload } from '../environment.ts'
import { BOOL, INT, STRING, struct } from '../types.ts'
import { CelError, compareText, noSuchOverload, Opaque, type Value } from '../values.ts'

const TYPE = struct('kubernetes.Semver')
const NUMBER = /^\d+$/
const WORD = /^[0-9A-Za-z-]+$/
const UINT_MAX = 18446744073709551615n

class Semver extends Opaque {
  readonly typeName = TYPE.name
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly prerelease: readonly string[]

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    super()
    this.numbers = numbers
    this.prerelease = prerelease
  }

  /** What was built does not count. */
  compare(other: Semver): -1 | 0 | 1 {
    for (let i = 0; i < 3; i++) {
      const [mine, theirs] = [this.numbers[i] as bigint, other.numbers[i] as bigint]
      if (mine !== theirs) return mine > theirs ? 1 : -1
    }
    return comparePrereleases(this.prerelease, other.prerelease)
  }

  equals(other: Value): Value {
    return other instanceof Semver ? this.compare(other) === 0 : noSuchOverload()
  }
}

function comparePrereleases(a: readonly string[], b: readonly string[]): -1 | 0 | 1 {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0 : a.length === 0 ? 1 : -1
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareParts(a[i] as string, b[i] as string)
    if (order !== 0) return order
  }
  return a.length === b.length ? 0 : a.length > b.length ? 1 : -1
}

function compareParts(a: string, b: string): -1 | 0 | 1 {
  const [aNumber, bNumber] = [NUMBER.test(a), NUMBER.test(b)]
  if (aNumber !== bNumber) return aNumber ? -1 : 1
  if (!aNumber) return compareText(a, b)
  return BigInt(a) === BigInt(b) ? 0 : BigInt(a) > BigInt(b) ? 1 : -1
}

class Invalid extends Error {}

const quote = (text: string) => JSON.stringify(text)

function numberOf(text: string, name: string): bigint {
  if (text === '') throw new Invalid('strconv.ParseUint: parsing "": invalid syntax')
  if (!NUMBER.test(text)) throw new Invalid(`Invalid character(s) found in ${name.toLowerCase()} number ${quote(text)}`)
  if (text.length > 1 && text.startsWith('0')) throw new Invalid(`${name} number must not contain leading zeroes ${quote(text)}`)
  if (BigInt(text) > UINT_MAX) throw new Invalid(`strconv.ParseUint: parsing ${quote(text)}: value out of range`)
  return BigInt(text)
}

function prereleaseOf(text: string): string {
  if (text === '') throw new Invalid('Prerelease is empty')
  if (NUMBER.test(text)) {
    if (text.length > 1 && text.startsWith('0')) {
      throw new Invalid(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`)
    }
    return text
  }
  if (!WORD.test(text)) throw new Invalid(`Invalid character(s) found in prerelease ${quote(text)}`)
  return text
}

function read(text: string): Semver {
  if (text === '') throw new Invalid('Version string empty')
  const parts = splitThree(text)
  if (parts.length !== 3) throw new Invalid('No Major.Minor.Patch elements found')
  const [majorText, minorText, rest] = parts as [string, string, string]
  const major = numberOf(majorText, 'Major')
  const minor = numberOf(minorText, 'Minor')
  const [beforeBuild, build] = cut(rest, '+')
  const [patchText, prerelease] = cut(beforeBuild, '-')
  const patch = numberOf(patchText, 'Patch')
  const marks = prerelease === undefined ? [] : prerelease.split('.').map(prereleaseOf)
  for (const each of build?.split('.') ?? []) {
    if (each === '') throw new Invalid('Build meta data is empty')
    if (!WORD.test(each)) throw new Invalid(`Invalid character(s) found in build meta data ${quote(each)}`)
  }
  return new Semver([major, minor, patch], marks)
}

function splitThree(text: string): string[] {
  const [first = '', second, ...rest] = text.split('.')
  return [first, ...(second === undefined ? [] : [second]), ...(rest.length === 0 ? [] : [rest.join('.')])]
}

function cut(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** `v1.02` is `1.2.0`. */
function normalize(text: string): string {
  const parts = splitThree(text.replace(/^v/, '')).map((part) => {
    if (part.length <= 1) return part
    const stripped = part.replace(/^0+/, '')
    return /^\d/.test(stripped) ? stripped : `0${stripped}`
  })
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) as string)) {
    throw new Invalid('short version cannot contain PreRelease/Build meta data')
  }
  while (parts.length < 3) parts.push('0')
  return parts.join('.')
}

function parse(text: string, lenient = false): Semver | CelError {
  try {
    return read(lenient ? normalize(text) : text)
  } catch (error) {
    if (error instanceof Invalid) return new CelError(error.message)
    throw error
  }
}

const isSemver = (text: string, lenient?: boolean): Value => parse(text, lenient) instanceof Semver
const part = (index: 0 | 1 | 2) => (version: Semver) => version.numbers[index]

export const semver: Library = {
  semver: [overload('string_to_semver', [STRING], TYPE, parse), overload('string_bool_to_semver', [STRING, BOOL], TYPE, parse)],
  isSemver: [overload('is_semver_string', [STRING], BOOL, isSemver), overload('is_semver_string_bool', [STRING, BOOL], BOOL, isSemver)],
  isGreaterThan: [member('semver_is_greater_than', [TYPE, TYPE], BOOL, (a: Semver, b: Semver) => a.compare(b) === 1)],
  isLessThan: [member('semver_is_less_than', [TYPE, TYPE], BOOL, (a: Semver, b: Semver) => a.compare(b) === -1)],
  compareTo: [member('semver_compare_to', [TYPE, TYPE], INT, (a: Semver, b: Semver) => BigInt(a.compare(b)))],
  major: [member('semver_major', [TYPE], INT, part(0))],
  minor: [member('semver_minor', [TYPE], INT, part(1))],
  patch: [member('semver_patch', [TYPE], INT, part(2))],
}
