/** The operator of the benchmark's contract, written the way the guide teaches it. */
import { type Context, type KubeObject, onDelete, onReconcile, owns, resourceFrom } from 'tsop'
import { ConfigMap } from 'tsop/kinds'
import definition from './crd.json' with { type: 'json' }

interface Widget extends KubeObject {
  spec: { size: number; message: string }
}

/** The definition comes from elsewhere: its file is all that is known of it. */
const Widget = resourceFrom<Widget>(definition)

export class WidgetHandler {
  @owns(ConfigMap, { suffix: 'config' })
  config({ spec }: Widget) {
    return { data: { message: spec.message, size: String(spec.size) } }
  }

  @onReconcile(Widget, { concurrency: 10 })
  reconcile(_widget: Widget, ctx: Context<Widget>) {
    ctx.conditions.ready({ message: 'the child is up to date' })
  }

  /** No garbage collector runs in the benchmark. */
  @onDelete(Widget, { finalizer: 'bench.example.com/cleanup' })
  async remove(_widget: Widget, ctx: Context<Widget>) {
    for (const child of ctx.children(ConfigMap)) await ctx.delete(ConfigMap, child)
  }
}
