import { expect } from 'chai'
import { Definition, inNamespace, type World } from './cluster.ts'
import { gadgetOf } from './fixtures/gadget.ts'
import { isReady } from './fixtures/objects.ts'

const handlers = 'test/cluster/fixtures/gadget.ts'

describe('a kind made by resource()', () => {
  it(
    'is installed by --install-crds, and an object made by kubectl converges',
    inNamespace(async (t) => {
      const { Gadget, group, start, gadget } = await world(t)
      await start()
      await t.apply(gadget({ parts: [{ name: 'wheel' }, { name: 'axle', weight: 3 }] }))
      await t.kubectl('wait', '--for=condition=Ready', `gadgets.${group}/a`, '--timeout=30s')
      const { spec, status } = await t.client.get(Gadget, t.ref('a'))
      expect(spec).to.deep.equal({
        size: 'small',
        count: 3,
        parts: [
          { name: 'wheel', weight: 1.5 },
          { name: 'axle', weight: 3 },
        ],
      })
      expect(status?.weight).to.equal(13.5)
    }),
  )

  it(
    'has the defaults of all fields where an object has no spec at all',
    inNamespace(async (t) => {
      const { Gadget, start, gadget } = await world(t)
      await start()
      const { spec: _, ...bare } = gadget({})
      await t.apply(bare)
      await isReady(t, Gadget, 'a')
      expect((await t.client.get(Gadget, t.ref('a'))).spec).to.deep.equal({ size: 'small', count: 3, parts: [] })
    }),
  )

  it(
    'refuses what its schema and its validations forbid, with their messages',
    inNamespace(async (t) => {
      const { start, gadget, group } = await world(t)
      await start()
      const refusal = async (spec: object) => String(await t.apply(gadget(spec)).catch((error: Error) => error.message))
      expect(await refusal({ count: 10 })).to.include('spec.count')
      expect(await refusal({ size: 'medium' })).to.include('spec.size')
      expect(await refusal({ parts: [{ name: '' }] })).to.include('spec.parts[0].name')
      expect(await refusal({ wheels: 4 })).to.include('unknown field "spec.wheels"')
      expect(await refusal({ count: 6 })).to.include('small ones come by 5 at most')
      await t.apply(gadget({ count: 6, size: 'large', colours: { wheel: 'red' }, note: null }))
      const change = t.kubectl('patch', `gadgets.${group}`, 'a', '--type=merge', '-p', '{"spec":{"size":"small","count":1}}')
      expect(String(await change.catch((error: Error) => error.message))).to.include('the size is immutable')
    }),
  )

  it(
    'shows its columns in kubectl get, and its descriptions in kubectl explain',
    inNamespace(async (t) => {
      const { Gadget, start, gadget, group } = await world(t)
      await start()
      await t.apply(gadget({ parts: [{ name: 'wheel' }] }))
      await isReady(t, Gadget, 'a')
      const table = await t.kubectl('get', `gd${group.slice(0, 6)}`)
      expect(table).to.match(/^NAME +SIZE +WEIGHT +READY +AGE\na +small +4\.5 +True +/)
      const explained = await t.until(() => t.kubectl('explain', `gadgets.${group}.spec`), 'kubectl explain')
      expect(explained).to.include('How big it is.')
      expect(await t.kubectl('explain', `gadgets.${group}`)).to.include('A thing with many fields.')
    }),
  )

  it(
    'lets field selectors use the fields that it names',
    inNamespace(async (t) => {
      const { start, gadget, group } = await world(t)
      await start()
      await t.apply(gadget({}), gadget({ size: 'large' }, 'b'))
      const names = await t.kubectl('get', `gadgets.${group}`, '--field-selector=spec.size=large', '-o', 'name')
      expect(names.trim()).to.equal(`gadget.${group}/b`)
    }),
  )

  it(
    'is left as it is by a second --install-crds',
    inNamespace(async (t) => {
      const { start, group } = await world(t)
      const first = await start()
      const version = async () => (await t.client.get(Definition, { name: `gadgets.${group}` })).metadata.resourceVersion
      const before = await t.until(version, 'the definition')
      await first.stop()
      await start()
      expect(await version()).to.equal(before)
    }),
  )
})

async function world(t: World) {
  const group = `${t.id}.test.tsop.dev`
  t.onEnd(() => t.kubectl('delete', 'crd', `gadgets.${group}`, '--ignore-not-found', '--wait=false'))
  return {
    group,
    Gadget: gadgetOf(group),
    gadget: (spec: object, name = 'a') => ({ apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name }, spec }),
    start: () => t.startOperator({ handlers, args: ['--install-crds'], env: { TEST_GROUP: group } }),
  }
}
