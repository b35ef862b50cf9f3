import { expect } from 'chai'
import { embedded } from 'tsop/testing'
import { Crate, CrateHandler } from '../../cluster/fixtures/crate.ts'

const crate = (spec: object, version = 'v1') => ({
  apiVersion: `crates.example.com/${version}`,
  kind: 'Crate',
  metadata: { name: 'a' },
  spec,
})
const where = { name: 'a', namespace: 'default' }

describe('an embedded cluster', () => {
  it('asks the handlers under test about objects', async () => {
    await using cluster = await embedded({ handlers: [CrateHandler], objects: [crate({ size: 12 })] })
    await cluster.settled()
    const { spec, status } = await cluster.client.get(Crate, where)
    expect(spec).to.deep.equal({ size: 12, colour: 'red' })
    expect(status?.seen).to.equal('red 12')
    const error = await cluster.apply(crate({ size: 3 })).catch((caught) => caught)
    expect(error).to.include({ status: 422, reason: 'Invalid' })
    expect(error.details.causes).to.deep.equal([{ reason: 'FieldValueInvalid', message: 'a crate cannot shrink', field: 'spec.size' }])
    expect(await cluster.apply(crate({ size: 20, colour: 'secret' })).catch((caught) => caught.status)).to.equal(500)
    expect(cluster.logs().some(({ message }) => message === 'CrateHandler.validate() failed')).to.equal(true)
  })

  it('does nothing in a dry run', async () => {
    await using cluster = await embedded({ handlers: [CrateHandler] })
    await cluster.client.create(Crate, { metadata: where, spec: { size: 1 } }, { dryRun: true })
    await cluster.settled()
    expect((await cluster.client.list(Crate, { namespace: 'default' })).items).to.deep.equal([])
  })

  it('converts kinds that are only installed', async () => {
    await using cluster = await embedded({ kinds: [Crate], objects: [crate({ dimension: '4cm' }, 'v1alpha1')] })
    expect((await cluster.client.get(Crate, where)).spec).to.deep.equal({ size: 4 })
  })

  it('lets an author apply one version after the other', async () => {
    await using cluster = await embedded({ kinds: [Crate] })
    await cluster.apply(crate({ dimension: '4cm', colour: 'red' }, 'v1alpha1'))
    await cluster.apply(crate({ size: 5 }))
    expect((await cluster.client.get(Crate, where)).spec).to.deep.equal({ size: 5 })
  })

  it('asks the new instances after a restart', async () => {
    let made = 0
    await using cluster = await embedded({
      handlers: () => {
        made++
        return [new CrateHandler()]
      },
    })
    await cluster.restart()
    expect(made).to.equal(2)
    await cluster.apply(crate({ size: 1 }))
    expect((await cluster.client.get(Crate, where)).spec.colour).to.equal('green')
  })
})
