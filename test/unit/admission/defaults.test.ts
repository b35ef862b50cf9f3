import { expect } from 'chai'
import { applyJsonPatch } from '../../../lib/embedded/patch/json-patch.ts'
import { type AdmissionContext, defaults, Invalid, onReconcile } from '../../../lib/index.ts'
import { asking, Box, box, patchOf } from './fixtures.ts'

const PATH = '/default/shop.example.com/boxes/fill'

function filling(method: (object: Box, old: Box | undefined, ctx: AdmissionContext) => unknown, options = {}) {
  class BoxHandler {
    @onReconcile(Box) reconcile() {}
    @defaults(Box, options) fill(object: Box, old: Box | undefined, ctx: AdmissionContext) {
      return method(object, old, ctx) as undefined
    }
  }
  return asking(BoxHandler, PATH)
}

describe('@defaults', () => {
  const red = (object: Box) => {
    object.spec.colour ??= 'red'
    object.metadata.labels = { ...object.metadata.labels, 'shop/size': String(object.spec.size) }
  }

  it('sends what it changed as a JSON patch', async () => {
    const answer = await filling(red).ask({ object: box({ size: 1 }) })
    expect(answer).to.include({ uid: 'u1', allowed: true, patchType: 'JSONPatch' })
    expect(patchOf(answer)).to.deep.equal([
      { op: 'add', path: '/metadata/labels', value: { 'shop/size': '1' } },
      { op: 'add', path: '/spec/colour', value: 'red' },
    ])
  })

  it('may return another object instead', async () => {
    const answer = await filling((object) => ({ ...object, spec: { ...object.spec, size: 2 } })).ask({ object: box({ size: 1 }) })
    expect(patchOf(answer)).to.deep.equal([{ op: 'replace', path: '/spec/size', value: 2 }])
  })

  it('changes nothing when it is applied to its own result', async () => {
    const { ask } = filling(red)
    const object = box({ size: 1 }, { labels: { 'a/b~c': 'd' } })
    const once = applyJsonPatch(object as never, patchOf(await ask({ object })))
    expect(once).to.have.nested.property('spec.colour', 'red')
    expect(await ask({ object: once as never })).to.deep.equal({ uid: 'u1', allowed: true })
  })

  it('removes, escapes and replaces lists whole', async () => {
    const { ask } = filling((object) => {
      delete object.spec.colour
      object.spec.tags = ['x', ...(object.spec.tags ?? [])]
      object.metadata.annotations = { 'a/b~c': '2' }
    })
    const object = box({ size: 1, colour: 'red', tags: ['y'] }, { annotations: { 'a/b~c': '1' } })
    const answer = await ask({ object })
    expect(patchOf(answer)).to.deep.equal([
      { op: 'replace', path: '/metadata/annotations/a~1b~0c', value: '2' },
      { op: 'remove', path: '/spec/colour' },
      { op: 'replace', path: '/spec/tags', value: ['x', 'y'] },
    ])
    expect(applyJsonPatch(object as never, patchOf(answer))).to.deep.equal(
      box({ size: 1, tags: ['x', 'y'] }, { annotations: { 'a/b~c': '2' } }),
    )
  })

  it('patches the version that was written', async () => {
    const { ask } = filling((object) => {
      object.spec.size += 1
    })
    expect(patchOf(await ask({ object: box({ dimension: '5cm' }, {}, 'v1alpha1') }))).to.deep.equal([
      { op: 'replace', path: '/spec/dimension', value: '6cm' },
    ])
  })

  it('refuses by Invalid', async () => {
    const { ask } = filling(() => {
      throw new Invalid('no red ones today', { field: 'spec.colour' })
    })
    expect((await ask({ object: box({}) })).status).to.include({ code: 422, reason: 'Invalid' })
  })

  it('may change only what an author may say', async () => {
    for (const [change, path] of [
      [
        (object: Box) => {
          object.metadata.name = 'b'
        },
        'metadata.name',
      ],
      [
        (object: Box) => {
          object.metadata.finalizers = ['a/b']
        },
        'metadata.finalizers',
      ],
      [
        (object: Box) => {
          object.status = {}
        },
        'status',
      ],
      [
        (object: Box) => {
          object.kind = 'Bag'
        },
        'kind',
      ],
    ] as const) {
      const { ask, lines } = filling(change)
      expect((await ask({ object: box({ size: 1 }) })).status, path).to.include({ code: 500 })
      expect(String(lines[0]?.fields['err'])).to.contain(`BoxHandler.fill() changed ${path};`)
    }
  })

  it('leaves an object that breaks its schema to the API server when it fails on it, and only then', async () => {
    const careless = () =>
      filling((object) => {
        object.spec.colour = object.spec.tags!.join(' ').toUpperCase()
      })
    const wrong = careless()
    expect(await wrong.ask({ object: box({ size: 1, tags: 'no list' }) })).to.deep.equal({ uid: 'u1', allowed: true })
    expect(wrong.lines.map(({ level }) => level)).to.deep.equal(['debug'])
    const right = careless()
    expect((await right.ask({ object: box({ size: 1 }) })).status).to.include({ code: 500 })
  })

  it('refuses results that JSON cannot carry', async () => {
    const { ask, lines } = filling((object) => {
      ;(object.spec as { colour?: unknown }).colour = new Date(0)
    })
    expect((await ask({ object: box({ size: 1 }) })).status).to.include({ code: 500 })
    expect(String(lines[0]?.fields['err'])).to.contain('spec.colour: an instance of Date has no form in JSON')
    expect((await filling(() => 5).ask({ object: box({ size: 1 }) })).status).to.include({ code: 500 })
  })

  it('fills in whatever was asked for, in a dry run as well', async () => {
    const seen: boolean[] = []
    const { ask } = filling((object, _old, ctx) => {
      seen.push(ctx.dryRun)
      red(object)
    })
    const wet = await ask({ object: box({ size: 1 }) })
    expect(await ask({ object: box({ size: 1 }), dryRun: true })).to.deep.equal(wet)
    expect(seen).to.deep.equal([false, true])
  })

  it('is not asked when an object goes, or its status is written', async () => {
    const { ask } = filling(red)
    expect(await ask({ object: null, oldObject: box({ size: 1 }) })).to.deep.equal({ uid: 'u1', allowed: true })
    expect(await ask({ object: box({ size: 2 }), oldObject: box({ size: 1 }), subResource: 'status' })).to.deep.equal({
      uid: 'u1',
      allowed: true,
    })
  })
})
