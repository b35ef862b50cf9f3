/** A server in the process, short words for its requests, and webhooks that are functions. */
import { createServer, type EmbeddedServer, type ServerOptions } from '../../../../lib/embedded/server.ts'
import { type Answer, type Api, apiOf } from '../api.ts'

// biome-ignore lint/suspicious/noExplicitAny: a review as a webhook gets it; the test knows what it expects
export type Review = any

export interface World extends Api {
  readonly server: EmbeddedServer
  /** Registers a webhook of that kind, configured for ConfigMaps of the namespace default unless `over` says otherwise. */
  hook(kind: 'Mutating' | 'Validating', name: string, answer: (request: Review) => object, over?: object): Promise<Answer>
  configMap(name: string, data?: Record<string, string>, more?: object, query?: string): Promise<Answer>
}

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
export const PODS = '/api/v1/namespaces/default/pods'
export const REGISTRATION = '/apis/admissionregistration.k8s.io/v1'

export async function startWorld(options: ServerOptions = {}): Promise<World> {
  const server = await createServer(options)
  const api = apiOf(server)
  return {
    ...api,
    server,
    hook(kind, name, answer, over = {}) {
      server.core.services.set(`default/${name}`, (review) => {
        const { request } = review as Review
        return {
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: { uid: request.uid, allowed: true, ...answer(request) },
        }
      })
      const webhook = {
        name: `${name}.ex.io`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { service: { namespace: 'default', name } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
        ...over,
      }
      return api.post(`${REGISTRATION}/${kind.toLowerCase()}webhookconfigurations`, { metadata: { name }, webhooks: [webhook] })
    },
    configMap: (name, data = {}, more = {}, query = '') => api.post(`${CONFIG_MAPS}${query}`, { metadata: { name, ...more }, data }),
  }
}

export const patchOf = (...operations: object[]) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

export const text = ({ status, body }: Answer): string => `${status} ${body.message ?? ''}`.trim()
