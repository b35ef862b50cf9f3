/** As much of DER (X.690) as a certificate needs. */

export type Der = Buffer

export const sequence = (...parts: readonly Der[]) => element(0x30, ...parts)
export const set = (...parts: readonly Der[]) => element(0x31, ...parts)
export const boolean = (value: boolean) => element(0x01, Buffer.of(value ? 0xff : 0))
export const octets = (content: Buffer) => element(0x04, content)
export const utf8 = (text: string) => element(0x0c, Buffer.from(text))
/** `unused`: how many bits at the end do not count. */
export const bits = (content: Buffer, unused = 0) => element(0x03, Buffer.of(unused), content)
/** Positive, from its bytes. */
export const integer = (bytes: Buffer) => element(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes)
/** `[number]` around parts. */
export const explicit = (number: number, ...parts: readonly Der[]) => element(0xa0 + number, ...parts)
/** `[number]` in place of the type of a plain value. */
export const implicit = (number: number, content: Buffer) => element(0x80 + number, content)

/** Whole seconds; `GeneralizedTime` from 2050 on, as RFC 5280 wants it. */
export function time(ms: number): Der {
  const text = `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  return Number(text.slice(0, 4)) < 2050 ? element(0x17, Buffer.from(text.slice(2))) : element(0x18, Buffer.from(text))
}

export function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80)
  return digits
}

function element(tag: number, ...parts: readonly Buffer[]): Der {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), length(content.length), content])
}

function length(value: number): Buffer {
  if (value < 0x80) return Buffer.of(value)
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return Buffer.of(0x80 | bytes.length, ...bytes)
}
