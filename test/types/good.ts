/** What a handler file looks like: compiled and run in both dialects of decorators. */

import { collect } from '../../lib/decorators/collect.ts'
import {
  type AdmissionContext,
  type Context,
  defaults,
  Invalid,
  onDelete,
  onReconcile,
  owns,
  type Resource,
  type Result,
  requeueAfter,
  resource,
  resourceFrom,
  validates,
  type WatchContext,
  watches,
  z,
} from '../../lib/index.ts'
import { ConfigMap, Ingress, Job, NetworkPolicy, Secret, Service, StatefulSet } from '../../lib/resource/kinds.ts'

export const Database = resource({
  group: 'db.example.com',
  version: 'v1alpha1',
  kind: 'Database',
  spec: z.object({
    engine: z.enum(['postgres', 'mysql']).default('postgres'),
    replicas: z.int().min(1).max(7).default(1),
    storage: z.string().default('1Gi'),
    secret: z.string().optional(),
  }),
  status: z.object({ endpoint: z.string().optional(), replicas: z.int() }),
})
export type Database = Resource<typeof Database>

export class DatabaseHandler {
  @owns(StatefulSet)
  statefulSet(db: Database) {
    const labels = { app: db.metadata.name }
    return {
      spec: {
        replicas: db.spec.replicas,
        serviceName: db.metadata.name,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: db.spec.engine }] } },
      },
    }
  }

  @owns(Service)
  async services(db: Database, ctx: Context<Database>) {
    const secret = await ctx.get(Secret, 'password')
    if (secret === undefined) return undefined
    return [{ metadata: { name: 'read' }, spec: { ports: [{ port: 5432 }] } }, { metadata: { name: `${db.metadata.name}-write` } }]
  }

  @owns(NetworkPolicy, { suffix: 'peers' })
  policy() {
    return { spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] } }
  }

  @owns(Ingress)
  noIngress(_db: Database) {
    return undefined
  }

  @owns(Job)
  async job(db: Database) {
    return db.spec.replicas > 1 ? [] : null
  }

  @watches(Secret, { labels: { app: 'db' }, when: (secret) => secret.type === 'Opaque' })
  secret(secret: Secret, ctx: WatchContext<Database>) {
    return ctx
      .primaries()
      .filter((db) => db.spec.secret === secret.metadata.name)
      .map((db) => db.metadata)
  }

  @onReconcile(Database, { concurrency: 4, timeout: '1m', when: (db) => db.spec.replicas > 0 })
  @owns(ConfigMap)
  async reconcile(db: Database, ctx: Context<Database>): Promise<Result> {
    const set = ctx.child(StatefulSet)
    if ((set?.status?.readyReplicas ?? 0) < db.spec.replicas) return requeueAfter('10s', { reason: 'PodsStarting' })
    const started: string | undefined = set?.metadata.creationTimestamp
    await ctx.apply(ConfigMap, { data: { started: started ?? '' } })
    ctx.status.endpoint = `${db.metadata.name}.${db.metadata.namespace}.svc:5432`
    ctx.status.replicas = undefined
    ctx.conditions.set({ type: 'BackedUp', status: 'True', reason: 'Done' })
    const backup = await ctx.external<{ url: string }>('backup', {
      lookup: async () => undefined,
      run: async ({ idempotencyKey }) => ({ done: true, value: { url: idempotencyKey } }),
    })
    if (!backup.done) return backup.requeue
    ctx.log.info({ url: backup.value.url }, 'backed up')
  }

  @defaults(Database, { on: ['create'] })
  async fill(db: Database) {
    db.spec.secret ??= db.metadata.name
  }

  @validates(Database, { on: ['create', 'update', 'delete'], timeout: '5s' })
  async validate(db: Database, old: Database | undefined, { operation, user, dryRun, warn }: AdmissionContext) {
    if (dryRun) warn(`${operation} by ${user.username}`)
    if (old !== undefined && db.spec.engine !== old.spec.engine) throw new Invalid('is immutable', { field: 'spec.engine' })
    return db.spec.replicas % 2 === 0
      ? [new Invalid('must be odd', { field: 'spec.replicas', reason: 'FieldValueNotSupported' })]
      : undefined
  }

  @onDelete(Database, { finalizer: 'db.example.com/backup' })
  remove(_db: Database, _ctx: Context<Database>) {}
}

export class ChildOfHandler extends DatabaseHandler {
  override async reconcile(db: Database, ctx: Context<Database>): Promise<Result> {
    return super.reconcile(db, ctx)
  }
}

/** Each function sees the types of its own version. */
export const Cluster = resource({
  group: 'db.example.com',
  version: 'v1',
  kind: 'Cluster',
  spec: z.object({ nodes: z.int() }),
  status: z.object({ ready: z.int().optional() }),
  versions: [
    {
      version: 'v1alpha1',
      spec: z.object({ size: z.string() }),
      to: ({ spec: { size }, metadata }) => ({
        spec: { nodes: Number(size) },
        metadata: { annotations: { ...metadata.annotations, size } },
      }),
      from: ({ spec: { nodes }, status }) => ({ spec: { size: String(nodes + (status?.ready ?? 0)) } }),
    },
    {
      version: 'v1beta1',
      spec: z.object({ count: z.int() }),
      to: ({ spec }) => ({ spec: { nodes: spec.count } }),
      from: ({ spec }) => ({ spec: { count: spec.nodes } }),
    },
    { version: 'v1beta2', spec: z.object({ nodes: z.int() }) },
  ],
})

interface Certificate {
  metadata: { name: string; uid: string; resourceVersion: string }
  spec: { secretName: string }
}
const Certificate = resourceFrom<Certificate>({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  spec: {
    group: 'certs.example.com',
    scope: 'Namespaced',
    names: { kind: 'Certificate', plural: 'certificates' },
    versions: [{ name: 'v1', served: true, storage: true }],
  },
})

export class CertificateHandler {
  @onReconcile(Certificate)
  reconcile(certificate: Certificate): Result {
    return certificate.spec.secretName === '' ? requeueAfter(1000) : undefined
  }
}

export class PlainHandler {
  @onReconcile(Certificate)
  @owns(ConfigMap)
  @owns(Secret)
  async reconcile(certificate: Certificate, ctx: Context<Certificate>) {
    await ctx.apply(ConfigMap, { data: { secret: certificate.spec.secretName } })
  }
}

for (const cls of [DatabaseHandler, ChildOfHandler, CertificateHandler]) {
  const {
    className,
    kind,
    reconcile,
    onDelete: deletion,
    owns: owned,
    watches: watched,
    validates: validators = [],
    defaults: filling,
  } = collect(cls)
  const children = owned.map((child) => `${child.method}:${child.kind.kind}:${child.builder}:${child.suffix ?? ''}`).sort()
  const asked = [...validators, ...(filling === undefined ? [] : [filling])].map(({ method }) => method)
  process.stdout.write(
    `${JSON.stringify([className, kind.kind, reconcile.method, reconcile.options.concurrency ?? null, deletion ?? null, children, watched.map((watch) => `${watch.method}:${watch.kind.kind}`), asked])}\n`,
  )
}
