/** Pots: a child, a status, a finalizer, and now and then a wait or a failure. What the soak churns. */
import { type Context, onDelete, onReconcile, owns, type Resource, requeueAfter, resource, z } from 'tsop'
import { ConfigMap } from 'tsop/kinds'

export const Pot = resource({
  group: 'soak.tsop.dev',
  version: 'v1',
  kind: 'Pot',
  spec: z.object({
    size: z.int().default(1),
    waits: z.boolean().default(false).describe('Waits once for each generation.'),
    fails: z.boolean().default(false).describe('Fails once for each generation.'),
  }),
  status: z.object({ size: z.int().optional() }),
})
export type Pot = Resource<typeof Pot>

export class PotHandler {
  readonly #seen = new Map<string, number>()

  @owns(ConfigMap)
  content({ spec }: Pot) {
    return { data: { size: String(spec.size), text: 'x'.repeat(500) } }
  }

  @onReconcile(Pot, { concurrency: 8, timeout: '20s' })
  async reconcile(pot: Pot, ctx: Context<Pot>) {
    const { uid = '', generation = 0 } = pot.metadata
    const isNew = this.#seen.get(uid) !== generation
    this.#seen.set(uid, generation)
    if (isNew && pot.spec.waits) return requeueAfter('2s', { reason: 'Warming' })
    if (isNew && pot.spec.fails) throw new Error('burnt')
    ctx.status.size = pot.spec.size
  }

  @onDelete(Pot)
  async remove(pot: Pot) {
    this.#seen.delete(pot.metadata.uid ?? '')
  }
}
