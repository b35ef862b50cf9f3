/** What `resource()` makes, on the API server: that it is accepted, and means there what it means here. */
import { expect } from 'chai'
import fc from 'fast-check'
import { resource, z } from '../../lib/index.ts'
import { compare, kindOf } from '../unit/generate/agreement.ts'
import { anyType, TYPES, type TypeWithValues } from '../unit/generate/zod-types.ts'
import { Definition, inNamespace, type World } from './cluster.ts'

describe('generated definitions', () => {
  it(
    'mean to the API server what their zod types mean',
    inNamespace(async (t) => {
      const composed = fc.sample(anyType(2), { seed: 7, numRuns: 60 })
      const all = [...TYPES, ...composed]
      const types = all.map(({ type }) => type)
      const kind = kindOf(groupOf(t), types)
      await t.install(kind)
      const counts = { taken: 0, refused: 0 }
      const asked = fc.nat(all.length - 1).chain((i) => (all[i] as TypeWithValues).values.map((value) => ({ field: `f${i}`, value })))
      await fc.assert(
        fc.asyncProperty(asked, async (one) => void counts[await compare(t.client, kind, types, one, t.namespace)]++),
        { numRuns: 800, endOnFailure: true },
      )
      expect(counts.taken).to.be.greaterThan(200)
      expect(counts.refused).to.be.greaterThan(200)
    }),
  )

  it(
    'let through what the guide says the API server lets through',
    inNamespace(async (t) => {
      const types = [z.iso.date(), z.url(), z.int(), z.strictObject({ a: z.int() })]
      const kind = kindOf(groupOf(t), types)
      await t.install(kind)
      const spec = { f0: ['a list'], f1: 'https://', f2: null, f3: { a: 1, b: 2 } }
      const { spec: stored } = await t.client.create(kind, { metadata: { name: 'a', namespace: t.namespace }, spec } as never)
      expect(stored).to.deep.equal({ f0: ['a list'], f1: 'https://', f3: { a: 1 } })
      for (const [i, type] of types.entries()) expect(type.safeParse(spec[`f${i}` as keyof typeof spec]).success).to.equal(false)
    }),
  )

  it(
    'serve several versions, warn of deprecated ones, are scaled and explained',
    inNamespace(async (t) => {
      const group = groupOf(t)
      const Farm = resource({
        group,
        version: 'v1',
        kind: 'Farm',
        description: 'Something with animals.',
        categories: [`farms${t.id}`],
        spec: z.object({
          animals: z.int().min(0).default(2).describe('How many.'),
          fields: z
            .array(z.object({ name: z.string().max(20), crop: z.string().default('grass') }))
            .max(5)
            .default([])
            .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
          extra: z.looseObject({}).optional().meta({ 'x-kubernetes-embedded-resource': true }),
          size: z
            .object({ min: z.int(), max: z.int() })
            .optional()
            .meta({
              'x-kubernetes-validations': [
                { rule: 'self.min <= self.max', message: 'min is above max', reason: 'FieldValueForbidden', fieldPath: '.max' },
              ],
            }),
          barn: z.string().optional().meta({ deprecated: true, description: 'Build a house.' }),
        }),
        status: z.object({ animals: z.int(), selector: z.string() }),
        scale: { specReplicasPath: '.spec.animals', statusReplicasPath: '.status.animals', labelSelectorPath: '.status.selector' },
        selectableFields: ['.spec.animals'],
        versions: [{ version: 'v1beta1', spec: z.object({ animals: z.int().optional() }), deprecated: 'farms of v1beta1 will go' }],
      })
      await t.install(Farm)
      const farm = (spec: object, version = 'v1') => ({ apiVersion: `${group}/${version}`, kind: 'Farm', metadata: { name: 'a' }, spec })
      await t.apply(farm({ fields: [{ name: 'north' }] }))
      expect(await t.kubectl('get', `farms${t.id}`, '-o', 'name')).to.equal(`farm.${group}/a\n`)
      await t.kubectl('scale', `farms.${group}/a`, '--replicas=5')
      expect((await t.client.get(Farm, t.ref('a'))).spec).to.deep.equal({ animals: 5, fields: [{ name: 'north', crop: 'grass' }] })
      expect(await t.kubectl('get', `farms.v1beta1.${group}`, 'a', '-o', 'jsonpath={.apiVersion} {.spec}')).to.equal(
        `${group}/v1beta1 {"animals":5}`,
      )
      expect(await t.kubectl('get', `farms.${group}`, '--field-selector=spec.animals=5', '-o', 'name')).to.include('/a')
      const { spec } = await t.client.get(Definition, { name: `farms.${group}` })
      expect(
        spec.versions.map(({ name, storage, deprecated, deprecationWarning }) => [name, storage, deprecated ?? false, deprecationWarning]),
      ).to.deep.equal([
        ['v1', true, false, undefined],
        ['v1beta1', false, true, 'farms of v1beta1 will go'],
      ])

      const refusal = async (spec: object) => String(await t.apply(farm(spec)).catch((error: Error) => error.message))
      expect(await refusal({ size: { min: 2, max: 1 } })).to.match(/spec\.size\.max: Forbidden: min is above max/)
      expect(await refusal({ fields: [{ name: 'a' }, { name: 'a' }] })).to.include('Duplicate value')
      expect(await refusal({ extra: { kind: 'ConfigMap' } })).to.include('spec.extra.apiVersion: Required value')

      const explained = await t.until(() => t.kubectl('explain', `farms.${group}`, '--recursive=false'), 'kubectl explain')
      expect(explained)
        .to.include('Something with animals.')
        .and.to.include('The desired state.')
        .and.to.include('The state that the operator found.')
      const fields = await t.kubectl('explain', `farms.${group}.spec`)
      expect(fields).to.match(/animals\s+<integer>\s+How many\./)
      expect(fields).to.match(/barn\s+<string>\s+Deprecated: Build a house\./)
      expect(await t.kubectl('explain', `farms.${group}.status.conditions`)).to.include('One CamelCase word for programs.')
    }),
  )
})

function groupOf(t: World): string {
  const group = `${t.id}.test.tsop.dev`
  t.onEnd(() => t.kubectl('delete', 'crd', `samples.${group}`, `farms.${group}`, '--ignore-not-found', '--wait=false'))
  return group
}
