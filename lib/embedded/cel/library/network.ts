/** IP addresses and CIDR ranges. */
import {
  type Address,
  AddressError,
  isMapped,
  mask,
  type Prefix,
  parseAddress,
  parsePrefix,
  prefixContains,
  showAddress,
} from '../address.ts'
import { type Library, member, overload } from '../environment.ts'
import { CIDR, IP } from '../type-names.ts'
import { BOOL, INT, STRING } from '../types.ts'
import { CelError, noSuchOverload, Opaque, type Value } from '../values.ts'

class IpValue extends Opaque {
  readonly typeName = IP.name
  readonly address: Address

  constructor(address: Address) {
    super()
    this.address = address
  }

  equals(other: Value): Value {
    return other instanceof IpValue ? this.asText() === other.asText() : noSuchOverload()
  }

  override size(): number {
    return this.address.length
  }

  override asText(): string {
    return showAddress(this.address)
  }
}

class CidrValue extends Opaque {
  readonly typeName = CIDR.name
  readonly prefix: Prefix

  constructor(prefix: Prefix) {
    super()
    this.prefix = prefix
  }

  equals(other: Value): Value {
    return other instanceof CidrValue ? this.asText() === other.asText() : noSuchOverload()
  }

  override size(): number {
    return Math.ceil(this.prefix.bits / 8)
  }

  override asText(): string {
    return `${showAddress(this.prefix.address)}/${this.prefix.bits}`
  }
}

const mapped = (text: string) => `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`

function attempt<T>(parse: () => T, complaint: (message: string) => string): T | CelError {
  try {
    return parse()
  } catch (error) {
    if (error instanceof AddressError) return new CelError(complaint(error.message))
    throw error
  }
}

function ip(text: string): IpValue | CelError {
  const parsed = attempt(
    () => parseAddress(text),
    (message) => `IP Address ${JSON.stringify(text)} parse error during conversion from string: ${message}`,
  )
  if (parsed instanceof CelError) return parsed
  if (parsed.zone !== '') return new CelError(`IP address ${JSON.stringify(text)} with zone value is not allowed`)
  return isMapped(parsed.address) ? new CelError(mapped(text)) : new IpValue(parsed.address)
}

const CIDR_ERROR = 'network address parse error during conversion from string: '

function cidr(text: string): CidrValue | CelError {
  const parsed = attempt(
    () => parsePrefix(text),
    (message) => `${CIDR_ERROR}${CIDR_ERROR}${message}`,
  )
  if (parsed instanceof CelError) return parsed
  return isMapped(parsed.address) ? new CelError(`${CIDR_ERROR}${mapped(text)}`) : new CidrValue(parsed)
}

function isCanonical(text: string): Value {
  const parsed = ip(text)
  return parsed instanceof CelError ? parsed : parsed.asText() === text
}

const isV6 = (address: Address) => address.length === 16
const at = (address: Address, i: number) => address[i] as number
const isUnspecified = (address: Address) => address.every((byte) => byte === 0)
const isLoopback = (address: Address) =>
  isV6(address) ? address.slice(0, 15).every((byte) => byte === 0) && at(address, 15) === 1 : at(address, 0) === 127
const isMulticast = (address: Address) => (isV6(address) ? at(address, 0) === 0xff : (at(address, 0) & 0xf0) === 0xe0)
const isLinkLocalMulticast = (address: Address) =>
  isV6(address)
    ? at(address, 0) === 0xff && (at(address, 1) & 0x0f) === 2
    : at(address, 0) === 224 && at(address, 1) === 0 && at(address, 2) === 0
const isLinkLocalUnicast = (address: Address) =>
  isV6(address) ? at(address, 0) === 0xfe && (at(address, 1) & 0xc0) === 0x80 : at(address, 0) === 169 && at(address, 1) === 254
const isBroadcast = (address: Address) => !isV6(address) && address.every((byte) => byte === 255)

function isGlobalUnicast(address: Address): boolean {
  return ![isUnspecified, isBroadcast, isLoopback, isMulticast, isLinkLocalUnicast].some((is) => is(address))
}

const property = (id: string, is: (address: Address) => boolean) => member(id, [IP], BOOL, ({ address }: IpValue) => is(address))

const containsIp = ({ prefix }: CidrValue, { address }: IpValue): Value => prefixContains(prefix, address)

function containsCidr({ prefix }: CidrValue, { prefix: other }: CidrValue): Value {
  return prefix.bits <= other.bits && prefixContains(prefix, other.address)
}

/** The server does not say what is wrong with the address. */
function containsIpText(range: CidrValue, text: string): Value {
  const other = ip(text)
  return other instanceof CelError ? noSuchOverload() : containsIp(range, other)
}

function containsCidrText(range: CidrValue, text: string): Value {
  const other = cidr(text)
  return other instanceof CelError ? other : containsCidr(range, other)
}

export const network: Library = {
  ip: [overload('string_to_ip', [STRING], IP, ip), member('cidr_ip', [CIDR], IP, ({ prefix }: CidrValue) => new IpValue(prefix.address))],
  family: [member('ip_family', [IP], INT, ({ address }: IpValue) => (isV6(address) ? 6n : 4n))],
  'ip.isCanonical': [overload('ip_is_canonical', [STRING], BOOL, isCanonical)],
  isUnspecified: [property('ip_is_unspecified', isUnspecified)],
  isLoopback: [property('ip_is_loopback', isLoopback)],
  isLinkLocalMulticast: [property('ip_is_link_local_multicast', isLinkLocalMulticast)],
  isLinkLocalUnicast: [property('ip_is_link_local_unicast', isLinkLocalUnicast)],
  isGlobalUnicast: [property('ip_is_global_unicast', isGlobalUnicast)],
  isIP: [overload('is_ip', [STRING], BOOL, (text: string) => ip(text) instanceof IpValue)],
  cidr: [overload('string_to_cidr', [STRING], CIDR, cidr)],
  isCIDR: [overload('is_cidr', [STRING], BOOL, (text: string) => cidr(text) instanceof CidrValue)],
  containsIP: [
    member('cidr_contains_ip_string', [CIDR, STRING], BOOL, containsIpText),
    member('cidr_contains_ip_ip', [CIDR, IP], BOOL, containsIp),
  ],
  containsCIDR: [
    member('cidr_contains_cidr_string', [CIDR, STRING], BOOL, containsCidrText),
    member('cidr_contains_cidr', [CIDR, CIDR], BOOL, containsCidr),
  ],
  prefixLength: [member('cidr_prefix_length', [CIDR], INT, ({ prefix }: CidrValue) => BigInt(prefix.bits))],
  masked: [member('cidr_masked', [CIDR], CIDR, ({ prefix }: CidrValue) => new CidrValue({ address: mask(prefix), bits: prefix.bits }))],
  string: [
    overload('ip_to_string', [IP], STRING, (value: IpValue) => value.asText()),
    overload('cidr_to_string', [CIDR], STRING, (value: CidrValue) => value.asText()),
  ],
}
