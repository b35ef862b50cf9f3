import { expect } from 'chai'
import { resource, z } from 'tsop'
import { ConfigMap } from 'tsop/kinds'
import { assertRoundTrips } from 'tsop/testing'

const spec = z.object({ size: z.int().min(0).max(100), colour: z.string().optional(), mode: z.enum(['a', 'b']).default('a') })
const dimension = z
  .string()
  .regex(/^\d+cm$/)
  .meta({ examples: ['0cm', '7cm', '99cm'] })
const old = z.object({ dimension, colour: z.string().optional(), mode: z.enum(['a', 'b']).default('a') })

interface Old {
  spec: { dimension: string; colour?: string; mode: 'a' | 'b' }
}
interface New {
  spec: { size: number; colour?: string; mode: 'a' | 'b' }
}

function kind(to: (object: Old) => object, from: (object: New) => object) {
  return resource({
    group: 'shop.example.com',
    version: 'v1',
    kind: 'Box',
    spec,
    status: z.object({ used: z.int().optional() }),
    versions: [{ version: 'v1alpha1', spec: old, status: z.object({ used: z.int().optional() }), to: to as never, from: from as never }],
  })
}
const to = ({ spec: { dimension, ...rest } }: Old) => ({ spec: { ...rest, size: Number.parseInt(dimension, 10) } })
const from = ({ spec: { size, ...rest } }: New) => ({ spec: { ...rest, dimension: `${size}cm` } })

describe('assertRoundTrips', () => {
  it('is content with conversions that lose nothing', () => {
    assertRoundTrips(kind(to, from))
    assertRoundTrips(kind(to, from), {
      objects: [{ spec: { size: 1, mode: 'b' } }, { apiVersion: 'shop.example.com/v1alpha1', spec: { dimension: '5cm', mode: 'a' } }],
    })
  })

  it('tells what gets lost, with the object and the versions', () => {
    const forgetful = kind(({ spec: { dimension, mode } }) => ({ spec: { size: Number.parseInt(dimension, 10), mode } }), from)
    expect(() => assertRoundTrips(forgetful)).to.throw(
      /^v1 to v1alpha1 and back: spec\.colour is not the same: ".*" became nothing\n {2}the object \(made up with seed 1\): /,
    )
    const rounding = kind(to, ({ spec: { size, ...rest } }) => ({ spec: { ...rest, dimension: `${size - (size % 2)}cm` } }))
    expect(() => assertRoundTrips(rounding)).to.throw(/v1 to v1alpha1 and back: spec\.size is not the same: \d+ became \d+/)
    expect(() => assertRoundTrips(rounding, { runs: 0, objects: [{ spec: { size: 3, mode: 'a' } }] })).to.throw('(given)')
    assertRoundTrips(rounding, { runs: 0, objects: [{ spec: { size: 4, mode: 'a' } }] })
  })

  it('tells what the other version does not know, or refuses', () => {
    const unknown = kind((object) => ({ spec: { ...to(object).spec, shape: 'round' } }), from)
    expect(() => assertRoundTrips(unknown)).to.throw('what comes out is no object of v1: spec.shape is no field of it')
    const huge = kind((object) => ({ spec: { ...to(object).spec, size: 1000 } }), from)
    expect(() => assertRoundTrips(huge)).to.throw(/what comes out is no object of v1: spec\.size: .*100/)
  })

  it('tries statuses as well', () => {
    const lossy = kind((object) => ({ ...to(object), status: { used: undefined } }), from)
    expect(() => assertRoundTrips(lossy)).to.throw(/status(\.used)? is not the same/)
  })

  it('makes up the same objects for the same seed', () => {
    const seen: string[][] = []
    for (const seed of [1, 1, 2]) {
      const list: string[] = []
      assertRoundTrips(
        kind((object) => {
          list.push(JSON.stringify(object))
          return to(object)
        }, from),
        { runs: 20, seed },
      )
      seen.push(list)
    }
    expect(seen[0]).to.deep.equal(seen[1])
    expect(seen[0]).to.not.deep.equal(seen[2])
  })

  it('asks for examples where it cannot make up a text', () => {
    const Picky = resource({
      group: 'shop.example.com',
      version: 'v1',
      kind: 'Box',
      spec: z.object({ code: z.string().regex(/^x-\d{3}$/) }),
      versions: [
        { version: 'v1alpha1', spec: z.object({ code: z.string() }), to: ({ spec }) => ({ spec }), from: ({ spec }) => ({ spec }) },
      ],
    })
    expect(() => assertRoundTrips(Picky)).to.throw(/^spec\.code: nothing fits the pattern .*: give its type examples/)
  })

  it('refuses kinds that have no conversions', () => {
    expect(() => assertRoundTrips(ConfigMap)).to.throw(TypeError, 'ConfigMap has no conversions')
  })
})
