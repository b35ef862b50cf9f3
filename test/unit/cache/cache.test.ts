import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { Cache } from '../../../lib/cache/cache.ts'
import { kind } from '../../../lib/resource/kind.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { ManualClock, settle } from '../manual-clock.ts'
import { added, errorEvent, FakeApi, listed } from './fake-api.ts'
import { configMap } from './objects.ts'

const CONFIG_MAP = kind('v1', 'ConfigMap', { plural: 'configmaps', scope: 'Namespaced' })
const SECRET = kind('v1', 'Secret', { plural: 'secrets', scope: 'Namespaced' })
const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, child: () => log }

describe('Cache', () => {
  let api: FakeApi
  let cache: Cache

  beforeEach(() => {
    const clock = new ManualClock()
    api = new FakeApi()
    const random = () => 0.5
    cache = new Cache({ client: new Client({ transport: api, clock, random }), clock, random, log })
  })

  afterEach(() => cache.stop())

  async function syncNext(version: number, ...objects: object[]): Promise<void> {
    const watch = await api.watch()
    await watch.open()
    await watch.send(...objects.map(added), listed(version))
  }

  describe('sources', () => {
    it('are shared by kind and selection, in whatever order the namespaces are named', () => {
      const source = cache.source(CONFIG_MAP, { namespaces: ['a', 'b'], labels: { app: 'db' } })
      expect(cache.source({ ...CONFIG_MAP }, { namespaces: ['b', 'a', 'b'], labels: 'app=db' })).to.equal(source)
      expect(cache.source(CONFIG_MAP, { namespaces: ['a'] })).not.to.equal(source)
      expect(cache.source(SECRET, { namespaces: ['a', 'b'], labels: { app: 'db' } })).not.to.equal(source)
    })

    it('of no namespace at all are refused: they would watch nothing, and be taken for all', () => {
      expect(() => cache.source(CONFIG_MAP, { namespaces: [] })).to.throw('ConfigMap: an empty list of namespaces')
    })

    it('watch only once the cache starts, later ones at once, and none after its stop', async () => {
      cache.source(CONFIG_MAP)
      expect(await api.isAsked()).to.equal(false)
      cache.start()
      expect((await api.watch()).path).to.equal('/api/v1/configmaps')
      cache.source(SECRET)
      expect((await api.watch()).path).to.equal('/api/v1/secrets')
      cache.stop()
      cache.source(CONFIG_MAP, { namespaces: ['n'] })
      expect(await api.isAsked()).to.equal(false)
    })

    it('are found by kind, the widest first', () => {
      expect(cache.find(CONFIG_MAP)).to.equal(undefined)
      const selected = cache.source(CONFIG_MAP, { labels: { app: 'db' } })
      expect(cache.find(CONFIG_MAP)).to.equal(selected)
      const one = cache.source(CONFIG_MAP, { namespaces: ['a'] })
      expect(cache.find(CONFIG_MAP)).to.equal(one)
      const two = cache.source(CONFIG_MAP, { namespaces: ['a', 'b'] })
      expect(cache.find(CONFIG_MAP)).to.equal(two)
      const all = cache.source(CONFIG_MAP)
      expect(cache.find(CONFIG_MAP)).to.equal(all)
    })

    it('say what they cover', () => {
      const some = cache.source(CONFIG_MAP, { namespaces: ['a'], fields: { 'metadata.name': 'x' } })
      expect([some.covers('a'), some.covers('b'), some.covers(undefined), some.selective]).to.deep.equal([true, false, false, true])
      const all = cache.source(CONFIG_MAP)
      expect([all.covers('a'), all.covers(undefined), all.selective]).to.deep.equal([true, true, false])
    })
  })

  describe('a source of several namespaces', () => {
    it('has one store, and is synced when each namespace is', async () => {
      const source = cache.source(CONFIG_MAP, { namespaces: ['b', 'a'] })
      const phases: string[][] = []
      source.onState(({ states }) => phases.push(states.map(({ state }) => state.phase)))
      cache.start()
      await syncNext(10, configMap('a/x', 5))
      expect(source.synced).to.equal(false)
      await syncNext(12, configMap('b/x', 6))
      expect(source.synced).to.equal(true)
      expect([...source.store.keys()]).to.deep.equal(['a/x', 'b/x'])
      expect(phases).to.deep.equal([
        ['synced', 'starting'],
        ['synced', 'synced'],
      ])
      expect(source.states.map(({ namespace }) => namespace)).to.deep.equal(['a', 'b'])
    })

    it('keeps the objects of one when the other is listed anew', async () => {
      const source = cache.source(CONFIG_MAP, { namespaces: ['a', 'b'] })
      cache.start()
      const first = await api.watch()
      await first.open()
      await first.send(added(configMap('a/x', 5)), listed(10))
      await syncNext(12, configMap('b/x', 6))
      await first.send(errorEvent(410))
      await syncNext(20)
      expect([...source.store.keys()]).to.deep.equal(['b/x'])
    })
  })

  describe('whenSynced', () => {
    it('waits for the list, and resolves at once after it', async () => {
      const source = cache.source(CONFIG_MAP)
      cache.start()
      let synced = false
      const waited = source.whenSynced().then(() => {
        synced = true
      })
      await settle()
      expect(synced).to.equal(false)
      await syncNext(10)
      await waited
      await source.whenSynced()
    })

    it('rejects with the reason of its signal', async () => {
      const source = cache.source(CONFIG_MAP)
      const stop = new AbortController()
      const waited = source.whenSynced(stop.signal).then(
        () => 'synced',
        (error) => error,
      )
      stop.abort('stopped')
      expect(await waited).to.equal('stopped')
      expect(await source.whenSynced(stop.signal).catch((error) => error)).to.equal('stopped')
    })
  })

  describe('own writes', () => {
    it('reach every store of the kind that selects the object', () => {
      const all = cache.source(CONFIG_MAP)
      const labelled = cache.source(CONFIG_MAP, { labels: { app: 'db' } })
      const elsewhere = cache.source(CONFIG_MAP, { namespaces: ['other'] })
      const secrets = cache.source(SECRET)
      cache.wrote(CONFIG_MAP, configMap('n/a', 5, { labels: { app: 'db' } }))
      cache.wrote(CONFIG_MAP, configMap('n/b', 6))
      const sizes = [all, labelled, elsewhere, secrets].map((source) => source.store.size)
      expect(sizes).to.deep.equal([2, 1, 0, 0])
    })

    it('take a deleted object from all of them', () => {
      const all = cache.source(CONFIG_MAP)
      const some = cache.source(CONFIG_MAP, { namespaces: ['n'] })
      cache.wrote(CONFIG_MAP, configMap('n/a', 5))
      expect(cache.deletedByUs(CONFIG_MAP, { namespace: 'n', name: 'a' }, 'uid-a')).to.equal('uid-a')
      expect(cache.deletedByUs(CONFIG_MAP, { namespace: 'n', name: 'a' }, 'uid-a')).to.equal(undefined)
      expect([all.store.size, some.store.size]).to.deep.equal([0, 0])
    })
  })

  it('goes on when a listener of a source throws', async () => {
    const source = cache.source(CONFIG_MAP)
    source.onState(() => {
      throw new Error('broken')
    })
    let calls = 0
    const stop = source.onState(() => {
      calls++
    })
    cache.start()
    await syncNext(10)
    expect(calls).to.equal(1)
    stop()
    expect(source.synced).to.equal(true)
  })
})
