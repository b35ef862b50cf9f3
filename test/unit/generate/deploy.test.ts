import { expect } from 'chai'
import { onReconcile, resource, validates, z } from 'tsop'
import { parseOptions } from '../../../lib/cli/options.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { certManagerParts } from '../../../lib/generate/cert-manager.ts'
import { type DeployModel, deployParts } from '../../../lib/generate/deploy.ts'
import { chartFiles, splitImage } from '../../../lib/generate/helm.ts'
import { installFile, kustomizeFiles } from '../../../lib/generate/kustomize.ts'
import { type Manifest, objectName } from '../../../lib/generate/operator.ts'
import { Template } from '../../../lib/generate/template.ts'
import { ConfigMap } from '../../../lib/resource/kinds.ts'
import { parseYaml } from '../../../lib/resource/yaml.ts'
import { CrateHandler } from '../../cluster/fixtures/crate.ts'

const Widget = resource({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ text: z.string().optional().describe('With {{ braces }}.') }),
})

class WidgetHandler {
  @onReconcile(Widget)
  reconcile() {}
}

const MODEL: DeployModel = {
  operator: '@acme/widgets',
  name: 'acme-widgets',
  home: 'widgets',
  namespaces: undefined,
  specs: [collect(WidgetHandler)],
  image: 'registry.example.com/widgets:1.2.3',
  replicas: 2,
  drainSeconds: 45,
  metricsSecure: false,
}

interface Pod {
  terminationGracePeriodSeconds: number
  containers: [{ args: string[]; ports: { name: string; containerPort: number }[] }]
}

/** Every scalar in it. */
const leaves = (value: unknown): unknown[] => (typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value])

const podOf = (model: DeployModel) => (deployParts(model).deployment[0]!['spec'] as { template: { spec: Pod } }).template.spec

describe('the Deployment of an operator', () => {
  it('gives tsop-run options that it understands, the name it had among them', () => {
    const { args } = podOf({ ...MODEL, namespaces: ['a', 'b'] }).containers[0]
    const options = parseOptions(args)
    expect(options.name).to.equal('@acme/widgets')
    expect(options.namespaces).to.deep.equal(['a', 'b'])
    expect(options.leader.leaseName).to.equal('acme-widgets')
    expect(options.graceMs).to.equal(45_000)
  })

  it('leaves the pod more time than its runs', () => {
    expect(podOf(MODEL).terminationGracePeriodSeconds).to.equal(55)
  })

  it('has the ports that tsop-run serves in a cluster', () => {
    const ports = (model: DeployModel) => podOf(model).containers[0].ports.map(({ name, containerPort }) => `${name} ${containerPort}`)
    expect(ports(MODEL)).to.deep.equal(['metrics 8080', 'probes 8081'])
    expect(ports({ ...MODEL, metricsSecure: true })).to.deep.equal(['metrics 8443', 'probes 8081'])
  })
})

