import { expect } from 'chai'
import { webhookService } from '../../../lib/admission/service.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { Invalid, onReconcile, owns, resource, z } from '../../../lib/index.ts'
import { ManualClock } from '../manual-clock.ts'
import { Box, box, type Line, logTo } from './fixtures.ts'

const convert = (object: unknown, version: string, kind = Box) => kind.conversion?.convert(object as never, version)

/** A kind with one old version and this conversion from it. */
function converting(to: (object: never) => unknown, from: (object: never) => unknown = () => ({})) {
  return resource({
    group: 'shop.example.com',
    version: 'v1',
    kind: 'Box',
    spec: z.object({ size: z.int() }),
    status: z.object({ used: z.int() }),
    versions: [{ version: 'v1alpha1', spec: z.object({ dimension: z.string() }), to: to as never, from: from as never }],
  }) as typeof Box
}
const old = (extra: object = {}) => ({ ...box({ dimension: '5cm' }, {}, 'v1alpha1'), ...extra })
/** As they are stored. */
const managed = { name: 'b', managedFields: [] }

describe('conversion between versions', () => {
  it('goes both ways, and is the same after both', () => {
    const before = old({ status: { used: 3 } })
    const there = convert(before, 'v1')
    expect(there).to.deep.equal({ ...box({ size: 5 }), status: { used: 3 } })
    expect(convert(there, 'v1alpha1')).to.deep.equal(before)
    expect(convert(before, 'v1alpha1')).to.deep.equal(before)
  })

  it('goes by the version that handlers see', () => {
    const Three = resource({
      group: 'shop.example.com',
      version: 'v1',
      kind: 'Box',
      spec: z.object({ cm: z.int() }),
      versions: [
        {
          version: 'v1alpha1',
          spec: z.object({ mm: z.int() }),
          to: ({ spec }) => ({ spec: { cm: spec.mm / 10 } }),
          from: ({ spec }) => ({ spec: { mm: spec.cm * 10 } }),
        },
        {
          version: 'v1beta1',
          spec: z.object({ m: z.number() }),
          to: ({ spec }) => ({ spec: { cm: spec.m * 100 } }),
          from: ({ spec }) => ({ spec: { m: spec.cm / 100 } }),
        },
        { version: 'v1beta2', spec: z.object({ cm: z.int() }) },
      ],
    })
    expect(Three.conversion?.versions).to.deep.equal(['v1', 'v1alpha1', 'v1beta1', 'v1beta2'])
    expect(Three.conversion?.convert(box({ mm: 20 }, {}, 'v1alpha1'), 'v1beta1')).to.deep.equal(box({ m: 0.02 }, {}, 'v1beta1'))
    expect(Three.conversion?.convert(box({ cm: 2 }, {}, 'v1beta2'), 'v1')).to.deep.equal(box({ cm: 2 }))
  })

  it('keeps metadata, whatever the functions do with it', () => {
    const metadata = {
      uid: 'u',
      resourceVersion: '5',
      labels: { a: 'b' },
      annotations: { c: 'd' },
      finalizers: ['x/y'],
      ownerReferences: [],
    }
    const Kind = converting((object: { metadata: { uid: string; labels: object } }) => {
      object.metadata.uid = 'other'
      object.metadata.labels = {}
      return { spec: { size: 1 } }
    })
    expect(convert(old({ metadata: { ...old().metadata, ...metadata } }), 'v1', Kind)?.metadata).to.deep.equal({
      ...old().metadata,
      ...metadata,
    })
  })

  it('lets labels and annotations keep what a version has no field for', () => {
    const Kind = converting(
      (object: { metadata: object; spec: { dimension: string } }) => ({
        spec: { size: 5 },
        metadata: { ...object.metadata, annotations: { unit: 'cm' } },
      }),
      () => ({ spec: { dimension: '5cm' }, metadata: { annotations: {} } }),
    )
    const there = convert(old(), 'v1', Kind)
    expect(there?.metadata).to.deep.equal({ ...old().metadata, annotations: { unit: 'cm' } })
    expect(convert(there, 'v1alpha1', Kind)).to.deep.equal(old())
  })

  it('keeps of a status what comes by itself', () => {
    const Kind = converting(() => ({ spec: { size: 1 }, status: { used: 1 } }))
    const own = { conditions: [{ type: 'Ready' }], observedGeneration: 3, external: { a: 1 } }
    expect(convert(old({ status: { ...own, taken: 1 } }), 'v1', Kind))
      .to.have.property('status')
      .that.deep.equals({ used: 1, ...own })
    const Empty = converting(() => ({ status: {} }))
    expect(convert(old(), 'v1', Empty)).to.not.have.property('status')
  })

  it('does not change the object it is given', () => {
    const before = old()
    const Kind = converting((object: { spec: { dimension: string } }) => {
      object.spec.dimension = 'gone'
      return { spec: { size: 1 } }
    })
    convert(before, 'v1', Kind)
    expect(before).to.deep.equal(old())
  })

  it('names object, versions and field of what cannot be converted', () => {
    const cases: [(object: never) => unknown, string][] = [
      [
        () => {
          throw new Invalid('no unit', { field: 'spec.dimension' })
        },
        'spec.dimension: no unit',
      ],
      [
        () => {
          throw new Invalid('too old')
        },
        'too old',
      ],
      [({ spec }: { spec: { sides: number[] } }) => ({ spec: { size: spec.sides.length } }), 'spec.sides: the conversion `to` failed'],
      [() => undefined, 'the conversion `to` returned nothing instead of an object with spec, status or metadata'],
      [async () => ({ spec: {} }), 'the conversion `to` is asynchronous; it must be a plain function'],
      [() => ({ spec: { size: Number('x') } }), 'spec.size: the conversion `to` returned NaN has no form in JSON'],
      [() => ({ spec: { at: [new Date(0)] } }), 'spec.at[0]: the conversion `to` returned an instance of Date has no form in JSON'],
      [() => ({ spec: 5 }), 'spec: the conversion `to` returned a number instead of an object'],
      [() => ({ size: 5 }), 'size: the conversion `to` returned a field that is none of spec, status, metadata'],
      [
        () => ({ metadata: { name: 'b' } }),
        'metadata.name: the conversion `to` returned another one than the object has; a conversion may change labels and annotations only',
      ],
      [() => ({ metadata: { labels: { a: 1 } } }), 'metadata.labels.a: the conversion `to` returned a number instead of a text'],
    ]
    for (const [to, text] of cases) {
      expect(() => convert(old(), 'v1', converting(to))).to.throw(`Box default/a: v1alpha1 to v1: ${text}`)
    }
    expect(() => convert(old(), 'v2')).to.throw('Box default/a: there is no version v2')
    expect(() => convert(old({ apiVersion: 'shop.example.com/v3' }), 'v1')).to.throw('is no version of Box.shop.example.com')
    expect(() => convert(old({ kind: 'Bag' }), 'v1')).to.throw('Bag default/a: shop.example.com/v1alpha1 is no version of')
  })

  it('converts what it can of parts of objects, as a server has them while an author applies several versions', () => {
    const part = (spec?: object) => ({ ...old(), metadata: { name: 'a' }, ...(spec === undefined ? { spec: undefined } : { spec }) })
    expect(convert(part(), 'v1')).to.not.have.property('spec')
    expect(convert(part({ colour: 'red' }), 'v1'), 'a function that throws').to.deep.include({ spec: { colour: 'red' } })
    const Numeric = converting(({ spec }: { spec: { dimension: string } }) => ({ spec: { ...spec, size: Number(spec.dimension) } }))
    expect(convert(part({ colour: 'red' }), 'v1', Numeric), 'one that makes NaN').to.deep.include({ spec: { colour: 'red' } })
    expect(() => convert({ ...part({ colour: 'red' }), metadata: managed }, 'v1'), 'a stored one').to.throw('spec.dimension')
  })

  it('does not tell what an error of the code says', () => {
    const Kind = converting(() => {
      throw new Error('hunter2')
    })
    expect(() => convert(old(), 'v1', Kind))
      .to.throw('the conversion `to` failed')
      .with.property('cause')
      .that.has.property('message', 'hunter2')
  })

  it('is refused where it leads one way only', () => {
    const half = (conversions: object) =>
      resource({
        group: 'a.example.com',
        version: 'v1',
        kind: 'Box',
        spec: z.object({}),
        versions: [{ version: 'v1alpha1', spec: z.object({}), ...conversions }],
      })
    expect(() => half({ to: () => ({}) })).to.throw('resource Box: versions: v1alpha1: it has to, which makes a v1 of it, but no from')
    expect(() => half({ from: () => ({}) })).to.throw('resource Box: versions: v1alpha1: it has from, which makes it of a v1, but no to')
    expect(() => half({ to: 5, from: () => ({}) })).to.throw('to: expected a function, not 5')
    expect(half({}).conversion).to.equal(undefined)
  })
})

