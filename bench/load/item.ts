/** Items: a child each, and how long it took from a change to its run. */
import { appendFileSync } from 'node:fs'
import { onReconcile, owns, type Resource, resource, z } from 'tsop'
import { ConfigMap } from 'tsop/kinds'

export const Item = resource({
  group: 'load.tsop.dev',
  version: 'v1',
  kind: 'Item',
  spec: z.object({
    size: z.int().default(1),
    at: z.number().default(0).describe('When it was changed, in milliseconds since 1970; 0 where that is of no interest.'),
  }),
  status: z.object({ size: z.int().optional() }),
})
export type Item = Resource<typeof Item>

const file = process.env['LATENCIES']
let latencies: number[] = []
if (file !== undefined) {
  setInterval(() => {
    if (latencies.length > 0) appendFileSync(file, `${latencies.join('\n')}\n`)
    latencies = []
  }, 500).unref()
}

export class ItemHandler {
  /** A child changes back into a wake, which is no change of the item. */
  readonly #seen = new Map<string, number>()

  @owns(ConfigMap)
  content({ metadata, spec }: Item) {
    if (spec.at > 0 && this.#seen.get(metadata.name) !== spec.at) {
      this.#seen.set(metadata.name, spec.at)
      latencies.push(Date.now() - spec.at)
    }
    return { data: { size: String(spec.size), text: 'x'.repeat(500) } }
  }

  @onReconcile(Item, { concurrency: 8 })
  reconcile(item: Item) {
    return void item
  }
}
