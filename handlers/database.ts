/**
 * Databases: a StatefulSet, a Service and a Secret with the password for each, and a final backup before one goes.
 *
 * A provider outside the cluster makes the backup, at BACKUP_URL (default http://127.0.0.1:8088); it is asked every BACKUP_POLL
 * (default 10s) how far it is. `job-service/` stands for it.
 */
import { randomBytes } from 'node:crypto'
import {
  type Context,
  type ExternalCall,
  type ExternalState,
  onDelete,
  onReconcile,
  owns,
  type Resource,
  requeueAfter,
  resource,
  z,
} from 'tsop'
import { Secret, Service, StatefulSet } from 'tsop/kinds'

export const Database = resource({
  group: 'db.example.com',
  version: 'v1alpha1',
  kind: 'Database',
  shortNames: ['db'],
  spec: z.object({
    engine: z.enum(['postgres', 'mysql']).default('postgres').describe('Database engine. Cannot be changed later.'),
    replicas: z.int().min(1).max(7).default(1).describe('How many servers.'),
    storage: z.string().default('1Gi').describe('Size of the volume of each server. Cannot be changed later.'),
    finalBackup: z.boolean().default(true).describe('Whether to take a backup before the database is deleted.'),
  }),
  status: z.object({
    endpoint: z.string().optional().describe('Where clients connect, once the servers are ready.'),
    credentials: z.string().optional().describe('The Secret that holds the password.'),
  }),
  validations: [
    { rule: 'self.spec.engine == oldSelf.spec.engine', message: 'engine is immutable' },
    { rule: 'self.spec.storage == oldSelf.spec.storage', message: 'storage is immutable' },
  ],
  printerColumns: [
    { name: 'Engine', type: 'string', jsonPath: '.spec.engine' },
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Endpoint', type: 'string', jsonPath: '.status.endpoint' },
  ],
})
export type Database = Resource<typeof Database>

/** What the two engines need to be told, and where they keep their data. */
const ENGINES = {
  postgres: { image: 'postgres:18', port: 5432, passwordVariable: 'POSTGRES_PASSWORD', dataPath: '/var/lib/postgresql' },
  mysql: { image: 'mysql:9', port: 3306, passwordVariable: 'MYSQL_ROOT_PASSWORD', dataPath: '/var/lib/mysql' },
} as const

export class DatabaseHandler {
  /** The password is made once. The API server refuses a change of an immutable Secret, whoever may believe that there is none yet. */
  @owns(Secret, { suffix: 'credentials' })
  async credentials(db: Database, ctx: Context<Database>) {
    const existing = ctx.child(Secret) ?? (await ctx.client.find(Secret, { ...db.metadata, name: credentialsOf(db) }))
    if (existing?.data !== undefined) return { immutable: true, type: 'Opaque', data: existing.data }
    // There was one: a new password would not open the database, so `reconcile` asks for the old one.
    if (db.status?.credentials !== undefined) return undefined
    return { immutable: true, type: 'Opaque', data: { password: base64(randomBytes(24).toString('base64url')) } }
  }

  @owns(Service)
  service(db: Database) {
    const { port } = ENGINES[db.spec.engine]
    return { metadata: { labels: labelsOf(db) }, spec: { clusterIP: 'None', selector: labelsOf(db), ports: [{ name: 'sql', port }] } }
  }

  @owns(StatefulSet)
  statefulSet(db: Database) {
    const { image, port, passwordVariable, dataPath } = ENGINES[db.spec.engine]
    const password = { name: passwordVariable, valueFrom: { secretKeyRef: { name: credentialsOf(db), key: 'password' } } }
    return {
      metadata: { labels: labelsOf(db) },
      spec: {
        replicas: db.spec.replicas,
        serviceName: db.metadata.name,
        selector: { matchLabels: labelsOf(db) },
        template: {
          metadata: { labels: labelsOf(db) },
          spec: {
            containers: [
              {
                name: 'server',
                image,
                ports: [{ name: 'sql', containerPort: port }],
                env: [password],
                readinessProbe: { tcpSocket: { port: 'sql' } },
                volumeMounts: [{ name: 'data', mountPath: dataPath }],
              },
            ],
          },
        },
        volumeClaimTemplates: [
          { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: db.spec.storage } } } },
        ],
      },
    }
  }

  @onReconcile(Database, { concurrency: 4, timeout: '1m' })
  reconcile(db: Database, ctx: Context<Database>) {
    if (ctx.child(Secret) === undefined) {
      const message = `Secret ${credentialsOf(db)} with the password is gone: restore it`
      return requeueAfter('1m', { reason: 'PasswordLost', message })
    }
    ctx.status.credentials = credentialsOf(db)

    const ready = readyReplicas(ctx.child(StatefulSet))
    if (ready < db.spec.replicas) {
      return requeueAfter('1m', { reason: 'ServersStarting', message: `${ready} of ${db.spec.replicas} servers are ready` })
    }
    ctx.status.endpoint = `${db.metadata.name}.${db.metadata.namespace}.svc:${ENGINES[db.spec.engine].port}`
    ctx.conditions.ready({ reason: 'Serving', message: `serving at ${ctx.status.endpoint}` })
  }

  @onDelete(Database)
  async remove(db: Database, ctx: Context<Database>) {
    if (!db.spec.finalBackup) return
    const order = { backup: db.status?.endpoint ?? db.metadata.name, engine: db.spec.engine }
    const backup = await ctx.external('final-backup', {
      async lookup(call) {
        const response = await provider(call, `/jobs/${encodeURIComponent(call.idempotencyKey)}`)
        return response.status === 404 ? undefined : stateOf(response)
      },
      run: async (call) => stateOf(await provider(call, '/jobs', order)),
      poll: process.env['BACKUP_POLL'] ?? '10s',
    })
    if (!backup.done) return backup.requeue
    ctx.event('Normal', 'BackedUp', `the final backup is at ${backup.value}`)
  }
}

function labelsOf(db: Database): Record<string, string> {
  return { 'app.kubernetes.io/name': db.spec.engine, 'app.kubernetes.io/instance': db.metadata.name }
}

function credentialsOf(db: Database): string {
  return `${db.metadata.name}-credentials`
}

/** The servers that run what was asked for last. */
function readyReplicas(set: StatefulSet | undefined): number {
  const current = set?.status?.observedGeneration === set?.metadata.generation
  return (current ? set?.status?.readyReplicas : undefined) ?? 0
}

/** A GET, or a POST of the body. */
async function provider(call: ExternalCall, path: string, body?: object): Promise<Response> {
  const given = process.env['BACKUP_URL']
  const url = given ?? 'http://127.0.0.1:8088'
  const headers = { 'idempotency-key': call.idempotencyKey, 'content-type': 'application/json' }
  const post = body !== undefined && { method: 'POST', body: JSON.stringify(body) }
  try {
    return await fetch(`${url}${path}`, { headers, signal: call.signal, ...post })
  } catch (error) {
    if (call.signal.aborted) throw error
    const hint = given === undefined ? 'set BACKUP_URL, or start the one for trying out with `npm run job-service`' : 'check BACKUP_URL'
    throw new Error(`the backup provider at ${url} does not answer; ${hint}, or set spec.finalBackup to false`, { cause: error })
  }
}

async function stateOf(response: Response): Promise<ExternalState<string>> {
  if (!response.ok) throw new Error(`the backup provider answered ${response.status}: ${await response.text()}`)
  const job = (await response.json()) as { state: string; message: string; location: string }
  if (job.state === 'failed') return { failed: job.message }
  return job.state === 'done' ? { done: true, value: job.location } : { done: false, message: job.message }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
