/** What differs from run to run is masked, so that answers of two servers can be compared. */

// biome-ignore lint/suspicious/noExplicitAny: any answer
type Json = any

export interface MaskedAnswer {
  readonly status: number
  readonly warnings?: readonly string[]
  readonly body: Json
}

export function masked(status: number, warnings: readonly string[], body: Json): MaskedAnswer {
  const answer = mask(body)
  if (answer?.kind === 'Status' && answer.details?.causes) {
    // The order of causes is that of Go's maps in places.
    answer.details.causes = [
      ...new Set(answer.details.causes.map((cause: Json) => `${cause.reason} ${cause.field}: ${cause.message}`)),
    ].sort()
    delete answer.message
  }
  for (const port of answer?.spec?.ports ?? []) if (port.nodePort) port.nodePort = '<node port>'
  if (answer?.spec?.healthCheckNodePort) answer.spec.healthCheckNodePort = '<node port>'
  return { status, ...(warnings.length === 0 ? {} : { warnings: [...warnings].sort() }), body: answer }
}

const DROPPED = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'managedFields'])

function mask(value: Json): Json {
  if (Array.isArray(value)) return value.map(mask)
  if (typeof value === 'string') return maskText(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !DROPPED.has(key) || (typeof member === 'object' && key !== 'managedFields'))
      .map(([key, member]) => [key, mask(member)]),
  )
}

const maskText = (text: string) =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(/10\.0\.0\.\d+/g, '<cluster IP>')
    .replace(/kube-api-access-\w{5}/g, 'kube-api-access')
    .replace(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    // A rendering of the difference of two Go structs.
    .replace(/\n@@[\s\S]*/, '')
