/** `tsop generate webhooks` */

import { webhookParts } from '../generate/webhooks.ts'
import { toYaml } from '../generate/yaml.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator } from './generator.ts'
import { OPERATOR_OPTIONS, operatorModel } from './operator-model.ts'

export const webhooks: Generator = {
  takes: 'handlers',
  about:
    "Writes what lets the API server ask the operator about objects: the webhook configurations of @validates and @defaults, the operator's Service, and its certificate, which the operator makes and renews itself, or cert-manager. Definitions with conversions name the same Service: see generate crds; the rights for it are among those of generate rbac.",
  output: 'config/webhook',
  options: [
    ...OPERATOR_OPTIONS,
    {
      name: 'cert-manager',
      sentence: 'Have cert-manager make the certificate; mount its Secret, and give tsop-run its directory by --webhook-cert-path.',
    },
  ],
  generate(input) {
    const { service, certificate, configurations } = webhookParts(operatorModel(input), { certManager: input.options.flag('cert-manager') })
    if (service.length === 0) {
      const what = 'have no method with @validates or @defaults, and no conversion'
      throw new CliError(exitCodes.configuration, `generate webhooks: the handlers in ${input.paths.join(', ')} ${what}`)
    }
    const files = [
      { path: 'service.yaml', objects: service },
      { path: 'certificate.yaml', objects: certificate },
      { path: 'configurations.yaml', objects: configurations },
    ].filter(({ objects }) => objects.length > 0)
    const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: files.map(({ path }) => path) }
    return [
      ...files.map(({ path, objects }) => ({ path, content: toYaml(...objects) })),
      { path: 'kustomization.yaml', content: toYaml(kustomization) },
    ]
  },
}
