import { expect } from 'chai'
import { ConfigMap, Secret } from 'tsop/kinds'
import { embedded, ready, type TestCluster } from 'tsop/testing'
import { at, Database, DatabaseHandler, database, Task, TaskHandler, task } from './fixtures.ts'

describe('a cluster for a test', () => {
  let cluster: TestCluster
  afterEach(() => cluster.close())

  it('runs the operator on what the test writes, and tells when it is done', async () => {
    cluster = await embedded({ handlers: [DatabaseHandler] })
    await cluster.apply(database('orders', { size: 3 }))
    await cluster.settled()
    const orders = await cluster.client.get(Database, at('orders'))
    expect(orders.status?.size).to.equal(3)
    expect(ready(orders)).to.equal(true)
    expect((await cluster.client.get(ConfigMap, at('orders'))).data).to.deep.equal({ size: '3' })
  })

  it('shows what the operator wrote, and nothing else', async () => {
    cluster = await embedded({ handlers: [DatabaseHandler] })
    await cluster.apply(database('orders'))
    await cluster.settled()
    expect(cluster.writes().map(String)).to.deep.equal(['apply ConfigMap default/orders', 'patch Database default/orders/status'])
    cluster.resetRequests()
    await cluster.client.patch(Database, at('orders'), { type: 'merge', value: { metadata: { labels: { a: 'b' } } } })
    await cluster.settled()
    expect(cluster.writes()).to.deep.equal([])
    expect(cluster.requests().map(String)).to.deep.equal(['patch Database default/orders'])
  })

  it('wakes by watches as a cluster does', async () => {
    cluster = await embedded({ handlers: [DatabaseHandler], objects: [database('orders', { secretName: 'key' })] })
    await cluster.settled()
    expect(ready(await cluster.client.get(Database, at('orders')))).to.equal(false)
    await cluster.client.create(Secret, { metadata: at('key') })
    await cluster.settled()
    expect(ready(await cluster.client.get(Database, at('orders')))).to.equal(true)
  })

  it('lets waits pass in no time', async () => {
    cluster = await embedded({ handlers: [TaskHandler] })
    await cluster.apply(task('a'))
    await cluster.settled()
    expect((await cluster.client.get(Task, at('a'))).status?.done).to.equal(1)
    await cluster.clock.advance('9s')
    expect((await cluster.client.get(Task, at('a'))).status?.done).to.equal(1)
    await cluster.clock.advance('1s')
    expect((await cluster.client.get(Task, at('a'))).status?.done).to.equal(2)
    await cluster.clock.advance('10h')
    expect((await cluster.client.get(Task, at('a'))).status?.done).to.equal(3)
  })

  it('lets time pass until something holds', async () => {
    cluster = await embedded({ handlers: [TaskHandler] })
    await cluster.apply(task('a'))
    const before = cluster.clock.now()
    const last = await cluster.until(() => cluster.client.find(Task, at('a')), ready)
    expect(last.status?.done).to.equal(3)
    expect(cluster.clock.now() - before).to.equal(20_000)
  })
})
