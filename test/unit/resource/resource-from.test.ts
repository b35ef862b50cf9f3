import { expect } from 'chai'
import { resource, resourceFrom, z } from '../../../lib/index.ts'

const text = `
# a comment
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: certificates.certs.example.com
spec:
  group: certs.example.com
  scope: Cluster
  names: { kind: Certificate, plural: certificates }
  versions:
    - { name: v1beta1, served: true, storage: false }
    - { name: v1, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: { type: object } } }
    - { name: v0, served: false, storage: false }
`

const condition = Object.fromEntries(
  ['type', 'status', 'reason', 'message', 'lastTransitionTime', 'observedGeneration'].map((name) => [name, { type: 'string' }]),
)

const withStatus = (status: object | undefined, subresources: object = { status: {} }) =>
  resourceFrom({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources,
          schema: { openAPIV3Schema: { type: 'object', properties: status === undefined ? {} : { status } } },
        },
      ],
    },
  }).status

describe('resourceFrom', () => {
  it('refers to the stored version of a definition in YAML', () => {
    const { apiVersion, kind, plural, scope, foreign } = resourceFrom(text)
    expect({ apiVersion, kind, plural, scope, foreign }).to.deep.equal({
      apiVersion: 'certs.example.com/v1',
      kind: 'Certificate',
      plural: 'certificates',
      scope: 'Cluster',
      foreign: true,
    })
  })

  it('refers to the version that is asked for', () => {
    expect(resourceFrom(text, { version: 'v1beta1' }).apiVersion).to.equal('certs.example.com/v1beta1')
  })

  it('keeps the definition, which tsop does not install', () => {
    const { crd } = resource({ group: 'e.com', version: 'v1', kind: 'Thing', spec: z.object({}) })
    expect(resourceFrom(crd).crd).to.equal(crd)
    expect(resourceFrom(crd).foreign).to.equal(true)
  })

  it('takes one document with marks before and after it', () => {
    expect(resourceFrom(`---\n${text}\n---\n# nothing\n`).kind).to.equal('Certificate')
  })

  describe('knows what the status keeps:', () => {
    it('nothing without the status subresource', () => {
      expect(withStatus({ type: 'object', properties: { observedGeneration: { type: 'integer' } } }, {})).to.equal(undefined)
    })

    it('all of what resource() defines', () => {
      const { crd } = resource({ group: 'e.com', version: 'v1', kind: 'Thing', spec: z.object({}) })
      expect(resourceFrom(crd).status).to.deep.equal({ conditions: true, observedGeneration: true, external: true })
    })

    it('the fields that its schema has', () => {
      expect(withStatus({ type: 'object', properties: { observedGeneration: { type: 'integer' } } })).to.deep.equal({
        conditions: false,
        observedGeneration: true,
        external: false,
      })
    })

    it('nothing without a schema of the status', () => {
      expect(withStatus(undefined)).to.deep.equal({ conditions: false, observedGeneration: false, external: false })
    })

    it('everything where it keeps unknown fields', () => {
      expect(withStatus({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })).to.deep.equal({
        conditions: true,
        observedGeneration: true,
        external: true,
      })
    })

    it('conditions only where they are whole metav1.Conditions', () => {
      const conditions = (items: object) => withStatus({ type: 'object', properties: { conditions: { type: 'array', items } } })?.conditions
      expect(conditions({ type: 'object', properties: condition, required: ['type', 'status'] })).to.equal(true)
      expect(conditions({ type: 'object', properties: { ...condition, severity: {} }, required: ['severity'] })).to.equal(false)
      const { observedGeneration: _dropped, ...shorter } = condition
      expect(conditions({ type: 'object', properties: shorter })).to.equal(false)
      expect(conditions({ type: 'string' })).to.equal(false)
    })
  })

  const wrong: [string, object | string, string][] = [
    ['an object of another kind', { apiVersion: 'v1', kind: 'Secret' }, 'expected a CustomResourceDefinition, not "Secret"'],
    ['an object without a kind', {}, 'expected a CustomResourceDefinition, not an object without a kind'],
    ['a list', [], 'expected a CustomResourceDefinition'],
    [
      'v1beta1',
      { apiVersion: 'apiextensions.k8s.io/v1beta1', kind: 'CustomResourceDefinition' },
      'expected apiVersion apiextensions.k8s.io/v1, not "apiextensions.k8s.io/v1beta1", which Kubernetes 1.22 dropped',
    ],
    ['several documents', `${text}\n---\n${text}`, 'expected one YAML document, not 2'],
    ['no document', '# nothing', 'the text is empty'],
    ['an empty text', '', 'the text is empty'],
    ['broken YAML', 'a: [', 'the text is no YAML'],
    ['plain text', 'hello', 'expected a CustomResourceDefinition'],
    [
      'a definition that is not complete',
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'a.b' }, spec: {} },
      'the definition a.b is not complete',
    ],
  ]
  const holed = (spec: unknown) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'teas.example.com' },
    spec,
  })
  const Teas = { group: 'example.com', scope: 'Namespaced', names: { kind: 'Tea', plural: 'teas' } }
  const v1 = { name: 'v1', served: true, storage: true }
  const ofSchema = (schema: unknown) =>
    holed({
      ...Teas,
      versions: [
        { ...v1, name: 'v1beta1' },
        { ...v1, schema },
      ],
    })
  const incomplete = 'resourceFrom: the definition teas.example.com is not complete: '
  const inVersion = 'resourceFrom: the definition teas.example.com, version v1: '
  const holes: [string, object, string][] = [
    ['spec: null', holed(null), `${incomplete}spec is null, expected an object`],
    ['names: null', holed({ ...Teas, names: null, versions: [v1] }), `${incomplete}spec.names is null, expected an object`],
    ['no plural', holed({ ...Teas, names: { kind: 'Tea' }, versions: [v1] }), `${incomplete}spec.names.plural is missing, expected a text`],
    ['versions: null', holed({ ...Teas, versions: null }), `${incomplete}spec.versions is null, expected a list of versions`],
    ['versions by name', holed({ ...Teas, versions: { v1 } }), `${incomplete}spec.versions is an object, expected a list of versions`],
    ['no version', holed({ ...Teas, versions: [] }), `${incomplete}spec.versions is an empty list, expected a list of versions`],
    ['a version that is null', holed({ ...Teas, versions: [v1, null] }), `${incomplete}spec.versions[1] is null, expected an object`],
    ['a version without a name', holed({ ...Teas, versions: [{}] }), `${incomplete}spec.versions[0].name is missing, expected a text`],
    ['schema: null', ofSchema(null), `${inVersion}schema is null, expected an object`],
    ['a schema that is a list', ofSchema([]), `${inVersion}schema is an empty list, expected an object`],
    ['openAPIV3Schema: null', ofSchema({ openAPIV3Schema: null }), `${inVersion}schema.openAPIV3Schema is null, expected a schema`],
    ['a schema without openAPIV3Schema', ofSchema({}), `${inVersion}schema.openAPIV3Schema is missing, expected a schema`],
    ...(
      [
        [{ properties: null }, 'properties is null, expected schemas by name'],
        [{ properties: { spec: null } }, 'properties.spec is null, expected a schema'],
        [{ properties: { spec: { enum: null } } }, 'properties.spec.enum is null, expected a list'],
        [{ properties: { spec: { items: { required: 'a' } } } }, 'properties.spec.items.required is "a", expected a list'],
        [{ properties: { spec: { additionalProperties: null } } }, 'properties.spec.additionalProperties is null, expected a schema'],
      ] as const
    ).map(([openAPIV3Schema, text]): [string, object, string] => [
      JSON.stringify(openAPIV3Schema),
      ofSchema({ openAPIV3Schema }),
      `${inVersion}schema.openAPIV3Schema.${text}`,
    ]),
  ]
  for (const [name, definition, expected] of holes) {
    it(`says of which definition, and where in it, something is missing: ${name}`, () => {
      expect(() => resourceFrom(definition))
        .to.throw(TypeError)
        .with.property('message', expected)
    })
  }

  for (const [name, definition, expected] of wrong) {
    it(`refuses ${name}`, () => expect(() => resourceFrom(definition)).to.throw(TypeError, expected))
  }

  it('refuses a version that is not there or not served, naming those that are', () => {
    expect(() => resourceFrom(text, { version: 'v3' })).to.throw(TypeError, 'Certificate serves no version v3; it serves v1beta1, v1')
    expect(() => resourceFrom(text, { version: 'v0' })).to.throw(TypeError, 'serves no version v0')
  })
})
