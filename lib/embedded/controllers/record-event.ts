/** Events of the server's own controllers. */
import { type Core, SYSTEM } from '../core.ts'
import { timestamp } from '../object-meta.ts'
import type { ApiObject } from '../types.ts'

export interface EventOptions {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly component: string
}

/** In the namespace of `about`, or in `default` where it has none. An Event that cannot be written is forgotten. */
export function recordEvent(core: Core, about: ApiObject, { type, reason, message, component }: EventOptions): void {
  const kind = core.registry.find('', 'v1', 'events')
  if (kind === undefined) return
  const { name = '', namespace = '', uid, resourceVersion } = about.metadata
  const time = timestamp(core.clock.now())
  const suffix = Math.floor(core.random() * 2 ** 48).toString(16)
  const event: ApiObject = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${suffix}`, namespace: namespace || 'default' },
    involvedObject: { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid, resourceVersion },
    type,
    reason,
    message,
    source: { component },
    reportingComponent: component,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  }
  core.tasks.soon(async () => {
    try {
      await core.operations.create(kind, namespace || 'default', event, { user: SYSTEM, fieldManager: 'kube-controller-manager' })
    } catch (error) {
      // A namespace on its way out takes none.
      if (!(error instanceof Error) || error.name !== 'ApiError') throw error
    }
  })
}
