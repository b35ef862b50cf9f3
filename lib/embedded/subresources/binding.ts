/** `POST …/pods/NAME/binding`, as schedulers send it: the pod gets its node. */
import type { Core } from '../core.ts'
import { cloneJson } from '../json.ts'
import { timestamp } from '../object-meta.ts'
import { badRequest, conflict, notFound } from '../status.ts'
import type { ResourceType } from '../types.ts'

/** @throws ApiError 404, 409 where the pod has a node or is on its way out */
export function bind(core: Core, type: ResourceType, namespace: string, name: string, node: string, uid?: string): void {
  if (node === '') throw badRequest('target.name: Required value')
  const subject = { ...type, resource: 'pods/binding' }
  const bucket = core.store.bucket(type.bucket)
  const stored = bucket.get(namespace, name)
  if (stored === undefined) throw notFound(type, name)
  const pod = cloneJson(stored.object)
  if (uid !== undefined && uid !== '' && uid !== pod.metadata.uid) {
    throw conflict(subject, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`)
  }
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`)
  if (pod.spec.nodeName) throw conflict(subject, name, `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`)
  pod.spec.nodeName = node
  const others = (pod.status?.conditions ?? []).filter((each: { type: string }) => each.type !== 'PodScheduled')
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: timestamp(core.clock.now()) }
  pod.status = { ...pod.status, conditions: [...others, scheduled] }
  bucket.put(namespace, name, pod, stored.revision)
}
