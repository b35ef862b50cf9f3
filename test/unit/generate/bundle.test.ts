import { expect } from 'chai'
import { defaults, kind, onDelete, onReconcile, owns, resource, validates, watches, z } from 'tsop'
import { ConfigMap, Secret, StatefulSet } from 'tsop/kinds'
import { parseOptions } from '../../../lib/cli/options.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { type BundleFacts, type BundleModel, bundleFiles } from '../../../lib/generate/bundle.ts'
import { BundleError, csvName, widened } from '../../../lib/generate/csv.ts'
import { descriptorsOf, displayNameOf } from '../../../lib/generate/descriptors.ts'
import type { Schema } from '../../../lib/resource/schema.ts'
import { parseYaml } from '../../../lib/resource/yaml.ts'

const Widget = resource({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({
    replicas: z.int().describe('How many.'),
    mode: z.enum(['fast', 'slow']).describe('How.'),
    silent: z.boolean().optional().describe('Without a word.'),
    plain: z.string().optional(),
    backup: z.object({ schedule: z.string().describe('When.') }).optional(),
    parts: z
      .array(z.object({ size: z.number().describe('How large.') }))
      .optional()
      .describe('Of what.'),
  }),
  status: z.object({ url: z.string().optional().describe('Where.') }),
})

class WidgetHandler {
  @owns(StatefulSet) set() {
    return {}
  }
  @owns(Secret, { suffix: 'a' }) a() {
    return {}
  }
  @owns(Secret, { suffix: 'b' }) b() {
    return {}
  }
  @onReconcile(Widget) reconcile() {}
}

const FACTS: BundleFacts = {
  version: '1.2.3',
  displayName: 'Widgets',
  summary: 'All about widgets.',
  description: '# Widgets\n',
  provider: { name: 'Acme', url: 'https://acme.example.com' },
  maintainers: [{ name: 'Ann', email: 'ann@example.com' }],
  links: [],
  keywords: ['widget'],
  categories: ['Database', 'Storage'],
  capabilities: 'Basic Install',
  icon: { base64data: 'PHN2Zy8+', mediatype: 'image/svg+xml' },
  minKubeVersion: '1.30.0',
  channels: ['stable', 'fast'],
  skips: [],
  architectures: [],
  kinds: { Widget: { description: 'A widget.' } },
}

const MODEL: BundleModel = {
  operator: '@acme/widgets',
  name: 'acme-widgets',
  home: 'widgets',
  namespaces: undefined,
  specs: [collect(WidgetHandler)],
  image: 'registry.example.com/widgets:1.2.3',
  replicas: 2,
  drainSeconds: 20,
  metricsSecure: false,
  facts: FACTS,
  examples: [{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'small' }, spec: { replicas: 1 } }],
}

const of = (cls: new () => object, more: Partial<BundleModel> = {}): BundleModel => ({ ...MODEL, specs: [collect(cls)], ...more })
const saying = (facts: Partial<BundleFacts>): BundleModel => ({ ...MODEL, facts: { ...FACTS, ...facts } })

interface Rule {
  readonly apiGroups: string[]
  readonly resources: string[]
  readonly resourceNames?: string[]
  readonly verbs: string[]
}
interface Csv {
  readonly metadata: { name: string; annotations: Record<string, string>; labels?: Record<string, string> }
  readonly spec: {
    readonly installModes: { type: string; supported: boolean }[]
    readonly customresourcedefinitions: { owned?: Record<string, unknown>[] }
    readonly webhookdefinitions?: Record<string, unknown>[]
    readonly install: {
      readonly spec: {
        readonly deployments: [{ name: string; spec: { template: { spec: { serviceAccountName: string; containers: [Container] } } } }]
        readonly permissions?: { serviceAccountName: string; rules: Rule[] }[]
        readonly clusterPermissions?: { serviceAccountName: string; rules: Rule[] }[]
      }
    }
    readonly [field: string]: unknown
  }
}
interface Container {
  readonly args: string[]
  readonly env: { name: string; valueFrom: { fieldRef: { fieldPath: string } } }[]
  readonly readinessProbe: { httpGet: { path: string } }
}

const texts = (model: BundleModel) => new Map(bundleFiles(model).map(({ path, content }) => [path, content]))
const csvOf = (model: BundleModel) =>
  parseYaml(texts(model).get('manifests/acme-widgets.clusterserviceversion.yaml') ?? '')[0]?.value as Csv
