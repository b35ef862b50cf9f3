/** `ext.Strings` version 2 of cel-go: positions are counted in code points. */
import { type Library, member, overload } from '../environment.ts'
import { DYN, INT, listOf, STRING } from '../types.ts'
import { CelError, type ListValue, PlainList, points, showValue, textLength, type Value } from '../values.ts'
import { format } from './format-text.ts'

const outOfRange = (index: bigint) => new CelError(`index out of range: ${index}`)

function charAt(text: string, index: bigint): Value {
  const all = points(text)
  if (index < 0n || index > all.length) return outOfRange(index)
  return all[Number(index)] ?? ''
}

function join(all: readonly string[] | string, start: number, end?: number): string {
  return typeof all === 'string' ? all.slice(start, end) : all.slice(start, end).join('')
}

function substring(text: string, start: bigint, end?: bigint): Value {
  const all = points(text)
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0n || start > all.length) return outOfRange(start)
  if (end !== undefined && (end < 0n || end > all.length)) return outOfRange(end)
  return join(all, Number(start), end === undefined ? undefined : Number(end))
}

function indexOf(text: string, part: string, offset = 0n): Value {
  if (part === '') return offset
  if (offset < 0n) return outOfRange(offset)
  const all = points(text)
  if (offset >= all.length) return -1n
  const start = typeof all === 'string' ? Number(offset) : join(all, 0, Number(offset)).length
  const found = text.indexOf(part, start)
  return found < 0 ? -1n : BigInt(typeof all === 'string' ? found : textLength(text.slice(0, found)))
}

function lastIndexOf(text: string, part: string, offset?: bigint): Value {
  const all = points(text)
  if (part === '') return offset ?? BigInt(all.length)
  if (offset === undefined) return all.length === 0 ? -1n : lastIndexOf(text, part, BigInt(all.length - 1))
  if (offset < 0n) return outOfRange(offset)
  if (offset >= all.length) return -1n
  const start = typeof all === 'string' ? Number(offset) : join(all, 0, Number(offset)).length
  const found = text.lastIndexOf(part, start)
  return found < 0 ? -1n : BigInt(typeof all === 'string' ? found : textLength(text.slice(0, found)))
}

/** `strings.Replace`: at most `limit` times where it is not negative. An empty part is found around every code point. */
function replace(text: string, part: string, by: string, limit = -1n): string {
  if (limit < 0n && part !== '') return text.replaceAll(part, () => by)
  const pieces = part === '' ? ['', ...points(text), ''] : text.split(part)
  const count = limit < 0n ? pieces.length - 1 : Math.min(Number(limit), pieces.length - 1)
  let result = pieces[0] as string
  for (let i = 1; i < pieces.length; i++) result += (i <= count ? by : part) + pieces[i]
  return result
}

/** `strings.SplitN`: all where `limit` is negative, none where it is 0; the last has what remains. */
function split(text: string, separator: string, limit = -1n): Value {
  const pieces = separator === '' ? [...points(text)] : text.split(separator)
  const most = Number(limit)
  if (most < 0 || pieces.length <= most) return new PlainList(pieces)
  if (most === 0) return new PlainList([])
  return new PlainList([...pieces.slice(0, most - 1), pieces.slice(most - 1).join(separator)])
}

function joinList(list: ListValue, separator = ''): Value {
  const parts: string[] = []
  for (const each of list) {
    if (typeof each !== 'string') return new CelError(`join: invalid input: ${showValue(each)}`)
    parts.push(each)
  }
  return parts.join(separator)
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
const ESCAPED = /[\x07\b\f\n\r\t\v\\"]/g

/** What Go's `unicode.IsSpace` takes for space; JavaScript's `trim` also takes U+FEFF, and not U+0085. */
const SPACE = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g')
export const trim = (text: string): string => text.replace(OUTER_SPACE, '')

export const text: Library = {
  charAt: [member('string_char_at_int', [STRING, INT], STRING, charAt)],
  indexOf: [
    member('string_index_of_string', [STRING, STRING], INT, indexOf),
    member('string_index_of_string_int', [STRING, STRING, INT], INT, indexOf),
  ],
  lastIndexOf: [
    member('string_last_index_of_string', [STRING, STRING], INT, lastIndexOf),
    member('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexOf),
  ],
  lowerAscii: [member('string_lower_ascii', [STRING], STRING, (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase()))],
  upperAscii: [member('string_upper_ascii', [STRING], STRING, (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase()))],
  replace: [
    member('string_replace_string_string', [STRING, STRING, STRING], STRING, replace),
    member('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace),
  ],
  split: [
    member('string_split_string', [STRING, STRING], listOf(STRING), split),
    member('string_split_string_int', [STRING, STRING, INT], listOf(STRING), split),
  ],
  substring: [
    member('string_substring_int', [STRING, INT], STRING, substring),
    member('string_substring_int_int', [STRING, INT, INT], STRING, substring),
  ],
  trim: [member('string_trim', [STRING], STRING, trim)],
  format: [member('string_format', [STRING, listOf(DYN)], STRING, format)],
  'strings.quote': [
    overload('strings_quote', [STRING], STRING, (text: string) => `"${text.replace(ESCAPED, (each) => ESCAPES[each] as string)}"`),
  ],
  join: [member('list_join', [listOf(STRING)], STRING, joinList), member('list_join_string', [listOf(STRING), STRING], STRING, joinList)],
}
