/** A pod stays five minutes on a node that is not ready or cannot be reached, unless it says otherwise. */
import type { AdmissionPlugin } from '../core.ts'
import { isResource } from './refusal.ts'

const KEYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const EFFECT = 'NoExecute'

interface Toleration {
  readonly key?: string
  readonly effect?: string
}

export const defaultTolerations = (): AdmissionPlugin => ({
  name: 'DefaultTolerationSeconds',
  mutate(request) {
    const { object, operation } = request
    if (object === undefined || operation === 'DELETE' || !isResource(request, '/pods')) return
    const given: readonly Toleration[] = object.spec.tolerations ?? []
    const tolerated = (key: string) => given.some((each) => (!each.key || each.key === key) && (!each.effect || each.effect === EFFECT))
    const missing = KEYS.filter((key) => !tolerated(key))
    if (missing.length === 0) return
    const added = missing.map((key) => ({ key, operator: 'Exists', effect: EFFECT, tolerationSeconds: 300 }))
    object.spec.tolerations = [...given, ...added]
  },
})
