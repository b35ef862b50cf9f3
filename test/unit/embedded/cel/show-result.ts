import { showDuration, showTimestamp } from '../../../../lib/embedded/cel/time.ts'
import {
  Duration,
  ListValue,
  MapValue,
  Opaque,
  OptionalValue,
  showDouble,
  showValue,
  Timestamp,
  TypeValue,
  typeName,
  type Value,
} from '../../../../lib/embedded/cel/values.ts'

/** A value as the recordings have it: its type and its text. Of a map only how large it is, since Go's have no order. */
export function showResult(value: Value): string {
  if (value instanceof OptionalValue) return value.value === undefined ? 'optional.none()' : `optional.of(${showResult(value.value)})`
  // Recorded by Go's encoder of JSON, which escapes these.
  if (typeof value === 'string') return `string:${JSON.stringify(value).replace(/[<>&]/g, unicodeEscape)}`
  if (value instanceof TypeValue) return `string:${JSON.stringify(value.name)}`
  if (value instanceof Uint8Array) return `bytes:${Buffer.from(value).toString('hex')}`
  return `${typeName(value)}:${content(value)}`
}

const unicodeEscape = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`

function content(value: Value): string {
  if (value instanceof ListValue) return `[${[...value].map(showResult).join(', ')}]`
  if (value instanceof MapValue) return `size ${value.size}`
  if (typeof value === 'number') return showDouble(value, 6)
  if (value instanceof Duration) return showDuration(value.ns)
  if (value instanceof Timestamp) return showTimestamp(value.ns, value.offsetMinutes)
  return value instanceof Opaque ? (value.asText() ?? '') : showValue(value)
}
