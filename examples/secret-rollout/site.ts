/** Sites: a Deployment each, rolled anew whenever the Secret it reads has changed. The Secret is somebody else's. */
import { createHash } from 'node:crypto'
import { type Context, onReconcile, owns, type Resource, requeueAfter, resource, type WatchContext, watches, z } from 'tsop'
import { Deployment, Secret } from 'tsop/kinds'

export const Site = resource({
  group: 'web.example.com',
  version: 'v1alpha1',
  kind: 'Site',
  spec: z.object({
    image: z.string().min(1),
    secretName: z.string().min(1).describe('The Secret whose keys become environment variables of the pods.'),
    replicas: z.int().min(0).default(1),
  }),
})
export type Site = Resource<typeof Site>

export class SiteHandler {
  /** Kubernetes does not restart pods when a Secret changes. A changed pod template does it, so the template carries a checksum. */
  @onReconcile(Site)
  @owns(Deployment)
  async reconcile(site: Site, ctx: Context<Site>) {
    const { image, secretName, replicas } = site.spec
    const secret = await ctx.get(Secret, secretName)
    // No error, and no hurry: `usedBy` wakes this site as soon as the Secret is there. Until then the pods stay as they are.
    if (secret === undefined) return requeueAfter('10m', { reason: 'SecretMissing', message: `there is no Secret ${secretName}` })

    const labels = { 'app.kubernetes.io/name': 'site', 'app.kubernetes.io/instance': site.metadata.name }
    await ctx.apply(Deployment, {
      metadata: { labels },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { 'web.example.com/secret-checksum': checksum(secret) } },
          spec: { containers: [{ name: 'site', image, envFrom: [{ secretRef: { name: secretName } }] }] },
        },
      },
    })
  }

  @watches(Secret)
  usedBy(secret: Secret, ctx: WatchContext<Site>) {
    const { name, namespace } = secret.metadata
    const sites = ctx.primaries(namespace === undefined ? {} : { namespace })
    return sites.filter((site) => site.spec.secretName === name).map((site) => site.metadata)
  }
}

/** Of the contents only: a new label on the Secret restarts nothing. */
function checksum({ data = {} }: Secret): string {
  const entries = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex')
}
