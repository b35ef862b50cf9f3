/**
 * What the API server asks the operator about, as OLM wants to know it: it makes the Service, the certificate and the configurations itself
 * (https://olm.operatorframework.io/docs/advanced-tasks/adding-admission-and-conversion-webhooks/).
 */

import { webhookConfigurations } from '../admission/configurations.ts'
import { CONVERT_PATH, convertedKinds, webhooksOf } from '../admission/webhooks.ts'
import { WEBHOOK_PORT } from './deploy.ts'
import type { OperatorModel } from './operator.ts'
import { endpointOf } from './webhooks.ts'

const TYPES = { MutatingWebhookConfiguration: 'MutatingAdmissionWebhook', ValidatingWebhookConfiguration: 'ValidatingAdmissionWebhook' }

export function webhookDefinitions(model: OperatorModel): object[] {
  const where = { deploymentName: model.name, containerPort: 443, targetPort: WEBHOOK_PORT }
  const paths = new Map(webhooksOf(model.specs).map(({ name, path }) => [name, path]))
  const admission = webhookConfigurations(model.specs, { name: model.name, endpoint: endpointOf(model) }).flatMap(({ kind, webhooks }) =>
    // Whom to call is OLM's to say. So is in which namespaces: its webhookdefinitions have no field for them.
    webhooks.map(({ name, clientConfig: _, namespaceSelector: __, ...webhook }) => ({
      type: TYPES[kind],
      generateName: name,
      ...where,
      webhookPath: paths.get(name),
      ...webhook,
    })),
  )
  const converted = convertedKinds(model.specs).flatMap(({ crd }) => (crd === undefined ? [] : [crd]))
  const conversions = converted.map(({ metadata: { name } }) => ({
    type: 'ConversionWebhook',
    generateName: `convert.${name}`,
    ...where,
    webhookPath: CONVERT_PATH,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    conversionCRDs: [name],
  }))
  return [...admission, ...conversions]
}
