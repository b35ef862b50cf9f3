/**
 * What does this object need now? A pure function of what is seen, tested as a table.
 */
import type { KubeObject } from '../resource/kind.ts'

export interface Facts {
  /** The class has a method with `@onDelete`. */
  readonly hasDelete: boolean
  /** The name of the class's finalizer. */
  readonly finalizer: string
}

export type Decision = 'forget' | 'ignore' | 'addFinalizer' | 'runDelete' | 'removeFinalizer' | 'reconcile'

export function decide(object: KubeObject | undefined, { hasDelete, finalizer }: Facts): Decision {
  if (object === undefined) return 'forget'
  const ours = object.metadata.finalizers?.includes(finalizer) ?? false
  if (object.metadata.deletionTimestamp !== undefined) {
    if (!ours) return 'ignore'
    // A finalizer that an earlier version of the class left, when it still had @onDelete.
    return hasDelete ? 'runDelete' : 'removeFinalizer'
  }
  return hasDelete && !ours ? 'addFinalizer' : 'reconcile'
}
