/** Names that stand for types: `type(x) == string`. */
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  opaque,
  optionalOf,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
} from './types.ts'

export const IP = opaque('net.IP')
export const CIDR = opaque('net.CIDR')

export const TYPE_NAMES: ReadonlyMap<string, { readonly type: CelType; readonly value: string }> = new Map(
  [
    ...[BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, UINT, IP, CIDR].map((type) => [type.name, type] as const),
    ['list', listOf(DYN)] as const,
    ['map', mapOf(DYN, DYN)] as const,
    ['type', { kind: 'type', name: 'type', params: [] } satisfies CelType] as const,
    ['optional_type', optionalOf(DYN)] as const,
  ].map(([name, type]) => [name, { type: typeOf(type), value: name }]),
)
