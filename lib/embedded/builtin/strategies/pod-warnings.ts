/** Warnings about pods and templates that work but are likely mistakes (`api/pod/warnings.go`). */
import { show } from '../../field-error.ts'
import { dnsLabel } from '../../names.ts'
import type { ApiObject } from '../../types.ts'
import { entries, type Part } from './common.ts'

/** Not again with every label: only a write that counts a generation is told. */
export const templateWarnings = ({ spec, metadata }: ApiObject, old: ApiObject | undefined): string[] =>
  spec?.template?.spec && metadata.generation !== old?.metadata.generation ? podSpecWarnings(spec.template.spec, 'spec.template.spec') : []

export function podWarnings(object: ApiObject, old: ApiObject | undefined): string[] {
  if (old != null) return []
  const problems = dnsLabel(object.metadata.name ?? '')
  const name =
    problems.length === 0
      ? []
      : [
          `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
        ]
  return [...name, ...podSpecWarnings(object.spec, 'spec')]
}

export function podSpecWarnings(spec: Part, field: string): string[] {
  const warnings: string[] = []
  const all: [string, Part][] = []
  for (const list of ['initContainers', 'containers'])
    for (const [i, each] of entries(spec[list])) all.push([`${field}.${list}[${i}]`, each])
  for (const [at, container] of all) warnContainer(warnings, container, at)
  warnPorts(warnings, all)
  for (const [i, { labelSelector }] of entries(spec.topologySpreadConstraints)) {
    if (labelSelector == null)
      warnings.push(`${field}.topologySpreadConstraints[${i}].labelSelector: a null labelSelector results in matching no pod`)
  }
  if (spec.terminationGracePeriodSeconds < 0)
    warnings.push(`${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`)
  for (const [i, secret] of entries(spec.imagePullSecrets)) {
    if (!secret.name) warnings.push(`${field}.imagePullSecrets[${i}].name: invalid empty name ""`)
  }
  return warnings
}

/** Two containers of a pod share its ports: the same one twice is likely a mistake. */
function warnPorts(warnings: string[], containers: readonly [string, Part][]): void {
  const seen = new Map<string, { at: string; port: Part }[]>()
  for (const [container, { ports }] of containers) {
    for (const [i, port] of entries(ports)) {
      const at = `${container}.ports[${i}]`
      const key = `${port.containerPort}/${port.protocol}`
      const others = seen.get(key) ?? []
      for (const other of others) {
        const problem = likeness(port, other.port)
        if (problem !== undefined) warnings.push(`${at}: ${problem} port definition with ${other.at}`)
      }
      seen.set(key, [...others, { at, port }])
    }
  }
}

function likeness(a: Part, b: Part): string | undefined {
  const [ipA, ipB] = [a.hostIP ?? '', b.hostIP ?? '']
  const [portA, portB] = [a.hostPort ?? 0, b.hostPort ?? 0]
  if (ipA === ipB && portA === portB) return 'duplicate'
  if (portA === 0 || portB === 0) return 'overlapping'
  return portA === portB && (ipA === '') !== (ipB === '') ? 'dangerously ambiguous' : undefined
}

function warnContainer(warnings: string[], container: Part, at: string): void {
  const seen = new Map<string, string>()
  for (const [i, { name, value, valueFrom }] of entries(container.env)) {
    const earlier = seen.get(name)
    if (earlier != null) warnings.push(`${at}.env[${i}]: hides previous definition of ${show(name)}, which may be dropped when using apply`)
    void value
    void valueFrom
    seen.set(name, name)
  }
  for (const list of ['limits', 'requests']) {
    for (const [name, amount] of Object.entries((container.resources?.[list] ?? {}) as Record<string, string>)) {
      if ((name === 'memory' || name === 'ephemeral-storage') && amount.endsWith('m')) {
        warnings.push(`${at}.resources.${list}[${name}]: fractional byte value ${show(amount)} is invalid, must be an integer`)
      }
    }
  }
}