describe('a ConversionReview', () => {
  const Bag = resource({ group: 'shop.example.com', version: 'v1', kind: 'Bag', spec: z.object({}) })
  class BagHandler {
    @onReconcile(Bag) reconcile() {}
    @owns(Box) box() {
      return {}
    }
  }
  const lines: Line[] = []
  const service = webhookService([{ spec: collect(BagHandler), instance: new BagHandler() }], {
    clock: new ManualClock(),
    log: logTo(lines),
  })
  const ask = async (desiredAPIVersion: string, objects: unknown) => {
    const review = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request: { uid: 'u', desiredAPIVersion, objects } }
    return (
      (await service(review, '/convert')) as {
        response: { uid: string; result: { status: string; message?: string }; convertedObjects: unknown[] }
      }
    ).response
  }

  it('converts a list of mixed versions in its order, of kinds that a class only owns as well', async () => {
    const objects = [old(), box({ size: 2 }), old({ metadata: { name: 'b' } })]
    expect(await ask('shop.example.com/v1', objects)).to.deep.equal({
      uid: 'u',
      result: { status: 'Success' },
      convertedObjects: [box({ size: 5 }), box({ size: 2 }), { ...box({ size: 5 }), metadata: { name: 'b' } }],
    })
    expect(await ask('shop.example.com/v1', [])).to.include({ uid: 'u' })
  })

  it('fails as a whole, and says which object', async () => {
    const { result, convertedObjects } = await ask('shop.example.com/v1', [old(), old({ metadata: managed, spec: {} })])
    expect(result).to.deep.equal({ status: 'Failure', message: 'Box b: v1alpha1 to v1: spec.dimension: the conversion `to` failed' })
    expect(convertedObjects).to.deep.equal([])
    expect(lines.at(-1)?.fields['err']).to.be.instanceOf(TypeError)
  })

  it('fails for kinds and groups it does not know', async () => {
    expect((await ask('shop.example.com/v1', [{ ...old(), kind: 'Bag' }])).result.message).to.contain('does not convert Bag')
    expect((await ask('other.example.com/v1', [old()])).result.message).to.contain('does not convert Box')
  })

  it('is refused where it is none', async () => {
    for (const objects of [undefined, 'x']) {
      expect(await ask('shop.example.com/v1', objects).catch((error) => error.code)).to.equal(400)
    }
  })
})
