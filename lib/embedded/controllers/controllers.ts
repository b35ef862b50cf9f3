/** What a cluster's controller manager does that clients rely on, whatever else is simulated. */
import type { Core } from '../core.ts'
import { startGarbageCollector } from './garbage-collector.ts'
import { startNamespaces } from './namespaces.ts'
import { startStorageProtection } from './storage-protection.ts'

export function startControllers(core: Core): void {
  startGarbageCollector(core)
  startNamespaces(core)
  startStorageProtection(core)
}
