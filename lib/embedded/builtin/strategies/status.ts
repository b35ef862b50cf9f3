/** Preparation that concerns writes through `/status` only. */
import { cloneJson } from '../../json.ts'
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

/** What writes through the object, and through `/status`, do not own, where `/status` changes the status alone. */
export const STATUS_ALONE = { '': [['status']], status: [['metadata'], ['spec']] }

/** For the same kinds. */
export const keepMetadata: Prepare = onStatus((object, old) => {
  const { managedFields, resourceVersion } = object.metadata
  object.metadata = {
    ...cloneJson(old.metadata),
    ...(managedFields === undefined ? {} : { managedFields }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
})
