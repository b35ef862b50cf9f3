/** The options of the command line that say how the API server reaches the methods of `@validates` and `@defaults`, and conversions. */

import { CliError, exitCodes } from './exit-codes.ts'
import type { OptionRow } from './option-rows.ts'

export const WEBHOOK_OPTIONS = [
  {
    name: 'webhook-port',
    value: 'PORT',
    sentence:
      'Answer @validates, @defaults and conversions at this port, where a handler has some; 9443 by default in a cluster, 0 is nowhere.',
  },
  {
    name: 'webhook-cert-path',
    value: 'DIR',
    sentence:
      'Take the certificate of that port from tls.crt and tls.key in this directory, also when they change; by default the operator makes one and keeps it in a Secret.',
  },
  {
    name: 'webhook-service',
    value: 'NAME',
    sentence: "The Service by which the API server reaches that port; by default the operator's name and -webhook.",
  },
  {
    name: 'webhook-url',
    value: 'URL',
    sentence:
      'Instead of a Service, have the API server call this URL, for as long as the operator runs; for an operator outside of its cluster.',
  },
] as const satisfies readonly OptionRow[]

export interface WebhookOptions {
  /** Undefined: by where the operator runs. */
  readonly port: number | undefined
  readonly certificates: string | undefined
  readonly service: string | undefined
  readonly url: URL | undefined
}

/** @throws CliError with exit code 2 */
export function webhookOptions(one: (name: string) => string | undefined): WebhookOptions {
  const port = portOf(one('webhook-port'))
  const service = one('webhook-service')
  if (service !== undefined && !/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(service))
    throw usage(`--webhook-service ${service}: expected the name of a Service`)
  const url = urlOf(one('webhook-url'))
  if (url !== undefined && service !== undefined) throw usage('--webhook-url and --webhook-service contradict each other')
  if (url !== undefined && port === 0) throw usage('--webhook-url and --webhook-port 0 contradict each other')
  return { port, certificates: one('webhook-cert-path'), service, url }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw usage(`--webhook-port ${text}: expected a port, or 0 for none`)
  return Number(text)
}

/** As the API server takes it (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#url). */
function urlOf(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.port === '0' || url.username !== '' || url.search !== '' || url.hash !== '')
    throw usage(`--webhook-url ${text}: expected a URL such as https://192.0.2.1:9443`)
  return url
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, `${message}; see tsop-run --help`)
}
