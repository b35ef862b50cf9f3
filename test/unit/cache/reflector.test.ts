import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { Reflector, type ReflectorOptions, type WatchState } from '../../../lib/cache/reflector.ts'
import { Store } from '../../../lib/cache/store.ts'
import { kind } from '../../../lib/resource/kind.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { ManualClock, settle } from '../manual-clock.ts'
import { added, bookmark, deleted, errorEvent, FakeApi, type FakeWatch, listed, modified } from './fake-api.ts'
import { configMap } from './objects.ts'

const CONFIG_MAP = kind('v1', 'ConfigMap', { plural: 'configmaps', scope: 'Namespaced' })
const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, child: () => log }

describe('Reflector', () => {
  let clock: ManualClock
  let api: FakeApi
  let store: Store
  let states: WatchState[]
  let reflector: Reflector

  function start(options: Partial<ReflectorOptions> = {}): void {
    // In the middle of its range: pauses come without jitter.
    const random = () => 0.5
    const client = new Client({ transport: api, clock, random })
    reflector = new Reflector({ client, kind: CONFIG_MAP, store, clock, random, log, onState: (state) => states.push(state), ...options })
    reflector.start()
  }

  /** A reflector whose list is done, and its open watch. */
  async function synced(...objects: object[]): Promise<FakeWatch> {
    start()
    const watch = await api.watch()
    await watch.open()
    await watch.send(...objects.map(added), listed(100))
    return watch
  }

  /** The same after the connection has lived long enough to be a good one. */
  async function settled(...objects: object[]): Promise<FakeWatch> {
    const watch = await synced(...objects)
    await clock.advance(20_000)
    return watch
  }

  /** The milliseconds until the next watch is asked for. */
  async function pause(): Promise<number> {
    const begin = clock.monotonic()
    while (!(await api.isAsked())) {
      const next = clock.next
      if (next === undefined) throw new Error('nothing waits')
      await clock.advance(next)
    }
    return clock.monotonic() - begin
  }

  const keys = () => [...store.keys()]

  beforeEach(() => {
    clock = new ManualClock()
    api = new FakeApi()
    store = new Store()
    states = []
  })

  afterEach(async () => {
    reflector.stop()
    await settle()
    expect(clock.pending, 'timers that outlive the reflector').to.equal(0)
  })

  describe('the first list', () => {
    it('is streamed', async () => {
      start({ namespace: 'n', labels: { app: 'db' }, fields: { 'metadata.name': 'a' } })
      const watch = await api.watch()
      expect(watch.path).to.equal('/api/v1/namespaces/n/configmaps')
      expect(Object.fromEntries(watch.query)).to.deep.equal({
        watch: '1',
        allowWatchBookmarks: 'true',
        timeoutSeconds: '450',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        labelSelector: 'app=db',
        fieldSelector: 'metadata.name=a',
      })
    })

    it('enters the store when it is complete, and the connection goes on as the watch', async () => {
      start()
      const watch = await api.watch()
      await watch.open()
      await watch.send(added(configMap('n/a', 5)), added(configMap('n/b', 6)), deleted(configMap('n/b', 7)))
      expect(keys()).to.deep.equal([])
      expect(reflector.synced).to.equal(false)
      await watch.send(listed(100))
      expect(keys()).to.deep.equal(['n/a'])
      expect(reflector.synced).to.equal(true)
      expect(states).to.deep.equal([{ phase: 'synced' }])
      await watch.send(modified(configMap('n/a', 101)), added(configMap('n/c', 102)))
      expect(store.meta('n/a')?.resourceVersion).to.equal('101')
      expect(keys()).to.deep.equal(['n/a', 'n/c'])
    })

    it('is judged by silence, not by how long it takes', async () => {
      start()
      const watch = await api.watch()
      await watch.open()
      for (let i = 0; i < 10; i++) {
        await watch.send(added(configMap(`n/a${i}`, 5 + i)))
        await clock.advance(60_000)
      }
      await watch.send(listed(100))
      expect(store.size).to.equal(10)
      expect(api.requests).to.have.length(1)
    })

    const refusals: [string, (watch: FakeWatch) => Promise<void>][] = [
      ['says that sendInitialEvents is forbidden (422)', (watch) => watch.refuse(422, { reason: 'Invalid' })],
      ['does not know the parameters (400)', (watch) => watch.refuse(400, { reason: 'BadRequest' })],
      [
        'falls silent',
        async (watch) => {
          await watch.open()
          await watch.send(added(configMap('n/a', 5)))
          await clock.advance(68_000)
        },
      ],
      [
        'sends bookmarks but never the one that ends the list',
        async (watch) => {
          await watch.open()
          await watch.send(added(configMap('n/a', 5)))
          for (const version of [50, 60]) {
            await clock.advance(60_000)
            await watch.send(bookmark(version))
          }
        },
      ],
      [
        'breaks it off twice',
        async (watch) => {
          await watch.open()
          await watch.end()
          await clock.advance(800)
          const again = await api.watch()
          await again.open()
          await again.end()
          await clock.advance(1_600)
        },
      ],
    ]
    for (const [what, refuse] of refusals) {
      it(`is read in pages where the server ${what}, from then on`, async () => {
        api.list = () => ({
          status: 200,
          body: { metadata: { resourceVersion: '90' }, items: [{ metadata: configMap('n/a', 5).metadata }] },
        })
        start()
        await refuse(await api.watch())
        const watch = await api.watch()
        expect(watch.version).to.equal('90')
        expect(store.get('n/a')).to.deep.equal(configMap('n/a', 5))
        expect(api.requests.at(-2)?.query.get('limit')).to.equal('500')
        expect(reflector.synced).to.equal(true)

        await watch.open()
        await watch.send(errorEvent(410, 'Expired'))
        await pause()
        const next = await api.watch()
        expect(next.version).to.equal('90')
        expect(api.requests.at(-2)?.query.get('watch')).to.equal(null)
      })
    }

    it('that breaks off is begun anew, and nothing of it enters the store or stays in memory', async () => {
      let discarded = 0
      const draft = store.draft.bind(store)
      store.draft = () => {
        const made = draft()
        return { ...made, discard: () => void discarded++ }
      }
      start()
      const watch = await api.watch()
      await watch.open()
      await watch.send(added(configMap('n/a', 5)))
      await watch.end(new Error('reset'))
      expect(discarded).to.equal(1)
      expect(await pause()).to.equal(800)
      const again = await api.watch()
      expect(again.isStreamedList).to.equal(true)
      await again.open()
      await again.send(added(configMap('n/b', 6)), listed(100))
      expect(keys()).to.deep.equal(['n/b'])
      expect(discarded).to.equal(1)
    })
  })

  describe('a watch that ends', () => {
    it('in the regular way is replaced at once, from the last bookmark', async () => {
      const watch = await synced()
      await watch.send(added(configMap('n/a', 101)))
      await clock.advance(60_000)
      await watch.send(bookmark(150))
      await watch.end()
      const next = await api.watch()
      expect(next.version).to.equal('150')
      expect(next.isStreamedList).to.equal(false)
      expect(states).to.deep.equal([{ phase: 'synced' }])
    })

    it('because it broke is replaced at once where it had lived', async () => {
      const watch = await settled()
      await watch.end(new Error('reset'))
      expect((await api.watch()).version).to.equal('100')
    })

    it('by silence is closed and replaced at once', async () => {
      const watch = await synced(configMap('n/a', 5))
      await clock.advance(40_000)
      await watch.send(modified(configMap('n/a', 101)))
      await clock.advance(67_000)
      expect(await api.isAsked()).to.equal(false)
      await clock.advance(1_000)
      expect(watch.closed).to.equal(true)
      expect((await api.watch()).version).to.equal('101')
      expect(keys()).to.deep.equal(['n/a'])
    })

    it('by silence five times in a row makes its version suspect: the kind is listed anew', async () => {
      let watch = await settled()
      await watch.send(bookmark(110))
      await clock.advance(68_000)
      const versions: (string | null)[] = []
      for (let i = 0; i < 5; i++) {
        watch = await api.watch()
        versions.push(watch.version)
        await watch.open()
        await clock.advance(68_000)
      }
      versions.push((await api.watch()).version)
      expect(versions).to.deep.equal(['110', '110', '110', '110', '110', null])
      expect(states).to.deep.equal([{ phase: 'synced' }])
    })

    it('is not taken for silent while a long line comes in pieces', async () => {
      const watch = await synced()
      const text = `${JSON.stringify(added(configMap('n/a', 101, { data: { x: '漢'.repeat(50) } })))}\n`
      for (let i = 0; i < text.length; i += 20) {
        await watch.sendText(text.slice(i, i + 20))
        await clock.advance(60_000)
      }
      expect(keys()).to.deep.equal(['n/a'])
      expect(watch.closed).to.equal(false)
    })

    it('young and without an event is replaced with growing pauses, and a connection alone does not shorten them', async () => {
      const watch = await settled()
      await watch.end()
      const pauses: number[] = []
      for (let i = 0; i < 8; i++) {
        const next = await api.watch()
        await next.open()
        if (next.isStreamedList) await next.send(listed(100))
        await clock.advance(100)
        await next.end()
        pauses.push(await pause())
      }
      expect(pauses).to.deep.equal([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000])
    })

    it('thrice in a row young and without an event makes its version suspect: the kind is listed anew', async () => {
      const watch = await settled()
      await watch.end()
      const versions: (string | null)[] = []
      for (let i = 0; i < 4; i++) {
        const next = await api.watch()
        versions.push(next.version)
        await next.open()
        await next.end()
        await pause()
      }
      expect(versions).to.deep.equal(['100', '100', '100', null])
    })

    it('young after an event is replaced after the first pause, which does not grow', async () => {
      let watch = await settled()
      await watch.end()
      for (let i = 1; i < 5; i++) {
        watch = await api.watch()
        await watch.open()
        await watch.send(added(configMap(`n/a${i}`, 100 + i)))
        await watch.end()
        expect(await pause()).to.equal(800)
      }
      expect(states).to.deep.equal([{ phase: 'synced' }])
      expect((await api.watch()).version).to.equal('104')
    })

    it('begins with short pauses again after one that lived', async () => {
      let watch = await settled()
      await watch.end()
      for (let i = 0; i < 3; i++) {
        watch = await api.watch()
        await watch.fail()
        await pause()
      }
      watch = await api.watch()
      await watch.open()
      await clock.advance(10_000)
      await watch.end()
      watch = await api.watch()
      await watch.fail()
      expect(await pause()).to.equal(800)
    })
  })

  describe('an expired version', () => {
    const expiries: [string, (watch: FakeWatch) => Promise<void>][] = [
      ['an ERROR event with code 410', (watch) => watch.send(errorEvent(410))],
      ['an ERROR event with reason Expired', (watch) => watch.send(errorEvent(0, 'Expired'))],
      [
        'HTTP status 410',
        async (watch) => {
          await watch.end()
          await (await api.watch()).refuse(410, { reason: 'Expired' })
        },
      ],
    ]
    for (const [what, expire] of expiries) {
      it(`told by ${what} leads to one list at once, which corrects the store in one go`, async () => {
        const watch = await settled(configMap('n/a', 5), configMap('n/b', 6))
        await expire(watch)
        const next = await api.watch()
        expect(next.isStreamedList).to.equal(true)
        await next.open()
        await next.send(added(configMap('n/b', 120)), added(configMap('n/c', 121)))
        expect(keys()).to.deep.equal(['n/a', 'n/b'])
        await next.send(listed(130))
        expect(keys()).to.deep.equal(['n/b', 'n/c'])
        expect(store.meta('n/b')?.resourceVersion).to.equal('120')
      })
    }

    it('found after an outage is listed anew without a pause', async () => {
      const watch = await settled()
      await watch.end(new Error('reset'))
      for (let i = 0; i < 5; i++) {
        await (await api.watch()).fail()
        await pause()
      }
      await (await api.watch()).refuse(410)
      expect(await pause()).to.equal(0)
      expect((await api.watch()).isStreamedList).to.equal(true)
    })

    it('that expires anew each time is not listed without a pause', async () => {
      let watch = await settled()
      const pauses: number[] = []
      for (let i = 0; i < 4; i++) {
        await watch.send(errorEvent(410))
        pauses.push(await pause())
        watch = await api.watch()
        await watch.open()
        await watch.send(listed(200 + i))
      }
      expect(pauses).to.deep.equal([0, 800, 1_600, 3_200])
    })
  })

  describe('a list that is older than what the watch has told', () => {
    it('is not believed: the store stays as it is until a newer one comes', async () => {
      const watch = await settled(configMap('n/a', 5), configMap('n/b', 6))
      await watch.send(modified(configMap('n/a', 150)))
      await watch.send(errorEvent(410))
      const old = await api.watch()
      await old.open()
      await old.send(added(configMap('n/a', 5)), listed(100))
      expect(store.meta('n/a')?.resourceVersion).to.equal('150')
      expect(keys()).to.deep.equal(['n/a', 'n/b'])
      expect(states.at(-1)).to.include({ phase: 'failing' })
      expect(await pause()).to.be.greaterThan(0)
      const good = await api.watch()
      expect(good.isStreamedList).to.equal(true)
      await good.open()
      await good.send(added(configMap('n/a', 160)), listed(170))
      expect(keys()).to.deep.equal(['n/a'])
      expect(states.at(-1)).to.deep.equal({ phase: 'synced' })
    })

    it('is taken over once every list of a minute agrees: the history of the server has gone back', async () => {
      const watch = await settled(configMap('n/a', 150), configMap('n/b', 151))
      await watch.send(bookmark(200), errorEvent(410))
      const begin = clock.monotonic()
      let refused = 0
      while (store.has('n/b')) {
        await pause()
        const next = await api.watch()
        await next.open()
        await next.send(added(configMap('n/a', 30)), listed(40))
        if (store.has('n/b')) refused++
      }
      expect(clock.monotonic() - begin).to.be.within(60_000, 120_000)
      expect(refused).to.be.greaterThan(3)
      expect(store.meta('n/a')?.resourceVersion).to.equal('30')
    })
  })

  describe('trouble', () => {
    it('of the server (an ERROR event 500) leads back to the same version after a pause', async () => {
      const watch = await settled()
      await watch.send(added(configMap('n/a', 101)), errorEvent(500), added(configMap('n/b', 102)))
      expect(await pause()).to.equal(800)
      expect((await api.watch()).version).to.equal('101')
      expect(keys()).to.deep.equal(['n/a'])
      expect(watch.closed).to.equal(true)
    })

    for (const text of [
      '{"type":"ADDED","obj',
      'null',
      '{"type":"ADDED","object":null}',
      '{"type":"ADDED","object":{"metadata":{}}}',
      '<html>',
    ]) {
      it(`of the protocol (${text}) leads back to the same version after a pause`, async () => {
        const watch = await synced()
        await watch.send(added(configMap('n/a', 101)))
        await watch.sendText(`${text}\n`)
        expect(await pause()).to.equal(800)
        expect((await api.watch()).version).to.equal('101')
        expect(keys()).to.deep.equal(['n/a'])
      })
    }

    it('keeps Retry-After as a minimum', async () => {
      const watch = await settled()
      await watch.end()
      await (await api.watch()).refuse(429, { headers: { 'retry-after': '7' } })
      expect(await pause()).to.equal(7_000)
      await (await api.watch()).refuse(429, { headers: { 'retry-after': '1' } })
      expect(await pause()).to.equal(1_600)
    })

    it('with the network does not list anew, however long it takes', async () => {
      const watch = await settled()
      await watch.end(new Error('reset'))
      for (let i = 0; i < 10; i++) {
        const next = await api.watch()
        expect(next.version).to.equal('100')
        await next.fail()
        await pause()
      }
      const state = reflector.state
      expect(state.phase).to.equal('failing')
      expect(reflector.synced).to.equal(true)
    })

    it('is told with its begin, and its end is told when the watch works', async () => {
      const watch = await settled()
      await watch.end()
      const since = clock.now()
      await (await api.watch()).fail(new Error('first'))
      await pause()
      await (await api.watch()).fail(new Error('second'))
      await pause()
      expect(states.slice(1)).to.deep.equal([
        { phase: 'failing', error: new Error('first'), since },
        { phase: 'failing', error: new Error('second'), since },
      ])
      const next = await api.watch()
      await next.open()
      expect(reflector.state.phase).to.equal('failing')
      await clock.advance(10_000)
      expect(reflector.state.phase).to.equal('synced')
    })

    it('ends with the first event', async () => {
      const watch = await settled()
      await watch.end()
      await (await api.watch()).fail()
      await pause()
      const next = await api.watch()
      await next.open()
      await next.send(bookmark(110))
      expect(reflector.state.phase).to.equal('synced')
    })
  })

  describe('what an administrator has to provide', () => {
    it('is the kind where the server answers 404; the store stays as it was, and a list corrects it', async () => {
      const watch = await settled(configMap('n/a', 5))
      await watch.end()
      const pauses: number[] = []
      for (let i = 0; i < 6; i++) {
        await (await api.watch()).refuse(404, { reason: 'NotFound' })
        pauses.push(await pause())
      }
      expect(pauses).to.deep.equal([800, 1_600, 3_200, 6_400, 10_000, 10_000])
      expect(reflector.state).to.include({ phase: 'failing', missing: 'kind' })
      expect(keys()).to.deep.equal(['n/a'])
      const next = await api.watch()
      expect(next.isStreamedList).to.equal(true)
      await next.open()
      await next.send(listed(200))
      expect(keys()).to.deep.equal([])
      expect(reflector.state.phase).to.equal('synced')
    })

    it('is the kind where discovery does not know it', async () => {
      api.list = () => ({ status: 200, body: { resources: [] } })
      start({ kind: kind('example.com/v1', 'Widget') })
      await settle()
      expect(reflector.state).to.include({ phase: 'failing', missing: 'kind' })
      api.list = () => ({ status: 200, body: { resources: [{ name: 'widgets', kind: 'Widget', namespaced: true, verbs: [] }] } })
      await clock.advance(800)
      expect((await api.watch()).path).to.equal('/apis/example.com/v1/widgets')
    })

    it('may be the kind under another plural or scope: discovery is asked again after a 404, and only then', async () => {
      const discovered = (name: string) => {
        api.list = () => ({ status: 200, body: { resources: [{ name, kind: 'Widget', namespaced: true, verbs: [] }] } })
      }
      const asked = () => api.requests.filter(({ path }) => path === '/apis/example.com/v1').length
      discovered('widgets')
      start({ kind: kind('example.com/v1', 'Widget') })
      const watch = await api.watch()
      await watch.open()
      await watch.send(listed(100))
      discovered('gadgets')
      await watch.end(new Error('reset'))
      await pause()
      const again = await api.watch()
      expect(again.path).to.equal('/apis/example.com/v1/widgets')
      expect(asked()).to.equal(1)
      await again.refuse(404, { reason: 'NotFound' })
      await pause()
      expect((await api.watch()).path).to.equal('/apis/example.com/v1/gadgets')
      expect(asked()).to.equal(2)
    })

    it('is the verb the server names where it answers 403; the watch goes on from its version later', async () => {
      const watch = await settled()
      await watch.end()
      await (await api.watch()).refuse(403, { message: 'configmaps is forbidden: User "x" cannot watch resource "configmaps"' })
      expect(reflector.state).to.include({ phase: 'failing', missing: 'watch' })
      await pause()
      expect((await api.watch()).version).to.equal('100')
    })

    it('is the verb list where pages are refused', async () => {
      api.list = () => ({ status: 403, body: { kind: 'Status', message: 'User "x" cannot list resource "configmaps"' } })
      start()
      await (await api.watch()).refuse(422)
      await settle()
      expect(reflector.state).to.include({ phase: 'failing', missing: 'list' })
    })
  })

  describe('stop', () => {
    it('closes the watch; nothing enters the store any more and nothing is asked', async () => {
      const watch = await synced()
      reflector.stop()
      expect(watch.closed).to.equal(true)
      await watch.send(added(configMap('n/a', 101)))
      await clock.advance(600_000)
      expect(keys()).to.deep.equal([])
      expect(api.requests).to.have.length(1)
    })

    it('ends a pause', async () => {
      start()
      await (await api.watch()).fail()
      reflector.stop()
      await clock.advance(600_000)
      expect(api.requests).to.have.length(1)
    })

    it('ends a connection that is being made', async () => {
      start()
      await api.watch()
      reflector.stop()
      await clock.advance(600_000)
      expect(api.requests).to.have.length(1)
      expect(states).to.deep.equal([])
    })

    it('closes a connection that is opened in the same moment', async () => {
      start()
      const watch = await api.watch()
      const opened = watch.open()
      reflector.stop()
      await opened
      expect(watch.closed).to.equal(true)
    })

    it('in a listener of the store ends the watch in the middle of a chunk', async () => {
      const watch = await synced()
      store.subscribe(() => reflector.stop())
      await watch.send(added(configMap('n/a', 101)), added(configMap('n/b', 102)))
      expect(keys()).to.deep.equal(['n/a'])
    })
  })

  it('takes a last event without a newline', async () => {
    const watch = await settled()
    await watch.sendText(JSON.stringify(added(configMap('n/a', 101))))
    await watch.end()
    expect(keys()).to.deep.equal(['n/a'])
    expect((await api.watch()).version).to.equal('101')
  })

  it('fills in apiVersion and kind where an event leaves them out', async () => {
    const watch = await settled()
    await watch.send(added({ metadata: configMap('n/a', 101).metadata }))
    expect(store.get('n/a')).to.deep.equal(configMap('n/a', 101))
  })

  it('tells the store how far it has come, so that late responses bring nothing back', async () => {
    const watch = await settled(configMap('n/a', 5))
    await watch.send(deleted(configMap('n/a', 105)))
    store.wrote(configMap('n/a', 104))
    expect(keys()).to.deep.equal([])
  })

  it('says when it heard last', async () => {
    const watch = await settled()
    await watch.send(bookmark(110))
    expect(reflector.lastEventAt).to.equal(clock.now())
  })
})
