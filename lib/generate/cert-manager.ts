/**
 * A deployment whose webhooks have their certificate from cert-manager instead of the operator: what that adds, and what the operator then need not
 * have. Kustomize gets it as a component, the chart as a value.
 */

import { jsonPatch } from '../admission/json-patch.ts'
import { needsServing } from '../admission/webhooks.ts'
import type { JsonPatchOperation } from '../resource/context-client.ts'
import { definitionsOf } from './crds.ts'
import { type DeployModel, deployPermissions } from './deploy.ts'
import type { Manifest, OperatorModel } from './operator.ts'
import { roles } from './rbac.ts'
import { endpointOf, injected, injectFrom, webhookParts, webhookSecretName } from './webhooks.ts'

/** Where the container finds `tls.crt` and `tls.key`. */
const FOLDER = '/etc/webhook-certs'
const VOLUME = 'webhook-certs'

/** For the container and its pod. */
export const CERTIFICATE_ARGUMENT = `--webhook-cert-path=${FOLDER}`
export const CERTIFICATE_MOUNT = { name: VOLUME, mountPath: FOLDER, readOnly: true } as const
export const certificateVolume = (model: Pick<OperatorModel, 'name'>) => ({
  name: VOLUME,
  secret: { secretName: webhookSecretName(model) },
})

export interface CertManagerParts {
  /** The issuer and the certificate. */
  readonly added: readonly Manifest[]
  readonly changed: readonly { readonly object: Manifest; readonly patch: readonly JsonPatchOperation[] }[]
  readonly removed: readonly Manifest[]
}

/** Undefined: the API server asks the operator nothing. */
export function certManagerParts(model: DeployModel): CertManagerParts | undefined {
  if (!needsServing(model.specs)) return undefined
  const own = webhookParts(model)
  const given = webhookParts(model, { certManager: true })
  const definitions = definitionsOf(model.specs, endpointOf(model))
  const before = [...own.configurations, ...(definitions as unknown as Manifest[]), ...roles(model, deployPermissions(model))]
  const after = [
    ...given.configurations,
    ...(definitions.map((crd) => injected(crd, injectFrom(model))) as unknown as Manifest[]),
    ...roles(model, deployPermissions(model, { certManager: true })),
  ]
  const same = (a: Manifest) => (b: Manifest) =>
    a.kind === b.kind && a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace
  const changed = before.flatMap((object) => {
    const other = after.find(same(object))
    const patch = other === undefined ? [] : jsonPatch(object, other)
    return patch.length === 0 ? [] : [{ object, patch }]
  })
  const pod = '/spec/template/spec'
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: model.name, namespace: model.home } }
  const mounted: JsonPatchOperation[] = [
    { op: 'add', path: `${pod}/containers/0/args/-`, value: CERTIFICATE_ARGUMENT },
    { op: 'add', path: `${pod}/containers/0/volumeMounts`, value: [CERTIFICATE_MOUNT] },
    { op: 'add', path: `${pod}/volumes`, value: [certificateVolume(model)] },
  ]
  return {
    added: given.certificate,
    changed: [{ object: deployment, patch: mounted }, ...changed],
    removed: [...own.certificate, ...before.filter((object) => !after.some(same(object)))],
  }
}
