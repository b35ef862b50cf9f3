/** How a definition says its versions are converted. */
import { type FieldError, forbidden, invalid, notSupported, required } from '../field-error.ts'
import { dns1035Label, dnsSubdomain, portNumber } from '../names.ts'
import type { Conversion, WebhookClient } from './definition.ts'

const FIELD = 'spec.conversion'
const REVIEW_VERSIONS = ['v1', 'v1beta1']

export function conversionErrors(conversion: Conversion | undefined): FieldError[] {
  if (conversion === undefined) return []
  const { strategy = '', webhook } = conversion
  const errors: FieldError[] = []
  if (strategy === '') errors.push(required(`${FIELD}.strategy`))
  else if (strategy !== 'None' && strategy !== 'Webhook') errors.push(notSupported(`${FIELD}.strategy`, strategy, ['None', 'Webhook']))
  const { clientConfig: client, conversionReviewVersions: versions = [] } = webhook ?? {}
  if (strategy === 'Webhook') return [...errors, ...clientErrors(client), ...reviewErrors(versions)]
  const detail = 'should not be set when strategy is not set to Webhook'
  if (client !== undefined) errors.push(forbidden(`${FIELD}.webhookClientConfig`, detail))
  if (versions.length > 0) errors.push(forbidden(`${FIELD}.conversionReviewVersions`, detail))
  return errors
}

function clientErrors(client: WebhookClient | undefined): FieldError[] {
  const field = `${FIELD}.webhookClientConfig`
  if (client === undefined) return [required(field, 'required when strategy is set to Webhook')]
  if ((client.url === undefined) === (client.service === undefined)) return [required(field, 'exactly one of url or service is required')]
  if (client.url !== undefined) return urlErrors(client.url, `${field}.url`)
  const { name = '', namespace = '', port = 443, path = '' } = client.service ?? {}
  const errors: FieldError[] = []
  if (name === '') errors.push(required(`${field}.service.name`))
  if (namespace === '') errors.push(required(`${field}.service.namespace`))
  const wrongPort = portNumber(port)
  if (wrongPort.length > 0) errors.push(invalid(`${field}.service.port`, port, `port is not valid: ${wrongPort.join(', ')}`))
  return [...errors, ...pathErrors(path, `${field}.service.path`)]
}

const FORM = '; desired format: https://host[/path]'

function urlErrors(text: string, field: string): FieldError[] {
  const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(text)
  const [, scheme = '', user, host = '', query = '', fragment = ''] = parts ?? []
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https') errors.push(invalid(field, scheme, `'https' is the only allowed URL scheme${FORM}`))
  if (host === '') errors.push(invalid(field, host, `host must be specified${FORM}`))
  if (user !== undefined) errors.push(invalid(field, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(invalid(field, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(invalid(field, query, 'query parameters are not permitted in the URL'))
  return errors
}

function pathErrors(path: string, field: string): FieldError[] {
  if (path === '' || path === '/') return []
  if (path === '//') return [invalid(field, path, 'segment[0] may not be empty')]
  const errors: FieldError[] = []
  if (!path.startsWith('/')) errors.push(invalid(field, path, "must start with a '/'"))
  for (const [i, step] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') errors.push(invalid(field, path, `segment[${i}] may not be empty`))
    else for (const wrong of dnsSubdomain(step)) errors.push(invalid(field, path, `segment[${i}]: ${wrong}`))
  }
  return errors
}

function reviewErrors(versions: readonly string[]): FieldError[] {
  const field = `${FIELD}.conversionReviewVersions`
  if (versions.length === 0) return [required(field)]
  const errors: FieldError[] = []
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(invalid(`${field}[${i}]`, version, 'duplicate version'))
    else for (const wrong of dns1035Label(version)) errors.push(invalid(`${field}[${i}]`, version, wrong))
  }
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalid(field, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`))
  }
  return errors
}
