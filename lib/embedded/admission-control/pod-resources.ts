/** What a pod asks for as a whole: its containers together, or its most demanding init container. */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '../quantity.ts'
import type { ApiObject } from '../types.ts'

export type ResourceList = Map<string, Quantity>

export interface ContainerResources {
  readonly name: string
  readonly restartPolicy?: string
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string | number>>
    readonly requests?: Readonly<Record<string, string | number>>
  }
}

export function resourceList(values: Readonly<Record<string, string | number>> | undefined): ResourceList {
  return new Map(Object.entries(values ?? {}).map(([name, value]) => [name, parseQuantity(value)]))
}

export function podResources({ spec }: ApiObject, which: 'requests' | 'limits'): ResourceList {
  const containers: readonly ContainerResources[] = spec?.containers ?? []
  const inits: readonly ContainerResources[] = spec?.initContainers ?? []
  const total: ResourceList = new Map()
  const sidecars: ResourceList = new Map()
  const start: ResourceList = new Map()
  for (const container of containers) add(total, resourceList(container.resources?.[which]))
  for (const container of inits) {
    const own = resourceList(container.resources?.[which])
    if (container.restartPolicy === 'Always') {
      // A sidecar goes on running.
      add(total, own)
      add(sidecars, own)
      raise(start, sidecars)
    } else {
      add(own, sidecars)
      raise(start, own)
    }
  }
  raise(total, start)
  for (const [name, value] of resourceList(spec?.resources?.[which])) total.set(name, value)
  return total
}

export function add(total: ResourceList, more: ResourceList): void {
  for (const [name, value] of more) {
    const known = total.get(name)
    total.set(name, known === undefined ? value : addQuantities(known, value))
  }
}

function raise(total: ResourceList, other: ResourceList): void {
  for (const [name, value] of other) {
    const known = total.get(name)
    if (known === undefined || compareQuantities(known, value) < 0) total.set(name, value)
  }
}
