/** Pod Security admission: labels of a namespace say which standard its pods must meet, and of which they are warned. */
import type { AdmissionPlugin, AdmissionRequest, Core } from '../core.ts'
import type { ApiObject, Metadata } from '../types.ts'
import { type PodSpec, violations } from './pod-security-checks.ts'
import { refusal } from './refusal.ts'

const PREFIX = 'pod-security.kubernetes.io/'
const LEVELS: ReadonlySet<string> = new Set(['baseline', 'restricted'])
/** Kinds that make pods: only warned of. */
const TEMPLATES: ReadonlySet<string> = new Set([
  '/replicationcontrollers',
  'apps/replicasets',
  'apps/deployments',
  'apps/daemonsets',
  'apps/statefulsets',
  'batch/jobs',
  'batch/cronjobs',
])

export function podSecurity(core: Core): AdmissionPlugin {
  return {
    name: 'PodSecurity',
    validate(request) {
      const { type, object, operation, subresource, namespace } = request
      if (object === undefined || operation === 'DELETE') return
      const isPod = type.bucket === '/pods' && ((operation === 'CREATE' && subresource === '') || subresource === 'ephemeralcontainers')
      if (!isPod && (subresource !== '' || !TEMPLATES.has(type.bucket))) return
      const labels = core.lookup.get('', 'namespaces', '', namespace)?.metadata.labels
      if (labels === undefined) return
      const template = isPod ? { metadata: object.metadata, spec: object.spec as PodSpec } : templateOf(object)
      if (template?.spec === undefined) return
      if (isPod) enforce(request, labels, template)
      const warned = judged(labels, 'warn', template)
      if (warned !== undefined) request.warn(`would violate PodSecurity ${warned}`)
    },
  }
}

function enforce(request: AdmissionRequest, labels: Readonly<Record<string, string>>, pod: Template): void {
  const found = judged(labels, 'enforce', pod)
  if (found !== undefined) throw refusal(request, `violates PodSecurity ${found}`)
}

interface Template {
  readonly metadata?: Metadata
  readonly spec: PodSpec
}

function judged(labels: Readonly<Record<string, string>>, mode: string, { metadata = {}, spec }: Template): string | undefined {
  const level = labels[`${PREFIX}${mode}`] ?? 'privileged'
  // What is no level is read as the strictest one.
  const known = level === 'privileged' || LEVELS.has(level) ? level : 'restricted'
  if (known === 'privileged') return undefined
  const found = violations(known, metadata, spec)
  return found === undefined ? undefined : `${JSON.stringify(`${known}:${labels[`${PREFIX}${mode}-version`] ?? 'latest'}`)}: ${found}`
}

function templateOf({ spec }: ApiObject): Template | undefined {
  return spec?.jobTemplate?.spec?.template ?? spec?.template
}
