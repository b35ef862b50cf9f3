/** The lines of a watch, in the form that the client asked for. */
import type { Core } from './core.ts'
import type { Representation } from './negotiate.ts'
import { goJson } from './respond.ts'
import { includeObject, toPartial, toTable } from './table.ts'
import type { ResourceType } from './types.ts'
import type { WatchEncoder } from './watch.ts'

/** One for all watches that want the objects themselves: an event is written out once for them. */
const plain: WatchEncoder = Object.assign((event: object) => `${goJson(event)}\n`, { shared: 'json' })

export function watchEncoder(core: Core, type: ResourceType, form: Representation, query: URLSearchParams): WatchEncoder {
  if (form.as === undefined) return plain
  if (form.as === 'Table') return tables(core, type, form, query)
  const partial: WatchEncoder = ({ type: event, object }) => `${goJson({ type: event, object: toPartial(object, form.version) })}\n`
  return Object.assign(partial, { shared: `partial ${form.version}` })
}

/** Only the first Table has the columns. */
function tables(core: Core, type: ResourceType, form: Representation, query: URLSearchParams): WatchEncoder {
  const include = includeObject(query)
  let first = true
  return ({ type: event, object }) => {
    const { resourceVersion = '' } = object.metadata
    const table = toTable(type, [object], { resourceVersion }, include, core.clock.now(), form.version, first)
    first = false
    return `${goJson({ type: event, object: table })}\n`
  }
}
