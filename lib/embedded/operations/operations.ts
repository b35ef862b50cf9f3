/** The verbs of one server, for its request handler, its controllers and for tests. */
import type { Core, Operations } from '../core.ts'
import { notFound } from '../status.ts'
import { read } from './context.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { patch } from './patch.ts'
import { update } from './update.ts'

export function createOperations(core: () => Core): Operations {
  return {
    async get(type, namespace, name) {
      const stored = core()
        .store.bucket(type.bucket)
        .get(type.namespaced ? namespace : '', name)
      if (stored === undefined) throw notFound(type, name)
      return read(type, stored.object)
    },
    async list(type, namespace) {
      const stored = core()
        .store.bucket(type.bucket)
        .list(namespace === undefined || !type.namespaced ? {} : { namespace })
      return Promise.all(stored.map(({ object }) => read(type, object)))
    },
    create: (type, namespace, object, options) => create(core(), type, namespace, object, options),
    update: (type, namespace, name, subresource, object, options) => update(core(), type, namespace, name, subresource, object, options),
    patch: (type, namespace, name, subresource, document, options) => patch(core(), type, namespace, name, subresource, document, options),
    delete: (type, namespace, name, deletion, options) => remove(core(), type, namespace, name, deletion, options),
  }
}
