/**
 * Adding and removing the class's own finalizer, by server-side apply under a field manager named after it: no read, no race, and
 * other people's entries stay. The uid in the request keeps it from making or touching another object of the same name.
 */
import { hash } from 'node:crypto'
import type { ContextClient } from '../resource/context-client.ts'
import { groupOf, type KindRef, type KubeObject } from '../resource/kind.ts'
import type { Primary } from './primary.ts'

/** The finalizer of a class that names none. */
export function defaultFinalizer(kind: KindRef): string {
  const group = groupOf(kind.apiVersion)
  return `${group === '' ? 'core.tsop.dev' : group}/${kind.plural ?? kind.kind.toLowerCase()}`
}

export function addFinalizer(client: ContextClient, primary: Primary, finalizer: string): Promise<KubeObject> {
  return apply(client, primary, finalizer, [finalizer])
}

/** Resolves with the object as it is afterwards. The server forgets it at once where no other finalizer holds it. */
export async function removeFinalizer(client: ContextClient, primary: Primary, finalizer: string): Promise<KubeObject> {
  const object = await apply(client, primary, finalizer, undefined)
  if (!object.metadata.finalizers?.includes(finalizer)) return object
  // Somebody else set the same entry too (a restored backup, a manifest that was exported): apply leaves it to them.
  const finalizers = object.metadata.finalizers.filter((entry) => entry !== finalizer)
  const { uid, resourceVersion } = object.metadata
  return client.patch(primary.kind, primary.ref, { type: 'merge', value: { metadata: { uid, resourceVersion, finalizers } } })
}

/** The longest name of a field manager. */
const LONGEST_MANAGER = 128

function apply(
  client: ContextClient,
  { kind, ref, uid }: Primary,
  finalizer: string,
  finalizers: string[] | undefined,
): Promise<KubeObject> {
  const fieldManager = finalizer.length <= LONGEST_MANAGER ? finalizer : hash('sha256', finalizer, 'hex')
  return client.apply(kind, { metadata: { name: ref.name, namespace: ref.namespace, uid, finalizers } }, { fieldManager, force: true })
}
