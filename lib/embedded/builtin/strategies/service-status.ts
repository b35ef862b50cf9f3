/** What controllers of load balancers may say of a service (`ValidateLoadBalancerStatus`). */
import { isIP } from 'node:net'
import { type FieldError, forbidden, invalid, notSupported } from '../../field-error.ts'
import { dnsSubdomain } from '../../names.ts'
import type { ApiObject } from '../../types.ts'
import { count, type Errors, entries } from './common.ts'
import { addressErrors } from './ip.ts'

export function validateServiceStatus({ spec, status }: ApiObject): FieldError[] {
  const errors: Errors = []
  const all = status?.loadBalancer?.ingress
  const field = 'status.loadBalancer.ingress'
  if (spec?.type !== 'LoadBalancer') {
    if (count(all) > 0) errors.push(forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'"))
    return errors
  }
  for (const [i, { ip, ipMode, hostname }] of entries(all)) {
    const at = `${field}[${i}]`
    if (ip) errors.push(...addressErrors(ip, `${at}.ip`))
    if (ip && ipMode == null)
      errors.push({ type: 'Required', field: `${at}.ipMode`, message: 'Required value: must be specified when `ip` is set' })
    else if (ipMode != null && !ip) errors.push(forbidden(`${at}.ipMode`, 'may not be specified when `ip` is not set'))
    else if (ipMode != null && ipMode !== 'VIP' && ipMode !== 'Proxy') errors.push(notSupported(`${at}.ipMode`, ipMode, ['Proxy', 'VIP']))
    if (!hostname) continue
    for (const problem of dnsSubdomain(hostname)) errors.push(invalid(`${at}.hostname`, hostname, problem))
    if (isIP(hostname) !== 0) errors.push(invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address'))
  }
  return errors
}