describe('the ways to install', () => {
  const parts = deployParts(MODEL)
  const names = (text: string) => parseYaml(text).map(({ value }) => (value as { kind: string }).kind)

  it('have the namespace first, then the definitions, and the Deployment last', () => {
    const kinds = names(installFile(parts).content)
    expect(kinds.slice(0, 3)).to.deep.equal(['Namespace', 'CustomResourceDefinition', 'ServiceAccount'])
    expect(kinds.at(-1)).to.equal('Deployment')
    expect(kinds).to.include.members(['ValidatingAdmissionPolicy', 'Lease', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'])
    expect(kinds).to.not.include('ServiceMonitor')
  })

  it('are of the same objects', () => {
    const files = kustomizeFiles(parts).filter(({ path }) => !path.endsWith('kustomization.yaml'))
    const all = files.filter(({ path }) => !path.includes('monitoring')).flatMap(({ content }) => names(content))
    expect(all).to.have.members(names(installFile(parts).content))
  })
})

describe('the overlay production', () => {
  it('has as many replicas as install.yaml', () => {
    const file = kustomizeFiles(deployParts({ ...MODEL, replicas: 3 })).find(({ path }) => path.endsWith('production/kustomization.yaml'))
    expect(parseYaml(file?.content ?? '')[0]?.value).to.deep.include({ replicas: [{ name: 'acme-widgets', count: 3 }] })
  })
})

describe('the component for cert-manager', () => {
  const model = { ...MODEL, specs: [collect(CrateHandler)] }
  const { added, changed, removed } = certManagerParts(model)!
  const names = (objects: readonly Manifest[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)

  it('brings an issuer and a certificate in place of the Secret that the operator fills', () => {
    expect(names(added)).to.deep.equal(['Issuer acme-widgets-webhook', 'Certificate acme-widgets-webhook'])
    expect(names(removed)).to.deep.equal(['Secret acme-widgets-webhook-tls'])
  })

  it('has cert-manager say whom to trust wherever the operator did, and takes the rights for that', () => {
    const patches = new Map(changed.map(({ object, patch }) => [`${object.kind} ${object.metadata.name}`, JSON.stringify(patch)]))
    for (const each of [
      'MutatingWebhookConfiguration acme-widgets-webhook',
      'ValidatingWebhookConfiguration acme-widgets-webhook',
      'CustomResourceDefinition crates.crates.example.com',
    ])
      expect(patches.get(each), each).to.include('"cert-manager.io/inject-ca-from":"widgets/acme-widgets-webhook"')
    for (const each of ['ClusterRole acme-widgets', 'Role acme-widgets'])
      expect(patches.get(each), each)
        .to.include('/rules')
        .and.to.not.match(/secrets|webhookconfigurations|customresourcedefinitions/)
  })

  it('gives tsop-run the folder that is mounted', () => {
    const [{ patch } = { patch: [] }] = changed.filter(({ object }) => object.kind === 'Deployment')
    const [argument, mounts] = patch.map((operation) => ('value' in operation ? operation.value : undefined))
    const { certificates } = parseOptions([...podOf(model).containers[0].args, String(argument)]).webhooks
    expect((mounts as { mountPath: string }[])[0]?.mountPath).to.equal(certificates)
  })

  it('is not there where the API server asks nothing', () => {
    expect(certManagerParts(MODEL)).to.equal(undefined)
  })
})

describe('a chart', () => {
  const files = new Map(chartFiles(MODEL, { version: '1.2.3', description: 'Widgets' }).map(({ path, content }) => [path, content]))

  it('has the image and the namespaces as values', () => {
    const values = parseYaml(files.get('helm/values.yaml') ?? '')[0]!
    expect(values.value).to.deep.include({ replicas: 2, namespaces: [], drainSeconds: 45 })
    expect((values.value as { image: object }).image).to.include({ repository: 'registry.example.com/widgets', tag: '1.2.3' })
  })

  it('describes all its values in its schema', () => {
    const values = parseYaml(files.get('helm/values.yaml') ?? '')[0]!
    const { properties } = JSON.parse(files.get('helm/values.schema.json') ?? '{}') as { properties: object }
    expect(Object.keys(properties)).to.have.members(['global', ...Object.keys(values.value as object)])
  })

  it('takes namespaces that are called like numbers', () => {
    const made = chartFiles({ ...MODEL, namespaces: ['2026', '1e3'] }, { version: '1.2.3', description: 'Widgets' })
    const textOf = (path: string) => made.find((file) => file.path === path)?.content ?? ''
    expect(parseYaml(textOf('helm/values.yaml'))[0]!.value).to.deep.include({ namespaces: ['2026', '1e3'] })
    expect(textOf('helm/templates/roles.yaml'))
      .to.include('namespace: {{ $namespace | quote }}')
      .and.not.include('namespace: {{ $namespace }}')
  })

  it('reads every name as a text, also where release, namespace and fullnameOverride are called like numbers', () => {
    const made = chartFiles({ ...MODEL, specs: [collect(CrateHandler)] }, { version: '1.2.3', description: 'Crates' })
    const ofNumbers = /^(?:\.Values\.replicas|add \.Values\.drainSeconds 10|include "operator\.metricsPort" \.)$/
    const templates = made.filter(({ path }) => /^helm\/templates\/.*\.(?:yaml|tpl)$/.test(path))
    const lines = templates.flatMap(({ path, content }) => content.split('\n').map((line) => ({ path, line: line.trim() })))
    // Whole lines of an action are no scalars; a mapping or a list of one line is YAML by itself.
    const scalars = lines.filter(({ line }) => /\{\{ /.test(line) && !line.startsWith('{{'))
    expect(scalars).to.have.length.above(100)
    for (const { path, line } of scalars) {
      const rendered = line.replace(/\{\{ (.*?) \}\}/g, (_, expression: string) => {
        if (ofNumbers.test(expression)) return '8'
        return /^quote |\| quote$/.test(expression) ? '"2026"' : '2026'
      })
      expect(leaves(parseYaml(rendered)[0]?.value), `${path}: ${line}`).to.not.include(2026)
    }
  })

  it('asks about kinds of Kubernetes in the namespaces of its values, but never in that of the release', () => {
    class Maps {
      @onReconcile(ConfigMap) reconcile() {}
      @validates(ConfigMap) validate() {}
    }
    const made = chartFiles({ ...MODEL, specs: [collect(Maps)] }, { version: '1.2.3', description: 'Widgets' })
    const text = made.find(({ path }) => path === 'helm/templates/webhook-configurations.yaml')?.content ?? ''
    const rendered = text
      .replace(/\{\{- toYaml \. .*/, '      - first')
      .replace(/^\{\{-.*\n/gm, '')
      .replace(/\{\{ .*? \}\}/g, 'ops')
    expect(parseYaml(rendered)[0]?.value).to.have.deep.nested.property('webhooks[0].namespaceSelector.matchExpressions', [
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['ops', 'kube-system'] },
      { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['first'] },
    ])
    expect(text.match(/\{\{- with \.Values\.namespaces \}\}/g)).to.have.length(1)
  })

  it('leaves braces alone that are not its own', () => {
    expect(files.get('helm/templates/crds.yaml')).to.include('With {{ "{{" }} braces }}.')
  })

  it('makes a label and a tag of a version with build metadata, in which neither has a +', () => {
    const helpers = files.get('helm/templates/_helpers.tpl')
    expect(helpers).to.include('app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | trunc 63 | quote }}')
    expect(helpers).to.include('default (.Chart.AppVersion | replace "+" "_")')
  })

  it('leaves no mark behind', () => {
    for (const [path, content] of files) expect(content, path).to.not.include('TEMPLATE-MARK')
  })
})

describe('a template', () => {
  it('puts expressions into values, and lines between members', () => {
    const t = new Template()
    const text = t.render({
      a: `x-${t.value('.Values.a')}`,
      [t.lines('{{- if .Values.b }}', 'b: 1', '{{- end }}')]: true,
      c: t.block('.Values.c'),
    })
    expect(text).to.equal('a: x-{{ .Values.a }}\n{{- if .Values.b }}\nb: 1\n{{- end }}\nc: {{- toYaml .Values.c | nindent 2 }}\n')
  })

  it('quotes what is a text, or begins with one, and no number', () => {
    const t = new Template()
    const text = t.render({ a: t.value('.a'), b: [t.value('.b'), { c: `${t.value('.c')}:${t.value('.d')}` }], e: t.number('.e') })
    expect(text).to.equal("a: {{ .a | quote }}\nb:\n- {{ .b | quote }}\n- c: '{{ .c }}:{{ .d }}'\ne: {{ .e }}\n")
  })
})

describe('names', () => {
  it('of packages become names of objects', () => {
    const names = ['@acme/database-operator', 'Shop', '9lives', '---', 'a'.repeat(80)].map(objectName)
    expect(names).to.deep.equal(['acme-database-operator', 'shop', 'operator-9lives', 'operator', 'a'.repeat(45)])
  })

  it('of images have a tag, a port, or both', () => {
    expect(['a', 'a:1', 'r:5000/a', 'r:5000/a:1'].map(splitImage)).to.deep.equal([
      { repository: 'a', tag: '', digest: '' },
      { repository: 'a', tag: '1', digest: '' },
      { repository: 'r:5000/a', tag: '', digest: '' },
      { repository: 'r:5000/a', tag: '1', digest: '' },
    ])
  })

  it('of images have a digest, which is no tag', () => {
    const digest = `sha256:${'a'.repeat(64)}`
    expect([`r:5000/a@${digest}`, `a:1@${digest}`].map(splitImage)).to.deep.equal([
      { repository: 'r:5000/a', tag: '', digest },
      { repository: 'a', tag: '1', digest },
    ])
  })
})
