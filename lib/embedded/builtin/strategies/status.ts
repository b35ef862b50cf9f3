/** Preparation that concerns writes through `/status` only. */
import type { ApiObject, Strategy, WriteContext } from '../../types.ts'

type Prepare = NonNullable<Strategy['prepareForUpdate']>

export const onStatus =
  (prepare: (object: ApiObject, old: ApiObject, context: WriteContext) => void): Prepare =>
  (object, old, context) => {
    if (context.subresource === 'status') prepare(object, old, context)
  }

/** Labels that the status of the controllers of pods may not change. */
export const keepLabels: Prepare = onStatus((object, old) => {
  if (old.metadata.labels == null) delete object.metadata.labels
  else object.metadata.labels = old.metadata.labels
})