const containerOf = (model: BundleModel) => csvOf(model).spec.install.spec.deployments[0].spec.template.spec.containers[0]
const modesOf = (model: BundleModel) => csvOf(model).spec.installModes.flatMap(({ type, supported }) => (supported ? [type] : []))
const rights = (lists: { rules: Rule[] }[] | undefined) =>
  (lists ?? []).flatMap(({ rules }) =>
    rules.flatMap(({ resources, verbs, resourceNames = [''] }) =>
      resources.flatMap((resource) => verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${resource} ${name}`.trim()))),
    ),
  )

describe('a bundle', () => {
  /** What OLM takes (https://github.com/operator-framework/operator-registry/blob/master/pkg/lib/bundle/supported_resources.go). */
  const TAKEN = ['ClusterServiceVersion', 'CustomResourceDefinition', 'ClusterRole', 'PodDisruptionBudget', 'Service']

  it('has one object a file, of kinds that OLM takes, none of them in a namespace', () => {
    for (const [path, content] of texts(MODEL)) {
      if (!path.startsWith('manifests/')) continue
      const objects = parseYaml(content).map(({ value }) => value as { kind: string; metadata: object })
      expect(objects, path).to.have.length(1)
      expect(TAKEN, path).to.include(objects[0]?.kind)
      expect(objects[0]?.metadata, path).to.not.have.property('namespace')
    }
  })

  it('leaves the service account to OLM, and what OLM does not take', () => {
    const all = [...texts(MODEL).values()].join('---\n')
    for (const kind of ['ServiceAccount', 'Lease', 'NetworkPolicy', 'ValidatingAdmissionPolicy', 'Namespace', 'Deployment'])
      expect(all).to.not.match(new RegExp(`^kind: ${kind}$`, 'm'))
  })

  it('says in its metadata and in its image what it is, and which channels it is in', () => {
    const [metadata] = parseYaml(texts(MODEL).get('metadata/annotations.yaml') ?? '').map(({ value }) => value as { annotations: object })
    const annotations = metadata?.annotations ?? {}
    expect(annotations).to.deep.equal({
      'operators.operatorframework.io.bundle.mediatype.v1': 'registry+v1',
      'operators.operatorframework.io.bundle.manifests.v1': 'manifests/',
      'operators.operatorframework.io.bundle.metadata.v1': 'metadata/',
      'operators.operatorframework.io.bundle.package.v1': 'acme-widgets',
      'operators.operatorframework.io.bundle.channels.v1': 'stable,fast',
      'operators.operatorframework.io.bundle.channel.default.v1': 'stable',
    })
    const dockerfile = texts(MODEL).get('bundle.Dockerfile') ?? ''
    for (const [key, value] of Object.entries(annotations)) expect(dockerfile).to.include(`LABEL ${key}=${value}\n`)
    expect(dockerfile).to.match(/^FROM scratch\n[\s\S]*COPY manifests \/manifests\/\nCOPY metadata \/metadata\/\n$/)
  })

  it('has definitions without a webhook: OLM writes whom to ask', () => {
    expect(texts(of(CrateHandler)).get('manifests/crates.example.com.crd.yaml'))
      .to.include('kind: Crate')
      .and.not.include('conversion:')
  })
})

describe('the ClusterServiceVersion', () => {
  it('says what people said', () => {
    const { metadata, spec } = csvOf(MODEL)
    expect(metadata.name).to.equal('acme-widgets.v1.2.3')
    expect(metadata.annotations).to.include({
      capabilities: 'Basic Install',
      categories: 'Database, Storage',
      containerImage: 'registry.example.com/widgets:1.2.3',
      description: 'All about widgets.',
      'operatorframework.io/suggested-namespace': 'widgets',
    })
    expect(spec).to.deep.include({
      displayName: 'Widgets',
      description: '# Widgets\n',
      version: '1.2.3',
      minKubeVersion: '1.30.0',
      provider: { name: 'Acme', url: 'https://acme.example.com' },
      maintainers: [{ name: 'Ann', email: 'ann@example.com' }],
      keywords: ['widget'],
      icon: [{ base64data: 'PHN2Zy8+', mediatype: 'image/svg+xml' }],
    })
  })

  it('has no field for what nobody said', () => {
    const { icon: _, summary: __, ...facts } = FACTS
    const { metadata, spec } = csvOf({ ...MODEL, facts: { ...facts, keywords: [], categories: [], maintainers: [] } })
    expect(spec).to.not.have.any.keys('icon', 'keywords', 'maintainers', 'links', 'replaces', 'skips', 'maturity', 'webhookdefinitions')
    expect(metadata.annotations).to.not.have.any.keys('description', 'categories', 'repository', 'olm.skipRange')
    expect(metadata).to.not.have.property('labels')
  })

  it('names the versions that come before it, as their ClusterServiceVersions are named', () => {
    const { metadata, spec } = csvOf(saying({ replaces: '1.2.2', skips: ['1.2.0', '1.2.1'], skipRange: '>=1.0.0 <1.2.3' }))
    expect(spec).to.deep.include({ replaces: 'acme-widgets.v1.2.2', skips: ['acme-widgets.v1.2.0', 'acme-widgets.v1.2.1'] })
    expect(metadata.annotations['olm.skipRange']).to.equal('>=1.0.0 <1.2.3')
  })

  it('says on which processors it runs, where that is known', () => {
    expect(csvOf(saying({ architectures: ['amd64', 'arm64'] })).metadata.labels).to.deep.equal({
      'operatorframework.io/arch.amd64': 'supported',
      'operatorframework.io/arch.arm64': 'supported',
      'operatorframework.io/os.linux': 'supported',
    })
  })

  it('shows the examples', () => {
    expect(JSON.parse(csvOf(MODEL).metadata.annotations['alm-examples'] ?? '')).to.deep.equal(MODEL.examples)
  })

  it('refuses a name that cannot be the value of a label', () => {
    expect(csvName({ name: 'a' }, '1.0.0-rc.1')).to.equal('a.v1.0.0-rc.1')
    for (const version of ['1.0.0+build', '1.0.0-RC', `1.0.0-${'x'.repeat(60)}`])
      expect(() => csvName({ name: 'a' }, version), version).to.throw(BundleError, /cannot be the name/)
  })
})

describe('a kind in the ClusterServiceVersion', () => {
  it('has its name, what it is, and what belongs to it, each once', () => {
    const [owned] = csvOf(MODEL).spec.customresourcedefinitions.owned ?? []
    expect(owned).to.deep.include({
      name: 'widgets.example.com',
      version: 'v1',
      kind: 'Widget',
      displayName: 'Widget',
      description: 'A widget.',
    })
    expect(owned?.['resources']).to.deep.equal([
      { kind: 'StatefulSet', name: '', version: 'v1' },
      { kind: 'Secret', name: '', version: 'v1' },
    ])
    expect(owned?.['statusDescriptors']).to.deep.include.members([
      { path: 'url', displayName: 'Url', description: 'Where.', 'x-descriptors': ['urn:alm:descriptor:com.tectonic.ui:text'] },
    ])
  })

  it('is there in every version that is served', () => {
    const owned = csvOf(of(CrateHandler)).spec.customresourcedefinitions.owned ?? []
    expect(owned.map(({ name, version }) => `${name} ${version}`)).to.have.members(['crates.example.com v2', 'crates.example.com v1'])
  })

  it('is not there in a version that is not served', () => {
    const Old = resource({
      ...{ group: 'example.com', version: 'v2', kind: 'Old', spec: z.object({}) },
      versions: [{ version: 'v1', served: false, spec: z.object({}) }],
    })
    class OldHandler {
      @onReconcile(Old) reconcile() {}
    }
    const owned = csvOf(of(OldHandler)).spec.customresourcedefinitions.owned ?? []
    expect(owned.map(({ name, version }) => `${name} ${version}`)).to.deep.equal(['olds.example.com v2'])
  })

  it('is none where the operator defines none', () => {
    class Foreign {
      @onReconcile(ConfigMap) reconcile() {}
    }
    expect(csvOf(of(Foreign)).spec.customresourcedefinitions).to.deep.equal({})
  })
})

function schemaOfWidget(): { spec: Schema; status: Schema } {
  const schema = Widget.crd?.spec.versions[0]?.schema?.openAPIV3Schema
  return (schema as { properties: { spec: Schema; status: Schema } }).properties
}

describe('the descriptors of a kind', () => {
  const { spec, status } = schemaOfWidget()
  const ui = (what: string) => `urn:alm:descriptor:com.tectonic.ui:${what}`

  it('are of the fields that are described, and say how a console asks for them', () => {
    expect(descriptorsOf(spec).map(({ path, description, 'x-descriptors': hints }) => [path, description, hints])).to.deep.equal([
      ['replicas', 'How many.', [ui('podCount')]],
      ['mode', 'How.', [ui('select:fast'), ui('select:slow')]],
      ['silent', 'Without a word.', [ui('booleanSwitch')]],
      ['backup.schedule', 'When.', [ui('text')]],
      ['parts', 'Of what.', undefined],
      ['parts[0].size', 'How large.', [ui('number')]],
    ])
  })

  it('show conditions as a table, not field by field', () => {
    const conditions = descriptorsOf(status).filter(({ path }) => path.startsWith('conditions'))
    expect(conditions.map(({ path, 'x-descriptors': hints }) => [path, hints])).to.deep.equal([
      ['conditions', ['urn:alm:descriptor:io.kubernetes.conditions']],
    ])
  })

  for (const [name, shown] of [
    ['finalBackup', 'Final Backup'],
    ['baseURL', 'Base URL'],
    ['HTTPRoute', 'HTTP Route'],
    ['@acme/shop-operator', 'Acme Shop Operator'],
  ] as const)
    it(`show ${name} as ${shown}`, () => expect(displayNameOf(name)).to.equal(shown))
})

describe('the rights in a bundle', () => {
  it('are everywhere what the operator does everywhere, and in its namespace the Lease', () => {
    const { permissions, clusterPermissions, deployments } = csvOf(MODEL).spec.install.spec
    expect(rights(permissions)).to.have.members(['create leases', 'get leases acme-widgets', 'update leases acme-widgets'])
    expect(rights(clusterPermissions)).to.include.members(['watch widgets', 'patch widgets/status', 'create statefulsets', 'create events'])
    const accounts = [...(permissions ?? []), ...(clusterPermissions ?? [])].map(({ serviceAccountName }) => serviceAccountName)
    expect(new Set([...accounts, deployments[0].spec.template.spec.serviceAccountName])).to.deep.equal(new Set(['acme-widgets']))
  })

  it('are in one namespace what the operator does there', () => {
    const { permissions, clusterPermissions } = csvOf({ ...MODEL, namespaces: ['any'] }).spec.install.spec
    expect(rights(permissions)).to.include.members(['watch widgets', 'create statefulsets', 'create events', 'create leases'])
    expect(clusterPermissions).to.equal(undefined)
  })

  it('include reviews where metrics are secured', () => {
    const { clusterPermissions } = csvOf({ ...MODEL, namespaces: ['any'], metricsSecure: true }).spec.install.spec
    expect(rights(clusterPermissions)).to.have.members(['create tokenreviews', 'create subjectaccessreviews'])
  })

  it('do not include those that only serve a certificate of its own', () => {
    const { permissions, clusterPermissions } = csvOf(of(CrateHandler)).spec.install.spec
    const all = [...rights(permissions), ...rights(clusterPermissions)].join('\n')
    expect(all).to.not.match(/secrets|webhookconfigurations|customresourcedefinitions/)
  })

  it('hold everywhere where they are for a namespace of a certain name, which is told', () => {
    class Elsewhere {
      @watches(Secret, { namespaces: ['vault'] }) secret() {
        return []
      }
      @onReconcile(Widget) reconcile() {}
    }
    const model = of(Elsewhere, { namespaces: ['any'] })
    expect(rights(csvOf(model).spec.install.spec.clusterPermissions)).to.have.members(['list secrets', 'watch secrets'])
    expect(widened(model).map(({ verb, resource, namespace }) => `${verb} ${resource} ${namespace}`)).to.deep.equal([
      'list secrets vault',
      'watch secrets vault',
    ])
    expect(widened(MODEL)).to.deep.equal([])
  })
})

describe('the namespaces of a bundle', () => {
  it('are all, or the one that OLM says', () => {
    expect(modesOf(MODEL)).to.deep.equal(['AllNamespaces'])
    expect(modesOf({ ...MODEL, namespaces: ['any'] })).to.deep.equal(['OwnNamespace', 'SingleNamespace'])
  })

  it('reach tsop-run from the annotation that OLM writes', () => {
    const { args, env } = containerOf({ ...MODEL, namespaces: ['any'] })
    expect(env.find(({ name }) => name === 'WATCH_NAMESPACE')?.valueFrom.fieldRef.fieldPath).to.equal(
      "metadata.annotations['olm.targetNamespaces']",
    )
    const { namespaces, leader, name } = parseOptions(args.map((each) => each.replace('$(WATCH_NAMESPACE)', 'chosen')))
    expect([name, namespaces, leader.leaseNamespace, leader.leaseName]).to.deep.equal([
      '@acme/widgets',
      ['chosen'],
      'chosen',
      'acme-widgets',
    ])
  })

  it('are not named where all are served', () => {
    const { args, env } = containerOf(MODEL)
    expect(parseOptions(args).namespaces).to.equal(undefined)
    expect(env.map(({ name }) => name)).to.deep.equal(['POD_NAME'])
  })

  it('cannot be several, nor be said twice', () => {
    class Limited {
      @onReconcile(Widget, { namespaces: ['a'] }) reconcile() {}
    }
    expect(() => bundleFiles({ ...MODEL, namespaces: ['a', 'b'] })).to.throw(BundleError, 'give -n once')
    expect(() => bundleFiles(of(Limited, { namespaces: ['a'] }))).to.throw(BundleError, 'Limited: OLM says which namespace is served')
    expect(() => bundleFiles(of(Limited))).to.not.throw()
  })
})

const Crate = resource({
  group: 'example.com',
  version: 'v2',
  kind: 'Crate',
  spec: z.object({ size: z.int().default(1) }),
  versions: [
    {
      version: 'v1',
      spec: z.object({ width: z.int().default(1) }),
      to: ({ spec: { width } }) => ({ spec: { size: width } }),
      from: ({ spec: { size } }) => ({ spec: { width: size } }),
    },
  ],
})
class CrateHandler {
  @defaults(Crate) fill() {}
  @validates(Crate, { on: ['create', 'delete'], failurePolicy: 'Ignore', timeout: '3s' }) check() {
    return undefined
  }
  @onReconcile(Crate) reconcile() {}
  @onDelete(Crate) remove() {}
}

describe('the webhooks of a bundle', () => {
  it('are those of the classes, at the port of the operator', () => {
    const webhooks = csvOf(of(CrateHandler)).spec.webhookdefinitions ?? []
    expect(webhooks.map(({ type, generateName, webhookPath }) => [type, generateName, webhookPath])).to.deep.equal([
      ['MutatingAdmissionWebhook', 'fill.crates.example.com', '/default/example.com/crates/fill'],
      ['ValidatingAdmissionWebhook', 'check.crates.example.com', '/validate/example.com/crates/check'],
      ['ConversionWebhook', 'convert.crates.example.com', '/convert'],
    ])
    for (const webhook of webhooks)
      expect(webhook).to.include({ deploymentName: 'acme-widgets', containerPort: 443, targetPort: 9443, sideEffects: 'None' })
    expect(webhooks[1]).to.deep.include({
      failurePolicy: 'Ignore',
      timeoutSeconds: 3,
      rules: [
        { apiGroups: ['example.com'], apiVersions: ['v2'], operations: ['CREATE', 'DELETE'], resources: ['crates'], scope: 'Namespaced' },
      ],
    })
    expect(webhooks[2]).to.deep.include({ conversionCRDs: ['crates.example.com'] })
    for (const webhook of webhooks) expect(webhook).to.not.have.any.keys('clientConfig', 'namespaceSelector', 'name')
  })

  it('say nothing of namespaces, which OLM has no field for', () => {
    class Maps {
      @onReconcile(ConfigMap) reconcile() {}
      @validates(ConfigMap) validate() {}
    }
    expect(csvOf(of(Maps)).spec.webhookdefinitions?.[0]).to.not.have.property('namespaceSelector')
  })

  it('use the certificate that OLM mounts', () => {
    const { webhooks } = parseOptions(containerOf(of(CrateHandler)).args)
    expect(webhooks.certificates).to.equal('/tmp/k8s-webhook-server/serving-certs')
    expect(parseOptions(containerOf(MODEL).args).webhooks.certificates).to.equal(undefined)
  })

  it('are reached by the Service of OLM, whose name is its own', () => {
    expect(parseOptions(containerOf(of(CrateHandler)).args).webhooks.service).to.equal(undefined)
    const services = [...texts(of(CrateHandler)).keys()].filter((path) => path.endsWith('.service.yaml'))
    expect(services).to.deep.equal(['manifests/acme-widgets-metrics.service.yaml'])
  })

  it('that convert are reachable before the pod has seen its objects', () => {
    expect(containerOf(of(CrateHandler)).readinessProbe.httpGet.path).to.equal('/livez')
    expect(containerOf(MODEL).readinessProbe.httpGet.path).to.equal('/readyz')
  })

  it('that convert are for all namespaces only', () => {
    expect(() => bundleFiles(of(CrateHandler, { namespaces: ['any'] }))).to.throw(BundleError, 'leave -n out')
  })

  it('cannot be limited to namespaces by their class', () => {
    class Limited {
      @validates(Widget) check() {
        return undefined
      }
      @onReconcile(Widget, { namespaces: ['a'] }) reconcile() {}
    }
    expect(() => bundleFiles(of(Limited))).to.throw(BundleError, 'Limited: OLM has the API server ask')
  })
})

describe('a bundle of a kind without plural', () => {
  it('is an error that says what to write', () => {
    class Unknown {
      @watches(kind('other.example.com/v1', 'Other')) other() {
        return []
      }
      @onReconcile(Widget) reconcile() {}
    }
    expect(() => bundleFiles(of(Unknown))).to.throw(/plural/)
  })
})
