/** The texts of a refusal by the authorizer. */
import type { Attributes } from '../core.ts'
import { ApiError, forbiddenError } from '../status.ts'

/** 403 as the API server words it; `reason` is what the authorizer says to it. */
export function forbiddenRequest(request: Attributes, reason = ''): ApiError {
  const text = sanitize(describe(request)) + (reason === '' ? '' : `: ${reason}`)
  if (request.path !== undefined) return new ApiError(403, 'Forbidden', `forbidden: ${text}`, {})
  return forbiddenError({ group: request.group, resource: request.resource, kind: '' }, request.name, text)
}

function describe({ user, verb, path, group, resource, subresource, namespace }: Attributes): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`
  if (path !== undefined) return `${who} path ${JSON.stringify(path)}`
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`)
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  return `${who} resource ${what} in API group ${JSON.stringify(group)} ${where}`
}

/** Parts of the request come back to a browser perhaps. */
const sanitize = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
