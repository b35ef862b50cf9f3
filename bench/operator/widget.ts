/** The operator of the benchmark's contract, written the way the guide teaches it. */
import { readFileSync } from 'node:fs'
import { type Context, type KubeObject, onDelete, onReconcile, owns, resourceFrom } from 'tsop'
import { ConfigMap } from 'tsop/kinds'

interface Widget extends KubeObject {
  spec: { size: number; message: string }
}

/** The definition comes from elsewhere: its file is all that is known of it. Compiled, this module is one folder further down. */
const definition = new URL(import.meta.url.endsWith('.ts') ? 'crd.json' : '../crd.json', import.meta.url)
const Widget = resourceFrom<Widget>(readFileSync(definition, 'utf8'))

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
