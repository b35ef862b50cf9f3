import { expect } from 'chai'
import { type AdmissionContext, Invalid, onReconcile, validates } from '../../../lib/index.ts'
import { asking, Box, box } from './fixtures.ts'

const PATH = '/validate/shop.example.com/boxes/validate'

/** A class with this method. */
function validating(method: (object: Box, old: Box | undefined, ctx: AdmissionContext) => unknown, options = {}) {
  class BoxHandler {
    @onReconcile(Box) reconcile() {}
    @validates(Box, options) validate(object: Box, old: Box | undefined, ctx: AdmissionContext) {
      return method(object, old, ctx) as undefined
    }
  }
  return asking(BoxHandler, PATH)
}

describe('@validates', () => {
  it('lets pass what it says nothing about', async () => {
    const { ask } = validating(() => {})
    expect(await ask({ object: box({ size: 1 }) })).to.deep.equal({ uid: 'u1', allowed: true })
  })

  it('gets the object, what is there, and who asks for what', async () => {
    const seen: unknown[] = []
    const { ask } = validating((object, old, { operation, user, dryRun, subresource }) => {
      seen.push([operation, object.spec.size, old?.spec.size, user.username, user.groups, dryRun, subresource])
    })
    await ask({ object: box({ size: 1 }) })
    await ask({ object: box({ size: 2 }), oldObject: box({ size: 1 }), dryRun: true })
    expect(seen).to.deep.equal([
      ['create', 1, undefined, 'ann', ['people'], false, ''],
      ['update', 2, 1, 'ann', ['people'], true, ''],
    ])
  })

  it('refuses with 422 and the fields at fault, thrown, returned, or several', async () => {
    const thrown = validating(() => {
      throw new Invalid('must be odd', { field: '.spec.size' })
    })
    const { allowed, status } = await thrown.ask({ object: box({ size: 2 }) })
    expect(allowed).to.equal(false)
    expect(status).to.deep.equal({
      status: 'Failure',
      code: 422,
      reason: 'Invalid',
      message: 'Box.shop.example.com "a" is invalid: spec.size: must be odd',
      details: {
        name: 'a',
        group: 'shop.example.com',
        kind: 'Box',
        causes: [{ reason: 'FieldValueInvalid', message: 'must be odd', field: 'spec.size' }],
      },
    })
    const returned = validating(() => [
      new Invalid('is taken', { field: 'spec.colour', reason: 'FieldValueDuplicate' }),
      new Invalid('must be odd', { field: 'spec.size' }),
    ])
    const many = (await returned.ask({ object: box({ size: 2 }) })).status as { message: string; details: { causes: object[] } }
    expect(many.message).to.equal('Box.shop.example.com "a" is invalid: [spec.colour: is taken, spec.size: must be odd]')
    expect(many.details.causes[0]).to.deep.equal({ reason: 'FieldValueDuplicate', message: 'is taken', field: 'spec.colour' })
    expect((await validating(() => new Invalid('no', { field: 'spec' })).ask({ object: box({}) })).allowed).to.equal(false)
    expect((await validating(() => []).ask({ object: box({}) })).allowed).to.equal(true)
  })

  it('refuses the request as such with 403 where no field is at fault', async () => {
    const { ask } = validating(() => {
      throw new Invalid('boxes are made by the shop')
    })
    expect((await ask({ object: box({}) })).status).to.deep.equal({
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message: 'boxes are made by the shop',
    })
  })

  it('names an object that has no name yet by what its name begins with', async () => {
    const { ask } = validating(() => new Invalid('no', { field: 'spec.size' }))
    const { status } = await ask({ object: box({}, { name: undefined, generateName: 'a-' }), name: '' })
    expect((status as { message: string }).message).to.contain('"a-"')
  })

  it('tells nothing of an error of the code but where it was, and logs all of it', async () => {
    const { ask, lines } = validating(() => {
      throw new Error('cannot log in as admin:hunter2')
    })
    const answer = await ask({ object: box({ size: 1 }) })
    expect(answer.allowed).to.equal(false)
    expect(answer.status).to.include({ code: 500, reason: 'InternalError' })
    expect(JSON.stringify(answer))
      .to.contain('BoxHandler.validate() failed')
      .and.not.match(/hunter2|\.ts|at /)
    const [line] = lines.filter(({ level }) => level === 'error')
    expect(String(line?.fields['err'])).to.contain('hunter2')
    expect(line?.fields).to.include({
      controller: 'Box.shop.example.com',
      name: 'a',
      namespace: 'default',
      operation: 'create',
      user: 'ann',
    })
  })

  it('takes anything else that is returned for a mistake in the code', async () => {
    for (const result of ['too big', false, new Error('too big'), [new Invalid('a'), 'b']]) {
      const { ask, lines } = validating(() => result)
      expect((await ask({ object: box({}) })).status, String(result)).to.include({ code: 500 })
      expect(lines).to.have.length(1)
    }
  })

  it('answers before the API server gives up, and ends the signal', async () => {
    let signal: AbortSignal | undefined
    const { ask, clock } = validating(
      (_object, _old, ctx) => {
        signal = ctx.signal
        return new Promise(() => {})
      },
      { timeout: '2s' },
    )
    const asked = ask({ object: box({}) })
    await clock.advance(1799)
    expect(signal?.aborted).to.equal(false)
    await clock.advance(1)
    expect((await asked).status).to.include({ code: 504, reason: 'Timeout', message: 'BoxHandler.validate() did not answer within 1.8 s' })
    expect(signal?.aborted).to.equal(true)
  })

  it('leaves no timer behind', async () => {
    const { ask, clock } = validating(() => {})
    await ask({ object: box({}) })
    expect(clock.pending).to.equal(0)
  })

  it('lets pass with a warning where failures are to be ignored, but not what was refused', async () => {
    const failing = validating(
      () => {
        throw new Error('x')
      },
      { failurePolicy: 'Ignore' },
    )
    expect(await failing.ask({ object: box({}) })).to.deep.equal({
      uid: 'u1',
      allowed: true,
      warnings: ['BoxHandler.validate() failed; the object was not looked at'],
    })
    const refusing = validating(() => new Invalid('no'), { failurePolicy: 'Ignore' })
    expect((await refusing.ask({ object: box({}) })).allowed).to.equal(false)
  })

  it('warns in single lines of bounded length, also beside a refusal', async () => {
    const { ask } = validating((_object, _old, ctx) => {
      ctx.warn('one\r\ntwo')
      ctx.warn('x'.repeat(300))
      for (let i = 0; i < 100; i++) ctx.warn('more')
      throw new Invalid('no')
    })
    const { warnings = [], allowed } = await ask({ object: box({}) })
    expect(allowed).to.equal(false)
    expect(warnings[0]).to.equal('one two')
    expect(warnings[1]).to.have.length(256)
    expect(warnings).to.have.length(10)
  })

  it('is asked about creations and updates only, unless it says so', async () => {
    const asked: string[] = []
    const method = (_object: Box, _old: Box | undefined, ctx: AdmissionContext) => void asked.push(`${ctx.operation} ${ctx.subresource}`)
    const usual = validating(method)
    await usual.ask({ object: null, oldObject: box({ size: 1 }) })
    await usual.ask({ object: box({}), oldObject: box({}), subResource: 'status' })
    await usual.ask({ object: { spec: {} } as never, oldObject: { spec: {} } as never, subResource: 'scale' })
    expect(asked).to.deep.equal([])
    const all = validating(method, { on: ['delete', 'status'] })
    await all.ask({ object: box({}) })
    await all.ask({ object: null, oldObject: box({ size: 1 }) })
    await all.ask({ object: { ...box({}), status: { a: 1 } } as never, oldObject: box({}), subResource: 'status' })
    expect(asked).to.deep.equal(['delete ', 'update status'])
  })

  it('gets what goes twice when it is deleted', async () => {
    let seen: unknown
    const { ask } = validating(
      (object, old) => {
        seen = [object, old]
      },
      { on: ['delete'] },
    )
    await ask({ object: null, oldObject: box({ size: 3 }) })
    expect(seen).to.deep.equal([box({ size: 3 }), box({ size: 3 })])
  })

  it('does not keep an object from being looked after, or from going', async () => {
    const { ask } = validating(() => new Invalid('wrong by now', { field: 'spec.size' }))
    const old = box({ size: 1 }, { resourceVersion: '1', finalizers: ['x/y'], labels: { a: 'b' } })
    const update = async (object: object, before = old) => (await ask({ object: object as never, oldObject: before })).allowed
    expect(await update(box({ size: 1 }, { resourceVersion: '1', labels: { a: 'b' } })), 'a finalizer').to.equal(true)
    expect(await update(box({ size: 1 }, { ...old.metadata, ownerReferences: [] })), 'an owner').to.equal(true)
    expect(await update({ ...old, status: { ready: true } }), 'the status').to.equal(true)
    expect(await update(box({ size: 1 }, { ...old.metadata, labels: {} })), 'labels').to.equal(false)
    expect(await update(box({ size: 2 }, old.metadata)), 'the spec').to.equal(false)
    const going = box({ size: 1 }, { ...old.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' })
    expect(await update(box({ size: 1 }, { ...going.metadata, annotations: { a: 'b' } }), going), 'annotations of one that goes').to.equal(
      true,
    )
    expect(await update(box({ size: 2 }, going.metadata), going), 'the spec of one that goes').to.equal(false)
  })

  it('gets objects in the version of its class', async () => {
    const seen: unknown[] = []
    const { ask } = validating((object, old) => void seen.push([object.apiVersion, object.spec, old?.spec]))
    await ask({ object: box({ dimension: '5cm' }, {}, 'v1alpha1'), oldObject: box({ dimension: '4cm' }, {}, 'v1alpha1') })
    expect(seen).to.deep.equal([['shop.example.com/v1', { size: 5 }, { size: 4 }]])
  })

  it('says what a conversion could not do', async () => {
    const { ask } = validating(() => {})
    const { status } = await ask({ object: box({}, { managedFields: [] }, 'v1alpha1') })
    expect(status).to.include({ code: 500 })
    expect((status as { message: string }).message).to.contain('Box default/a: v1alpha1 to v1: spec.dimension: the conversion `to` failed')
  })

  it('sees only what its class serves', async () => {
    class Selected {
      @onReconcile(Box, { labels: { shop: 'mine' }, namespaces: ['default'] }) reconcile() {}
      @validates(Box) validate() {
        return new Invalid('no')
      }
    }
    const { ask } = asking(Selected, PATH)
    const mine = { labels: { shop: 'mine' } }
    expect((await ask({ object: box({}, mine) })).allowed).to.equal(false)
    expect((await ask({ object: box({}) })).allowed).to.equal(true)
    expect((await ask({ object: box({}), oldObject: box({}, mine) })).allowed, 'one that leaves').to.equal(false)
    expect((await ask({ object: box({}, { ...mine, namespace: 'other' }) })).allowed).to.equal(true)
  })

  it('cannot change the object it was asked about', async () => {
    const { ask } = validating((object) => {
      object.spec.size = 5
    })
    expect(await ask({ object: box({ size: 1 }) })).to.deep.equal({ uid: 'u1', allowed: true })
  })

  it('refuses a review of another kind, and one that is none', async () => {
    const { ask, service } = validating(() => {})
    const { status } = await ask({ object: box({}), resource: { group: '', version: 'v1', resource: 'pods' } })
    expect(status).to.include({ code: 400, message: 'BoxHandler.validate() is not for pods' })
    const errors = await Promise.all(
      [
        service({}, PATH),
        service(null, PATH),
        service({ apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview', request: { uid: 'a' } }, PATH),
        service({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }, PATH),
        service({}, '/validate/other'),
      ].map((answer) => answer.then(String, (error) => error.code)),
    )
    expect(errors).to.deep.equal([400, 400, 400, 400, 404])
  })
})
