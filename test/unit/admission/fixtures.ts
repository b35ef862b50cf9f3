import type { AdmissionRequest, AdmissionResponse } from '../../../lib/admission/review.ts'
import { webhookService } from '../../../lib/admission/service.ts'
import { collect, type HandlerClass } from '../../../lib/decorators/collect.ts'
import { type KubeObject, type Log, type Resource, resource, z } from '../../../lib/index.ts'
import { ManualClock } from '../manual-clock.ts'

export const Box = resource({
  group: 'shop.example.com',
  version: 'v1',
  kind: 'Box',
  spec: z.object({ size: z.int(), colour: z.string().optional(), tags: z.array(z.string()).optional() }),
  versions: [
    {
      version: 'v1alpha1',
      spec: z.object({ dimension: z.string(), colour: z.string().optional(), tags: z.array(z.string()).optional() }),
      to: ({ spec: { dimension, ...rest } }) => ({ spec: { ...rest, size: Number(dimension.replace('cm', '')) } }),
      from: ({ spec: { size, ...rest } }) => ({ spec: { ...rest, dimension: `${size}cm` } }),
    },
  ],
})
export type Box = Resource<typeof Box>

export function box(spec: object, metadata: object = {}, version = 'v1'): KubeObject {
  return {
    apiVersion: `shop.example.com/${version}`,
    kind: 'Box',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec,
  } as never
}

export interface Line {
  readonly level: string
  readonly fields: Record<string, unknown>
  readonly message: string
}

export function logTo(lines: Line[], fields: object = {}): Log {
  const at = (level: string) => (given: object | string, message?: string) =>
    void lines.push({ level, fields: { ...fields, ...(typeof given === 'string' ? {} : given) }, message: message ?? String(given) })
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (more) => logTo(lines, { ...fields, ...more }),
  }
}

/** Puts requests to the one method of a class, as the API server does. */
export function asking(cls: HandlerClass, path: string) {
  const clock = new ManualClock()
  const lines: Line[] = []
  const spec = collect(cls)
  const instance = new (cls as unknown as new () => object)()
  const service = webhookService([{ spec, instance }], { clock, log: logTo(lines) })
  const ask = async (request: Partial<AdmissionRequest>): Promise<AdmissionResponse> => {
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'u1',
        resource: { group: 'shop.example.com', version: 'v1', resource: 'boxes' },
        operation: request.oldObject === undefined ? 'CREATE' : request.object === null ? 'DELETE' : 'UPDATE',
        namespace: 'default',
        userInfo: { username: 'ann', groups: ['people'] },
        dryRun: false,
        ...request,
      },
    }
    const answer = (await service(review, path)) as { apiVersion: string; kind: string; response: AdmissionResponse }
    if (answer.kind !== 'AdmissionReview' || answer.apiVersion !== 'admission.k8s.io/v1') throw new Error('no AdmissionReview')
    return answer.response
  }
  return { ask, clock, lines, service }
}

export function patchOf({ patch }: AdmissionResponse): unknown {
  return patch === undefined ? undefined : JSON.parse(Buffer.from(patch, 'base64').toString())
}
