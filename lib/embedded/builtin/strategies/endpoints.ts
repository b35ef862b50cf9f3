/** Endpoints and EndpointSlice. */
import { duplicate, type FieldError, invalid, required, tooMany } from '../../field-error.ts'
import { dnsLabel, dnsSubdomain, labelValue, portNumber, qualifiedName } from '../../names.ts'
import type { Strategy } from '../../types.ts'
import { count, type Errors, entries, immutable, labels, type Part, requiredOneOf, sameSemantically, setDefault, syntax } from './common.ts'
import { addressErrors, endpointAddressErrors } from './ip.ts'

const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

export const endpoints: Strategy = {
  allowCreateOnUpdate: true,
  defaults({ subsets }) {
    for (const [, subset] of entries(subsets)) for (const [, port] of entries(subset.ports)) setDefault(port, 'protocol', 'TCP')
  },
  validate: ({ subsets }) => validateSubsets(subsets),
  validateUpdate: ({ subsets }, old) => (sameSemantically(subsets, old.subsets) ? [] : validateSubsets(subsets)),
}

function validateSubsets(subsets: Part[] | undefined): FieldError[] {
  const errors: Errors = []
  for (const [i, subset] of entries(subsets)) {
    const at = `subsets[${i}]`
    if (count(subset.addresses) === 0 && count(subset.notReadyAddresses) === 0) {
      errors.push(required(at, 'must specify `addresses` or `notReadyAddresses`'))
    }
    for (const list of ['addresses', 'notReadyAddresses']) {
      for (const [j, address] of entries(subset[list])) {
        const here = `${at}.${list}[${j}]`
        const ip = address.ip ?? ''
        errors.push(...endpointAddressErrors(ip, `${here}.ip`))
        if (addressErrors(ip, '').length > 0) errors.push(invalid(`${here}.ip`, ip, 'must be a valid IP address'))
        if (address.hostname) syntax(errors, address.hostname, `${here}.hostname`, dnsLabel)
        if (address.nodeName != null) syntax(errors, address.nodeName, `${here}.nodeName`, dnsSubdomain)
      }
    }
    for (const [j, port] of entries(subset.ports)) {
      const here = `${at}.ports[${j}]`
      if (!port.name && subset.ports.length > 1) errors.push(required(`${here}.name`))
      else if (port.name) syntax(errors, port.name, `${here}.name`, dnsLabel)
      for (const problem of portNumber(port.port ?? 0)) errors.push(invalid(`${here}.port`, port.port ?? 0, problem))
      requiredOneOf(errors, port.protocol, `${here}.protocol`, PROTOCOLS)
      if (port.appProtocol != null) syntax(errors, port.appProtocol, `${here}.appProtocol`, qualifiedName)
    }
  }
  return errors
}

export const endpointSlice: Strategy = {
  generation: ({ metadata }, old) => !sameSemantically(metadata.labels, old.metadata.labels),
  defaults({ ports }) {
    for (const [, port] of entries(ports)) {
      port.name ??= ''
      setDefault(port, 'protocol', 'TCP')
    }
  },
  validate: validateSlice,
  validateUpdate(object, old) {
    const unchanged = sameSemantically(object.endpoints, old.endpoints)
    const errors = validateSlice(unchanged ? { ...object, endpoints: undefined } : object)
    immutable(errors, object.addressType, old.addressType, 'addressType')
    return errors
  },
}

function validateSlice({ addressType, ports, endpoints: list }: Part): FieldError[] {
  const errors: Errors = []
  requiredOneOf(errors, addressType, 'addressType', ['FQDN', 'IPv4', 'IPv6'])
  const names = new Set<string>()
  for (const [i, port] of entries(ports)) {
    const at = `ports[${i}]`
    if (port.name) syntax(errors, port.name, `${at}.name`, dnsLabel)
    if (names.has(port.name)) errors.push(duplicate(`${at}.name`, port.name))
    names.add(port.name)
    requiredOneOf(errors, port.protocol, `${at}.protocol`, PROTOCOLS)
    if (port.appProtocol != null) syntax(errors, port.appProtocol, `${at}.appProtocol`, qualifiedName)
  }
  if (count(list) > 1000) errors.push(tooMany('endpoints', count(list), 1000))
  for (const [i, endpoint] of entries(list)) validateEndpoint(errors, endpoint, addressType, `endpoints[${i}]`)
  return errors
}

function validateEndpoint(errors: Errors, endpoint: Part, addressType: string, at: string): void {
  const { addresses, nodeName, hostname, hints, deprecatedTopology } = endpoint
  if (count(addresses) === 0) errors.push(required(`${at}.addresses`, 'must contain at least 1 address'))
  if (count(addresses) > 100) errors.push(tooMany(`${at}.addresses`, count(addresses), 100))
  for (const [i, address] of entries(addresses)) {
    const here = `${at}.addresses[${i}]`
    const text = address as string
    if (addressType === 'FQDN') {
      syntax(errors, text, here, dnsSubdomain)
      continue
    }
    if (addressType !== 'IPv4' && addressType !== 'IPv6') continue
    const problems = addressErrors(text, here)
    errors.push(...problems)
    if (problems.length > 0) continue
    if (text.includes(':') !== (addressType === 'IPv6')) errors.push(invalid(`${at}.addresses`, text, `must be an ${addressType} address`))
    errors.push(...endpointAddressErrors(text, here))
  }
  if (nodeName != null) syntax(errors, nodeName, `${at}.nodeName`, dnsSubdomain)
  labels(errors, deprecatedTopology, `${at}.deprecatedTopology`)
  if (hostname != null) syntax(errors, hostname, `${at}.hostname`, dnsLabel)
  for (const [i, zone] of entries(hints?.forZones)) syntax(errors, zone.name ?? '', `${at}.hints.forZones[${i}].name`, labelValue)
}
