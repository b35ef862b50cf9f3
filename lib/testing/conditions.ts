/** What tests ask of an object's status. */
import type { Condition } from '../resource/kind.ts'

/** As much of an object as its conditions need. */
export interface WithConditions {
  readonly metadata: { readonly generation?: number | undefined }
  readonly status?:
    | { readonly observedGeneration?: number | undefined; readonly conditions?: readonly Condition[] | undefined }
    | null
    | undefined
}

/**
 * Whether the object is there, its condition `Ready` is true, and that is about the spec that it has now.
 *
 * @example
 * const db = await cluster.until(() => cluster.client.find(Database, ref), ready)
 */
export function ready<O>(object: O): object is NonNullable<O> {
  if (object === undefined || object === null) return false
  const { metadata, status } = object as unknown as WithConditions
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation) return false
  return condition(object as unknown as WithConditions, 'Ready')?.status === 'True'
}

/** The condition of this type; undefined where the object, or the condition, is not there. */
export function condition(object: WithConditions | undefined, type: string): Condition | undefined {
  return object?.status?.conditions?.find((each) => each.type === type)
}
