/** The operator of the fault scenarios' contract, written the way the guide teaches it. */
import { type Context, type KubeObject, onDelete, onReconcile, owns, requeueAfter, resourceFrom, TerminalError } from 'tsop'
import { ConfigMap } from 'tsop/kinds'
import definition from './crd.json' with { type: 'json' }

interface Probe extends KubeObject {
  spec: { children?: number; message?: string; poll?: boolean; pollMillis?: number; blockSeconds?: number }
  status?: { externalId?: string; message?: string }
}

/** The definition comes from elsewhere: its file is all that is known of it. */
const Probe = resourceFrom<Probe>(definition)

const LABEL = 'fault.example.com/probe'

export class ProbeHandler {
  @onReconcile(Probe, { concurrency: 2, timeout: `${process.env['RECONCILE_TIMEOUT_SECONDS'] || 60}s` })
  @owns(ConfigMap)
  async reconcile(probe: Probe, ctx: Context<Probe>) {
    const { name, namespace, uid, generation } = probe.metadata
    const { message = '', children = 0, poll = false, pollMillis = 1000, blockSeconds = 0 } = probe.spec
    const thing = await external<{ id: string }>(ctx, 'PUT', `/things/${uid}`, { namespace, name, generation, message })
    ctx.status.externalId = thing.id
    block(blockSeconds)

    for (let i = 0; i < children; i++) {
      await ctx.apply(ConfigMap, { metadata: { name: `${name}-${i}`, labels: { [LABEL]: name } }, data: { message } })
    }
    const isSurplus = (child: ConfigMap) => Number(child.metadata.name.slice(name.length + 1)) >= children
    for (const child of ctx.children(ConfigMap).filter(isSurplus)) await ctx.delete(ConfigMap, child)

    if (poll) {
      const { done } = await external<{ done: boolean }>(ctx, 'GET', `/jobs/${uid}`)
      if (!done) return requeueAfter(pollMillis, { reason: 'JobRunning', message: 'the job is not done' })
    }
    ctx.status.message = message
  }

  @onDelete(Probe, { finalizer: 'fault.example.com/cleanup' })
  async remove(probe: Probe, ctx: Context<Probe>) {
    await external(ctx, 'DELETE', `/things/${probe.metadata.uid}`)
  }
}

async function external<T>(ctx: Context<Probe>, method: string, path: string, body?: object): Promise<T> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(`${process.env['EXTERNAL_URL']}${path}`, { method, signal: ctx.signal, ...init })
  const answer = (await response.json()) as T & { error?: string }
  if (response.ok || (method === 'DELETE' && response.status === 404)) return answer
  const message = `external service: ${response.status} ${answer.error ?? ''}`
  throw response.status === 422 ? new TerminalError('Refused', message) : new Error(message)
}

/** What a user's CPU work, or a blocking call, does to the process. */
function block(seconds: number): void {
  if (seconds > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1000)
}
