/** Renderings: each is a long job of a service outside the cluster, started once and asked for until it is done. */
import { type Context, type ExternalCall, type ExternalState, onReconcile, type Resource, resource, z } from 'tsop'

export const Rendering = resource({
  group: 'media.example.com',
  version: 'v1alpha1',
  kind: 'Rendering',
  spec: z.object({
    scene: z.string().min(1).describe('What to render.'),
    frames: z.int().min(1).default(1),
  }),
  status: z.object({ location: z.string().optional().describe('Where the frames are, once they are rendered.') }),
  // One object is one job: another scene is another object.
  validations: [{ rule: 'self.spec == oldSelf.spec', message: 'a rendering cannot be changed; make another one' }],
})
export type Rendering = Resource<typeof Rendering>

export class RenderingHandler {
  @onReconcile(Rendering, { concurrency: 10, timeout: '30s' })
  async reconcile(rendering: Rendering, ctx: Context<Rendering>) {
    const job = await ctx.external('render', {
      async lookup(call) {
        const response = await farm(call, `/jobs/${encodeURIComponent(call.idempotencyKey)}`)
        return response.status === 404 ? undefined : stateOf(response)
      },
      run: async (call) => stateOf(await farm(call, '/jobs', rendering.spec)),
      poll: process.env['RENDER_POLL'] ?? '10s',
      reason: 'Rendering',
    })
    if (!job.done) return job.requeue
    ctx.status.location = job.value
    ctx.conditions.ready({ reason: 'Rendered', message: `the frames are at ${job.value}` })
  }
}

/** A GET, or a POST of the body. */
function farm(call: ExternalCall, path: string, body?: object): Promise<Response> {
  const url = process.env['RENDER_URL'] ?? 'http://127.0.0.1:8088'
  const headers = { 'idempotency-key': call.idempotencyKey, 'content-type': 'application/json' }
  const post = body !== undefined && { method: 'POST', body: JSON.stringify(body) }
  return fetch(`${url}${path}`, { headers, signal: call.signal, ...post })
}

async function stateOf(response: Response): Promise<ExternalState<string>> {
  if (!response.ok) throw new Error(`the render farm answered ${response.status}: ${await response.text()}`)
  const job = (await response.json()) as { state: string; message: string; location: string }
  if (job.state === 'failed') return { failed: job.message }
  return job.state === 'done' ? { done: true, value: job.location } : { done: false, message: job.message }
}
