/** An operator as users write them: a database with a child, a finalizer, and a plan outside. */
import { type Context, onDelete, onReconcile, owns, type Resource, requeueAfter, resource, type WatchContext, watches, z } from 'tsop'
import { ConfigMap, Secret } from 'tsop/kinds'

export const Database = resource({
  group: 'db.example.com',
  version: 'v1',
  kind: 'Database',
  spec: z.object({ size: z.int().min(1).default(1), secretName: z.string().optional() }),
  status: z.object({ size: z.int().optional(), runs: z.int().optional() }),
})
export type Database = Resource<typeof Database>

export class DatabaseHandler {
  @owns(ConfigMap)
  config({ spec: { size } }: Database) {
    return { data: { size: String(size) } }
  }

  @onReconcile(Database)
  async reconcile(database: Database, ctx: Context<Database>) {
    const { size, secretName } = database.spec
    if (secretName !== undefined && (await ctx.get(Secret, secretName)) === undefined)
      return requeueAfter('10m', { reason: 'SecretMissing' })
    ctx.status.size = size
  }

  @watches(Secret)
  users(secret: Secret, ctx: WatchContext<Database>) {
    const { name, namespace } = secret.metadata
    return ctx
      .primaries({ namespace: namespace as string })
      .filter(({ spec }) => spec.secretName === name)
      .map(({ metadata }) => metadata)
  }
}

export const Task = resource({
  group: 'db.example.com',
  version: 'v1',
  kind: 'Task',
  spec: z.object({ steps: z.int().default(3) }),
  status: z.object({ done: z.int().optional() }),
})
export type Task = Resource<typeof Task>

/** One step each ten seconds. */
export class TaskHandler {
  @onReconcile(Task)
  reconcile(job: Task, ctx: Context<Task>) {
    const done = (job.status?.done ?? 0) + 1
    ctx.status.done = Math.min(done, job.spec.steps)
    if (done < job.spec.steps) return requeueAfter('10s', { reason: 'StepsLeft' })
  }

  @onDelete(Task)
  async remove() {}
}

export const at = (name: string) => ({ name, namespace: 'default' })

const apiVersion = 'db.example.com/v1'

export const database = (name: string, spec: { size?: number; secretName?: string } = {}) => ({
  apiVersion,
  kind: 'Database',
  metadata: at(name),
  spec,
})

export const task = (name: string, spec: { steps?: number } = {}) => ({ apiVersion, kind: 'Task', metadata: at(name), spec })
