/** A Helm chart of the same objects as everywhere else. What values decide stands in values.yaml, which values.schema.json holds. */

import { needsServing } from '../admission/webhooks.ts'
import { CERTIFICATE_ARGUMENT, CERTIFICATE_MOUNT, certificateVolume } from './cert-manager.ts'
import { definitionsOf } from './crds.ts'
import { type DeployModel, deployParts, REVIEWS } from './deploy.ts'
import { type Manifest, selectorOf } from './operator.ts'
import { type Permission, permissionsOf } from './permissions.ts'
import type { GeneratedFile } from './plan.ts'
import { leasePermissions, roles, serviceAccount, userRoles } from './rbac.ts'
import { Template } from './template.ts'
import { endpointOf, webhookParts, webhookPermissions } from './webhooks.ts'
import { toYaml } from './yaml.ts'

export interface ChartFacts {
  /** Of the chart and of the operator. */
  readonly version: string
  readonly description: string
}

export function chartFiles(model: DeployModel, facts: ChartFacts): GeneratedFile[] {
  const t = new Template()
  // Who the objects are of is decided at the installation.
  const own: DeployModel = {
    ...model,
    name: t.value('include "operator.fullname" .'),
    home: t.value('.Release.Namespace'),
    namespaces: undefined,
  }
  const parts = deployParts(own)
  const labelled = (object: Manifest): Manifest => {
    const { labels, ...metadata } = object.metadata
    return {
      ...object,
      metadata: { ...metadata, labels: { ...labels, [t.lines('{{- include "operator.labels" . | nindent N }}')]: true } },
    } as never
  }
  const file = (path: string, condition: string | undefined, objects: readonly Manifest[]): GeneratedFile[] => {
    if (objects.length === 0) return []
    const text = t.render(...objects.map(labelled))
    return [{ path: `helm/templates/${path}`, content: condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n` }]
  }
  return [
    { path: 'helm/Chart.yaml', content: toYaml(chart(model, facts)) },
    { path: 'helm/values.yaml', content: values(model) },
    { path: 'helm/values.schema.json', content: `${JSON.stringify(valuesSchema(model), undefined, 2)}\n` },
    { path: 'helm/.helmignore', content: '.git/\n*.tgz\n' },
    { path: 'helm/templates/_helpers.tpl', content: HELPERS },
    { path: 'helm/templates/NOTES.txt', content: NOTES },
    ...crdFile(t, own),
    ...file('service-account.yaml', undefined, [accountOf(t, own)]),
    { path: 'helm/templates/roles.yaml', content: rolesText(t, own, labelled) },
    ...file('user-roles.yaml', '.Values.userRoles.enabled', userRoles(definitionsOf(model.specs))),
    ...file('deployment.yaml', undefined, [deploymentOf(t, parts.deployment[0] as Manifest)]),
    ...file(
      'metrics-service.yaml',
      '.Values.metrics.enabled',
      parts.services.filter(isOfMetrics).map((service) => metricsService(t, service)),
    ),
    ...webhookFiles(t, own, file, labelled),
    ...file(
      'network-policy.yaml',
      '.Values.networkPolicy.enabled',
      parts.networkPolicy.map((policy) => policyOf(t, policy)),
    ),
    ...file('fence.yaml', '.Values.fence.enabled', parts.fence),
    ...file('pod-disruption-budget.yaml', '.Values.podDisruptionBudget.enabled', parts.podDisruptionBudget),
    ...file(
      'service-monitor.yaml',
      'and .Values.metrics.enabled .Values.metrics.serviceMonitor.enabled',
      parts.serviceMonitor.map((monitor) => monitorOf(t, monitor)),
    ),
  ]
}

const isOfMetrics = ({ metadata }: Manifest) => metadata.name.endsWith('-metrics')

type File = (path: string, condition: string | undefined, objects: readonly Manifest[]) => GeneratedFile[]

/** The certificate is the operator's own or cert-manager's, by a value. */
function webhookFiles(t: Template, own: DeployModel, file: File, labelled: (object: Manifest) => Manifest): GeneratedFile[] {
  const { service, certificate, configurations } = webhookParts(own)
  if (service.length === 0) return []
  const [issuer, issued] = webhookParts(own, { certManager: true }).certificate.map(labelled) as [Manifest, Manifest]
  const { issuerRef: _, ...spec } = issued['spec'] as { issuerRef: object }
  const signer = t.lines(
    'issuerRef:',
    '{{- if .Values.certManager.issuerRef }}',
    '{{- toYaml .Values.certManager.issuerRef | nindent 4 }}',
    '{{- else }}',
    '  kind: Issuer',
    `  name: '{{ include "operator.fullname" . }}-webhook'`,
    '{{- end }}',
  )
  const parts = [
    '{{- if .Values.certManager.enabled }}\n',
    '{{- if not .Values.certManager.issuerRef }}\n',
    `---\n${t.render(issuer)}`,
    '{{- end }}\n',
    `---\n${t.render({ ...issued, spec: { ...spec, [signer]: true } })}`,
    '{{- else }}\n',
    `---\n${t.render(...certificate.map(labelled))}`,
    '{{- end }}\n',
  ]
  const from = t.lines('{{- if .Values.certManager.enabled }}', 'annotations:', `  ${INJECT}`, '{{- end }}')
  const served = ['- key: kubernetes.io/metadata.name', '  operator: In', '  values:']
  const where = t.lines(
    '{{- with .Values.namespaces }}',
    'namespaceSelector:',
    '  matchExpressions:',
    ...served.map((line) => `    ${line}`),
    '{{- toYaml . | nindent 10 }}',
    '{{- end }}',
  )
  const also = t.lines('{{- with .Values.namespaces }}', ...served, '{{- toYaml . | nindent 8 }}', '{{- end }}')
  const asked = configurations.map((configuration) => {
    const webhooks = (configuration['webhooks'] as AskedWebhook[]).map((webhook) => {
      const { rules, namespaceSelector: { matchExpressions } = { matchExpressions: [] } } = webhook
      // Those of a class that names its namespaces, and of kinds in none, are not the chart's to decide.
      if (matchExpressions.some(({ operator }) => operator === 'In') || rules.some(({ scope }) => scope === 'Cluster')) return webhook
      if (matchExpressions.length === 0) return { ...webhook, [where]: true }
      return { ...webhook, namespaceSelector: { matchExpressions: [...matchExpressions, also] } }
    })
    return { ...configuration, metadata: { ...configuration.metadata, [from]: true }, webhooks } as unknown as Manifest
  })
  return [
    ...file('webhook-service.yaml', undefined, service),
    { path: 'helm/templates/webhook-certificate.yaml', content: parts.join('') },
    ...file('webhook-configurations.yaml', undefined, asked),
  ]
}

interface AskedWebhook {
  readonly rules: readonly { readonly scope: string }[]
  readonly namespaceSelector?: { readonly matchExpressions: readonly { readonly operator: string }[] }
}

const INJECT = `cert-manager.io/inject-ca-from: '{{ .Release.Namespace }}/{{ include "operator.fullname" . }}-webhook'`

function chart({ name }: DeployModel, { version, description }: ChartFacts): object {
  return { apiVersion: 'v2', name, description, type: 'application', version, appVersion: version, kubeVersion: '>=1.30.0-0' }
}

/** Helm neither updates nor removes what is in a chart's folder `crds`; as templates they are kept on uninstall, with the objects they define. */
function crdFile(t: Template, own: DeployModel): GeneratedFile[] {
  const crds = definitionsOf(own.specs, endpointOf(own)).map(({ metadata: { annotations, ...metadata }, ...crd }) => {
    const keep = ['{{- if .Values.crds.keep }}', 'helm.sh/resource-policy: keep', '{{- end }}']
    const inject = ['{{- if .Values.certManager.enabled }}', INJECT, '{{- end }}']
    const all = crd.spec['conversion'] === undefined ? keep : [...keep, ...inject]
    const deeper = all.map((line) => (line.startsWith('{{-') ? line : `  ${line}`))
    const alone =
      all === keep
        ? t.lines('{{- if .Values.crds.keep }}', 'annotations:', '  helm.sh/resource-policy: keep', '{{- end }}')
        : t.lines('{{- if or .Values.crds.keep .Values.certManager.enabled }}', 'annotations:', ...deeper, '{{- end }}')
    const more = annotations === undefined ? { [alone]: true } : { annotations: { ...annotations, [t.lines(...all)]: true } }
    return { apiVersion: crd.apiVersion, kind: crd.kind, metadata: { ...metadata, ...more }, spec: crd.spec }
  })
  if (crds.length === 0) return []
  return [{ path: 'helm/templates/crds.yaml', content: `{{- if .Values.crds.install }}\n${t.render(...crds)}{{- end }}\n` }]
}

function accountOf(t: Template, own: DeployModel): Manifest {
  const account = serviceAccount(own)
  const annotations = t.lines('{{- with .Values.serviceAccount.annotations }}', 'annotations:', '{{- toYaml . | nindent 4 }}', '{{- end }}')
  return { ...account, metadata: { ...account.metadata, [annotations]: true } } as never
}

/** In all namespaces by a ClusterRole, or in some by a Role in each. */
function rolesText(t: Template, own: DeployModel, labelled: (object: Manifest) => Manifest): string {
  const each = t.value('$namespace')
  const bound = own.specs.filter(({ reconcile }) => reconcile.options.namespaces !== undefined)
  const free = own.specs.filter(({ reconcile }) => reconcile.options.namespaces === undefined)
  const everywhere = permissionsOf(own.specs)
  const some = [...permissionsOf(free, { namespaces: [each] }), ...permissionsOf(bound)]
  const render = (permissions: readonly Permission[], name = own.name, start = '') => {
    const objects = roles({ ...own, name }, permissions).map((object) => {
      // Bound is always the account, whatever the role is called.
      const subjects = object['subjects'] as { name: string }[] | undefined
      const of = { ...object, metadata: { ...object.metadata, labels: selectorOf(own) } }
      return labelled(subjects === undefined ? of : { ...of, subjects: subjects.map((subject) => ({ ...subject, name: own.name })) })
    })
    // The context within `range` is the namespace.
    const text = objects.map((object) => `---\n${t.render(object)}`).join('')
    return start === '' ? text : text.replaceAll(/(include "[^"]+") \./g, `$1 ${start}`).replaceAll('{{ .Release', `{{ ${start}.Release`)
  }
  const perNamespace = some.filter(({ namespace }) => namespace === each)
  return [
    '{{- if .Values.namespaces }}\n',
    '{{- range $namespace := .Values.namespaces }}\n',
    render(perNamespace, own.name, '$'),
    '{{- end }}\n',
    render(some.filter(({ namespace }) => namespace === undefined)),
    // The same namespace may be among those of the values.
    render(
      some.filter(({ namespace }) => namespace !== undefined && namespace !== each),
      `${own.name}-elsewhere`,
    ),
    '{{- else }}\n',
    render(everywhere),
    '{{- end }}\n',
    render(leasePermissions(own), `${own.name}-leader-election`),
    ...(needsServing(own.specs)
      ? ['{{- if not .Values.certManager.enabled }}\n', render(webhookPermissions(own), `${own.name}-webhook`), '{{- end }}\n']
      : []),
    '{{- if and .Values.metrics.enabled .Values.metrics.secure }}\n',
    render(REVIEWS, `${own.name}-metrics`),
    '{{- end }}\n',
  ].join('')
}

function deploymentOf(t: Template, deployment: Manifest): Manifest {
  const spec = deployment['spec'] as { template: { metadata: object; spec: Record<string, unknown> } }
  const pod = spec.template.spec
  const [container] = pod['containers'] as [Record<string, unknown>]
  const [metrics, ...ports] = container['ports'] as { name: string; containerPort: number }[]
  const [name, lease, ...webhooks] = (container['args'] as string[]).filter((arg) => /^--(name|lease-name|webhook-service)=/.test(arg))
  const optional = (field: string, value = field) =>
    t.lines(`{{- with .Values.${value} }}`, `${field}:`, '{{- toYaml . | nindent 8 }}', '{{- end }}')
  const served = webhooks.length > 0
  // A member of a list that is there or not.
  const ifIssued = (field: string, item: object) =>
    t.lines(
      '{{- if .Values.certManager.enabled }}',
      ...toYaml({ [field]: [item] })
        .trimEnd()
        .split('\n'),
      '{{- end }}',
    )
  const args = [
    name,
    t.lines('{{- range .Values.namespaces }}', `- '--namespace={{ . }}'`, '{{- end }}'),
    lease,
    ...webhooks,
    ...(served ? [t.lines('{{- if .Values.certManager.enabled }}', `- ${CERTIFICATE_ARGUMENT}`, '{{- end }}')] : []),
    t.lines(
      '{{- if not .Values.metrics.enabled }}',
      '- --metrics-bind-address=0',
      '{{- else if .Values.metrics.secure }}',
      '- --metrics-secure',
      '{{- end }}',
    ),
    `--graceful-shutdown-timeout=${t.value('.Values.drainSeconds')}s`,
    `--log-level=${t.value('.Values.logLevel')}`,
    t.lines('{{- range .Values.args }}', '- {{ quote . }}', '{{- end }}'),
  ]
  return {
    ...deployment,
    spec: {
      ...spec,
      replicas: t.number('.Values.replicas'),
      template: {
        metadata: {
          labels: {
            ...(spec.template.metadata as { labels: object }).labels,
            [t.lines('{{- with .Values.podLabels }}', '{{- toYaml . | nindent N }}', '{{- end }}')]: true,
          },
          annotations: {
            ...(spec.template.metadata as { annotations: object }).annotations,
            [t.lines('{{- with .Values.podAnnotations }}', '{{- toYaml . | nindent N }}', '{{- end }}')]: true,
          },
        },
        spec: {
          [optional('imagePullSecrets')]: true,
          ...pod,
          terminationGracePeriodSeconds: t.number('add .Values.drainSeconds 10'),
          containers: [
            {
              ...container,
              image: t.value('include "operator.image" .'),
              imagePullPolicy: t.value('.Values.image.pullPolicy'),
              args,
              env: [...(container['env'] as object[]), t.lines('{{- with .Values.env }}', '{{- toYaml . | nindent N }}', '{{- end }}')],
              ports: [{ ...metrics, containerPort: t.number('include "operator.metricsPort" .') }, ...ports],
              resources: t.block('.Values.resources'),
              ...(served ? { [ifIssued('volumeMounts', CERTIFICATE_MOUNT)]: true } : {}),
            },
          ],
          ...(served ? { [ifIssued('volumes', certificateVolume({ name: '{{ include "operator.fullname" . }}' }))]: true } : {}),
          [optional('nodeSelector')]: true,
          [optional('tolerations')]: true,
          [optional('affinity')]: true,
          [t.lines('{{- with .Values.priorityClassName }}', 'priorityClassName: {{ quote . }}', '{{- end }}')]: true,
        },
      },
    },
  } as never
}

function metricsService(t: Template, service: Manifest): Manifest {
  const spec = service['spec'] as { ports: object[] }
  return { ...service, spec: { ...spec, ports: [{ ...spec.ports[0], port: t.number('include "operator.metricsPort" .') }] } }
}

function policyOf(t: Template, policy: Manifest): Manifest {
  const spec = policy['spec'] as { ingress: { ports: { port: string }[] }[] }
  const [{ ports }] = spec.ingress as [{ ports: { port: string }[] }]
  const open = ports.filter(({ port }) => port !== 'metrics')
  const from = t.lines('{{- with .Values.networkPolicy.metricsFrom }}', 'from:', '{{- toYaml . | nindent 6 }}', '{{- end }}')
  return {
    ...policy,
    spec: { ...spec, ingress: [{ ports: open }, { ports: ports.filter(({ port }) => port === 'metrics'), [from]: true }] },
  }
}

function monitorOf(t: Template, monitor: Manifest): Manifest {
  const spec = monitor['spec'] as { endpoints: object[] }
  const secure = t.lines(
    '{{- if .Values.metrics.secure }}',
    'scheme: https',
    'tlsConfig:',
    '  insecureSkipVerify: true',
    'bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token',
    '{{- end }}',
  )
  const { labels, ...metadata } = monitor.metadata
  const extra = t.lines('{{- with .Values.metrics.serviceMonitor.labels }}', '{{- toYaml . | nindent N }}', '{{- end }}')
  return {
    ...monitor,
    metadata: { ...metadata, labels: { ...labels, [extra]: true } as never },
    spec: { ...spec, endpoints: [{ port: 'metrics', [secure]: true }] },
  }
}

function values({ image, replicas, drainSeconds, metricsSecure, namespaces, specs }: DeployModel): string {
  const { repository, tag, digest } = splitImage(image)
  const lines = [
    'image:',
    `  ${toYaml({ repository }).trimEnd()}`,
    '  # Default: the version of the chart.',
    `  tag: ${JSON.stringify(tag)}`,
    '  # Goes before the tag: sha256:…',
    `  digest: ${JSON.stringify(digest)}`,
    '  pullPolicy: IfNotPresent',
    'imagePullSecrets: []',
    '',
    '# One works, the others stand by.',
    `replicas: ${replicas}`,
    '# What it serves; none: all namespaces. With some, it gets a Role in each instead of a ClusterRole.',
    namespaces === undefined ? 'namespaces: []' : toYaml({ namespaces }).trimEnd(),
    '# How long runs may go on when the pod is to end; the pod gets 10 s more.',
    `drainSeconds: ${drainSeconds}`,
    'logLevel: info',
    '# More options of tsop-run.',
    'args: []',
    '# More environment, as in a container: what handlers read.',
    'env: []',
    '',
    'resources:',
    '  requests:',
    '    cpu: 50m',
    '    memory: 128Mi',
    '  # No CPU limit: throttled, the operator could lose its lease.',
    '  limits:',
    '    memory: 256Mi',
    '',
    'metrics:',
    '  enabled: true',
    '  # TLS, and only for those who may get /metrics.',
    `  secure: ${metricsSecure}`,
    '  # Needs the kinds of Prometheus Operator.',
    '  serviceMonitor:',
    '    enabled: false',
    '    labels: {}',
    'networkPolicy:',
    '  enabled: true',
    '  # Who may read metrics, as `from` of a NetworkPolicy; none: everybody who reaches the pod.',
    '  metricsFrom: []',
    'podDisruptionBudget:',
    '  enabled: true',
    '# The API server refuses what a former leader still writes.',
    'fence:',
    '  enabled: true',
    ...(needsServing(specs)
      ? [
          '# The certificate of the webhooks: of cert-manager, which has to be there, instead of the operator.',
          'certManager:',
          '  enabled: false',
          '  # Who signs it, as `issuerRef` of a Certificate; none: an Issuer of the chart, by which it signs itself.',
          '  issuerRef: {}',
        ]
      : []),
    '',
    ...(definitionsOf(specs).length === 0
      ? []
      : [
          'crds:',
          '  install: true',
          '  # Stay when the release is uninstalled, and with them all objects of these kinds.',
          '  keep: true',
        ]),
    'userRoles:',
    '  # Viewing and editing the kinds, added to the roles view, edit and admin.',
    '  enabled: true',
    'serviceAccount:',
    '  annotations: {}',
    'podLabels: {}',
    'podAnnotations: {}',
    'nodeSelector: {}',
    'tolerations: []',
    'affinity: {}',
    'priorityClassName: ""',
    'nameOverride: ""',
    'fullnameOverride: ""',
  ]
  return `${lines.join('\n')}\n`
}

/** Only what a value's type does not say by itself. */
function valuesSchema({ specs }: DeployModel): object {
  const text = { type: 'string' }
  const flag = { type: 'boolean' }
  const list = { type: 'array' }
  const map = { type: 'object' }
  const object = (properties: object) => ({ type: 'object', additionalProperties: false, properties })
  const enabled = object({ enabled: flag })
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...object({
      global: map,
      image: object({
        repository: { ...text, minLength: 1 },
        tag: text,
        digest: text,
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      }),
      imagePullSecrets: list,
      replicas: { type: 'integer', minimum: 0 },
      namespaces: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' }, uniqueItems: true },
      drainSeconds: { type: 'integer', minimum: 1 },
      logLevel: { enum: ['trace', 'debug', 'info', 'warn', 'error'] },
      args: { type: 'array', items: text },
      env: list,
      resources: map,
      metrics: object({ enabled: flag, secure: flag, serviceMonitor: object({ enabled: flag, labels: map }) }),
      networkPolicy: object({ enabled: flag, metricsFrom: list }),
      podDisruptionBudget: enabled,
      fence: enabled,
      ...(needsServing(specs) ? { certManager: object({ enabled: flag, issuerRef: map }) } : {}),
      ...(definitionsOf(specs).length === 0 ? {} : { crds: object({ install: flag, keep: flag }) }),
      userRoles: enabled,
      serviceAccount: object({ annotations: map }),
      podLabels: map,
      podAnnotations: map,
      nodeSelector: map,
      tolerations: list,
      affinity: map,
      priorityClassName: text,
      nameOverride: text,
      fullnameOverride: text,
    }),
  }
}

/** `registry:5000/a/b:1.2` */
export function splitImage(image: string): { repository: string; tag: string; digest: string } {
  const [, repository = image, tag = '', digest = ''] = /^(.+?)(?::([\w][\w.-]*))?(?:@(\w[\w.+-]*:\w+))?$/.exec(image) ?? []
  return { repository, tag, digest }
}

const HELPERS = `{{- define "operator.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}{{ .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $name | trunc 45 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "operator.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- end }}

{{- define "operator.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default (.Chart.AppVersion | replace "+" "_") }}{{ end }}
{{- end }}

{{- define "operator.metricsPort" -}}
{{ if .Values.metrics.secure }}8443{{ else }}8080{{ end }}
{{- end }}
`

const NOTES = `The operator runs in {{ .Release.Namespace }}:

    kubectl -n {{ .Release.Namespace }} get pods -l app.kubernetes.io/name={{ include "operator.fullname" . }}
    kubectl -n {{ .Release.Namespace }} logs deploy/{{ include "operator.fullname" . }}

Before you uninstall it, delete the objects of its kinds while it can still clean up after them: tsop uninstall does all of it in order.
`
