import { expect } from 'chai'
import type { Definition, DefinitionVersion } from '../../../../lib/embedded/crd/definition.ts'
import { definitionStrategy } from '../../../../lib/embedded/crd/definitions.ts'
import { validateDefinition, validateDefinitionUpdate } from '../../../../lib/embedded/crd/validation.ts'
import { CAUSE_REASON, type FieldError } from '../../../../lib/embedded/field-error.ts'
import type { Schema, WriteContext } from '../../../../lib/embedded/types.ts'

const CONTEXT = { subresource: '' } as WriteContext

function definition(schema: Schema, version: Partial<DefinitionVersion> = {}, change?: (spec: Definition['spec']) => void): Definition {
  const made = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.x.io' },
    spec: {
      group: 'x.io',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Cluster',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    },
  } as unknown as Definition
  change?.(made.spec)
  definitionStrategy.defaults?.(made, CONTEXT)
  definitionStrategy.prepareForCreate?.(made, CONTEXT)
  return made
}

const spec = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties: { spec: { type: 'object', properties } } })
const text: Schema = { type: 'string' }
const IN = 'spec.validation.openAPIV3Schema.properties[spec]'

const shown = (errors: readonly FieldError[]) =>
  errors.map(({ field, type, message }) => `${field} ${CAUSE_REASON[type].replace('FieldValue', '')} ${message}`)
const says = (made: Definition) => shown(validateDefinition(made))

describe('a CustomResourceDefinition', () => {
  it('is taken when nothing is wrong', () => {
    const schema = spec({
      a: { ...text, default: 'x', pattern: '^x$' },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
      n: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      l: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    })
    expect(says(definition(schema, { subresources: { status: {} } }))).to.deep.equal([])
  })

  it('gets the names it leaves out', () => {
    expect(definition(spec({})).spec.names).to.deep.equal({ plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' })
  })

  const CASES: [string, Definition, string[]][] = [
    [
      'a schema without a type',
      definition(spec({ a: {} })),
      [`${IN}.properties[a].type Required Required value: must not be empty for specified object fields`],
    ],
    [
      'types in compositions',
      definition(spec({ a: { ...text, anyOf: [{ type: 'string' }] } })),
      [`${IN}.properties[a].anyOf[0].type Forbidden Forbidden: must be empty to be structural`],
    ],
    [
      'fields that only a composition of the root has',
      definition({ ...spec({}), oneOf: [{ properties: { b: { minLength: 1 } } }] }),
      [
        'spec.validation.openAPIV3Schema.properties[b] Required Required value: because it is defined in spec.validation.openAPIV3Schema.oneOf[0].properties[b]',
      ],
    ],
    [
      'a pattern that Go does not take',
      definition(spec({ a: { ...text, pattern: '(?=x)' } })),
      [
        `${IN}.properties[a].pattern Invalid Invalid value: "(?=x)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
      ],
    ],
    [
      'a default of the wrong type',
      definition(spec({ a: { ...text, default: 1 } })),
      [`${IN}.properties[a].default TypeInvalid Invalid value: "integer":  in body must be of type string: "integer"`],
    ],
    [
      'a default with unknown fields',
      definition(spec({ a: { type: 'object', properties: {}, default: { x: 1 } } })),
      [`${IN}.properties[a].default Invalid Invalid value: {"x":1}: must not have unknown fields`],
    ],
    [
      'a key that may be missing',
      definition(
        spec({
          l: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: { type: 'object', properties: { k: text } },
          },
        }),
      ),
      [
        `${IN}.properties[l].items.properties[k].default Required Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    ],
    [
      'a scale without paths',
      definition(spec({}), { subresources: { scale: { specReplicasPath: '.status.n', statusReplicasPath: '' } } }),
      [
        'spec.subresources.scale.specReplicasPath Invalid Invalid value: ".status.n": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath Required Required value',
      ],
    ],
    [
      'a webhook that is nowhere',
      definition(spec({}), {}, (each) => {
        each.conversion = { strategy: 'Webhook' }
      }),
      [
        'spec.conversion.webhookClientConfig Required Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions Required Required value',
      ],
    ],
    [
      'rules of CEL that do not compile',
      definition(spec({ a: { ...text, maxLength: 5, 'x-kubernetes-validations': [{ rule: 'self.x == 1' }] } })),
      [
        `${IN}.properties[a].x-kubernetes-validations[0].rule Invalid Invalid value: {"Rule":"self.x == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: type 'string' does not support field selection\n | self.x == 1\n | ....^`,
      ],
    ],
  ]
  for (const [name, made, expected] of CASES) it(`is refused for ${name}`, () => expect(says(made)).to.deep.equal(expected))

  it('names the place of a schema that not all versions share', () => {
    const made = definition(spec({ a: {} }), {}, ({ versions }) => {
      versions.push({ name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: spec({}) } })
    })
    expect(says(made)).to.deep.equal([
      'spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[a].type Required Required value: must not be empty for specified object fields',
    ])
  })

  describe('that changes', () => {
    const established = () => {
      const made = definition(spec({}))
      made.status.conditions = [{ type: 'Established', status: 'True' }]
      return made
    }

    it('keeps scope and kind once it is established', () => {
      const next = structuredClone(established())
      next.spec.scope = 'Namespaced'
      next.spec.names.kind = 'Gadget'
      expect(shown(validateDefinitionUpdate(next, established()))).to.deep.equal([
        'spec.scope Invalid Invalid value: "Namespaced": field is immutable',
        'spec.names.kind Invalid Invalid value: "Gadget": field is immutable',
      ])
    })

    it('keeps versions in which objects may be stored', () => {
      const next = structuredClone(established())
      next.spec.versions[0]!.name = 'v2'
      definitionStrategy.prepareForUpdate?.(next, established(), CONTEXT)
      expect(next.status.storedVersions).to.deep.equal(['v1', 'v2'])
      expect(validateDefinitionUpdate(next, established()).map(({ field }) => field)).to.deep.equal(['status.storedVersions[0]'])
    })
  })
})
