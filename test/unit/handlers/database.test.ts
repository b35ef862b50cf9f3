import { expect } from 'chai'
import { condition, embedded } from 'tsop/testing'
import { Database, DatabaseHandler } from '../../../handlers/database.ts'

const ref = { name: 'orders', namespace: 'default' }

describe('the database operator, without its backup provider', () => {
  // Port 1 of this machine answers nobody.
  const dead = 'http://127.0.0.1:1'
  const before = process.env['BACKUP_URL']
  afterEach(() => {
    if (before === undefined) delete process.env['BACKUP_URL']
    else process.env['BACKUP_URL'] = before
  })

  it('keeps a database that is deleted, says where it asked and what to do, and lets it go when that is done', async () => {
    process.env['BACKUP_URL'] = dead
    await using cluster = await embedded({
      handlers: [DatabaseHandler],
      objects: [{ apiVersion: 'db.example.com/v1alpha1', kind: 'Database', metadata: ref, spec: { engine: 'mysql' } }],
    })
    await cluster.settled()
    await cluster.client.delete(Database, ref)
    await cluster.settled()
    const ready = condition(await cluster.client.get(Database, ref), 'Ready')
    expect(ready?.reason).to.equal('DeleteFailed')
    expect(ready?.message).to.match(
      /^the backup provider at http:\/\/127\.0\.0\.1:1 does not answer; check BACKUP_URL, or set spec\.finalBackup to false: /,
    )
    const logged = cluster.logs().filter(({ level }) => level === 'error')
    expect(JSON.stringify(logged)).to.include('does not answer; check BACKUP_URL')

    await cluster.client.patch(Database, ref, { type: 'merge', value: { spec: { finalBackup: false } } })
    await cluster.clock.advance('5m')
    expect(await cluster.client.find(Database, ref)).to.equal(undefined)
  })

  it('names the stand-in where no provider was given', async () => {
    delete process.env['BACKUP_URL']
    const { fetch } = globalThis
    // The port of the default may well be somebody's.
    globalThis.fetch = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }))
    try {
      await using cluster = await embedded({
        handlers: [DatabaseHandler],
        objects: [{ apiVersion: 'db.example.com/v1alpha1', kind: 'Database', metadata: ref, spec: { engine: 'mysql' } }],
      })
      await cluster.settled()
      await cluster.client.delete(Database, ref)
      await cluster.settled()
      expect(condition(await cluster.client.get(Database, ref), 'Ready')?.message).to.include(
        'the backup provider at http://127.0.0.1:8088 does not answer; set BACKUP_URL, or start the one for trying out with `npm run job-service`',
      )
    } finally {
      globalThis.fetch = fetch
    }
  })
})
