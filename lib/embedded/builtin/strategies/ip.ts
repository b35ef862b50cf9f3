/** Addresses and networks as `k8s.io/apimachinery/pkg/util/validation` takes them. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { type FieldError, invalid } from '../../field-error.ts'

const ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const NETWORK = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

export function addressErrors(value: string, field: string): FieldError[] {
  if (isIP(value) === 0 || value.includes('%')) {
    const sloppy = value.replace(/(^|\.)0+(?=\d)/g, '$1')
    return [invalid(field, value, isIPv4(sloppy) ? 'must not have leading 0s' : ADDRESS)]
  }
  return MAPPED.test(value) ? [invalid(field, value, 'must not be an IPv4-mapped IPv6 address')] : []
}

/** Of endpoints: addresses that no pod can have. */
export function endpointAddressErrors(value: string, field: string): FieldError[] {
  const errors = addressErrors(value, field)
  if (errors.length > 0) return errors
  const error = (text: string) => errors.push(invalid(field, value, text))
  if (value === '0.0.0.0' || value === '::') error(`may not be unspecified (${value})`)
  if (value.startsWith('127.') || value === '::1') error('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  if (value.startsWith('169.254.') || /^fe80:/i.test(value)) error('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  if (value.startsWith('224.0.0.') || /^ff02:/i.test(value)) error('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  return errors
}

export function networkErrors(value: string, field: string): FieldError[] {
  const [address = '', length = '', more] = value.split('/')
  const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1
  if (more != null || bits < 0 || !/^\d+$/.test(length) || Number(length) > bits) return [invalid(field, value, NETWORK)]
  if (/^0\d/.test(length)) return [invalid(field, value, 'must not have leading 0s in IP or prefix length')]
  if (bits === 32 && hostBits(address, Number(length))) return [invalid(field, value, 'must not have bits set beyond the prefix length')]
  return []
}

function hostBits(address: string, length: number): boolean {
  return length < 32 && numberOf(address) % 2 ** (32 - length) !== 0
}

/** Whether a network is a smaller part of another. Of IPv6 only the lengths are looked at. */
export function isInside(inner: string, outer: string): boolean {
  const [address = '', length = ''] = inner.split('/')
  const [around = '', shorter = ''] = outer.split('/')
  if (Number(length) <= Number(shorter) || address.includes(':') !== around.includes(':')) return false
  if (address.includes(':')) return true
  const size = 2 ** (32 - Number(shorter))
  return Math.floor(numberOf(address) / size) === Math.floor(numberOf(around) / size)
}

const numberOf = (address: string) => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
