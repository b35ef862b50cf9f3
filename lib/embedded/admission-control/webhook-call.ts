/**
 * One call of a webhook: over HTTPS, or in this process where its service is registered. What goes wrong is told in the words
 * of the API server, whose users search for them.
 */
import type { IncomingMessage } from 'node:http'
import type { Agent, RequestOptions } from 'node:https'
import type { Core } from '../core.ts'
import { decodeJson, encodeJson, isObject, type JsonObject } from '../json.ts'

export interface ClientConfig {
  readonly url?: string
  readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number }
  /** Base64 of PEM. */
  readonly caBundle?: string
}

export type CallWebhook = (config: ClientConfig, review: object, timeoutSeconds: number) => Promise<JsonObject>

/** Connections are kept open between calls; they hold no process back. */
export function createWebhookCaller(core: Core): CallWebhook {
  let agent: Agent | undefined
  return async (config, review, timeoutSeconds) => {
    const { service } = config
    const inProcess = service === undefined ? undefined : core.services.get(`${service.namespace}/${service.name}`)
    if (inProcess !== undefined)
      return within(core, timeoutSeconds, 'the service', async () => copy(await inProcess(copy(review), service?.path ?? '')))
    const url = urlOf(config, timeoutSeconds)
    if (service !== undefined) throw new Error(`Post "${url}": service ${JSON.stringify(service.name)} not found`)
    const https = process.getBuiltinModule('node:https')
    agent ??= new https.Agent({ keepAlive: true, maxCachedSessions: 20 })
    const options: RequestOptions = {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', accept: 'application/json, */*', 'user-agent': 'kube-apiserver-admission' },
      ...(config.caBundle ? { ca: Buffer.from(config.caBundle, 'base64') } : {}),
    }
    return within(core, timeoutSeconds, url, (signal) => post(url, { ...options, signal }, encodeJson(review)))
  }
}

/** Nobody changes the other's objects. */
const copy = (value: object): JsonObject => decodeJson(encodeJson(value)) as JsonObject

function urlOf({ url, service }: ClientConfig, timeoutSeconds: number): string {
  const base = url ?? `https://${service?.name}.${service?.namespace}.svc:${service?.port ?? 443}${service?.path ?? ''}`
  return `${base}${base.includes('?') ? '&' : '?'}timeout=${timeoutSeconds}s`
}

async function within<T>(core: Core, seconds: number, url: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController()
  let late: (error: Error) => void = () => {}
  const deadline = new Promise<never>((_, reject) => (late = reject))
  const timer = core.clock.after(seconds * 1000, () => {
    late(new Error(`Post "${url}": context deadline exceeded`))
    abort.abort()
  })
  try {
    const called = call(abort.signal)
    // After the deadline nobody waits for it any more.
    called.catch(() => {})
    return await Promise.race([called, deadline])
  } finally {
    timer.cancel()
  }
}

async function post(url: string, options: RequestOptions, body: string): Promise<JsonObject> {
  const { request } = process.getBuiltinModule('node:https')
  const answer = await new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
    const fail = (error: Error) => reject(new Error(`Post "${url}": ${goText(error, new URL(url))}`))
    const call = request(url, { ...options, headers: { ...options.headers, 'content-length': Buffer.byteLength(body) } }, (response) => {
      readAll(response).then((text) => {
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text })
      }, fail)
    })
    call.on('error', fail)
    call.end(body)
  })
  if (answer.status !== 200) throw new Error(statusText(answer.status))
  return decode(answer)
}

/** More than any review needs. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

async function readAll(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of response) {
    size += part.length
    if (size > MAX_ANSWER_BYTES) throw new Error('http: request body too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function decode({ status, type, text }: { status: number; type: string; text: string }): JsonObject {
  if (text === '') throw new Error(`0-length response with status code: ${status} and content type: ${type}`)
  let value: unknown
  try {
    value = decodeJson(text)
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`)
  }
  if (!isObject(value)) throw new Error("couldn't get version/kind; json parse error: json: cannot unmarshal the answer into an object")
  return value
}

/** As a client of an API server reads an answer that has no Status. */
function statusText(status: number): string {
  if (status === 400) return 'the server rejected our request for an unknown reason'
  if (status === 401) return 'the server has asked for the client to provide credentials'
  if (status === 403) return 'unknown'
  if (status === 404) return 'the server could not find the requested resource'
  if (status === 405) return 'the server does not allow this method on the requested resource'
  if (status === 429) return 'the server has received too many requests and has asked us to try again later'
  if (status === 503) return 'the server is currently unable to handle the request'
  if (status === 504) return 'the server was unable to return a response in the time allotted, but may still be processing the request'
  if (status >= 500) return 'an error on the server ("unknown") has prevented the request from succeeding'
  return `the server responded with the status code ${status} but did not return more information`
}

function goText(error: Error & { code?: string; address?: string; port?: number }, url: URL): string {
  const { code = '', message } = error
  const address = `${error.address?.includes(':') ? `[${error.address}]` : (error.address ?? url.hostname)}:${error.port ?? (url.port || 443)}`
  if (code === 'ECONNREFUSED') return `dial tcp ${address}: connect: connection refused`
  if (code === 'ETIMEDOUT') return `dial tcp ${address}: connect: connection timed out`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${url.hostname}: no such host`
  if (code === 'ECONNRESET') return 'EOF'
  if (code === 'CERT_HAS_EXPIRED') return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match ${url.hostname}`
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO') return 'http: server gave HTTP response to HTTPS client'
  if (UNKNOWN_AUTHORITY.has(code)) return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  return message
}

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])
