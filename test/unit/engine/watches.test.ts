import { expect } from 'chai'
import { currentRun } from '../../../lib/engine/run.ts'
import { WatchMapper } from '../../../lib/engine/watch-mapper.ts'
import type { WatchContext } from '../../../lib/resource/context.ts'
import type { WatchOptions } from '../../../lib/resource/handler-spec.ts'
import { ManualClock } from '../manual-clock.ts'
import type { Any, FakeApi } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, deferred, handler, Secret, Site, StatefulSet, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

/** A class that watches ConfigMaps; `map` is its method. */
async function watching(map: (object: Any, ctx: WatchContext<Any>) => unknown, options: WatchOptions<never> = {}) {
  const world = new World()
  const runs: string[] = []
  const methods = { reconcile: (db: Any) => void runs.push(db.metadata.name), map }
  await world.start(handler(methods, { watches: [{ kind: ConfigMap, method: 'map', options: options as never }] }))
  for (const name of ['a', 'b', 'c']) world.api.create(Database, name, { spec: { config: `${name}-config` } })
  await settle()
  expect(runs.splice(0)).to.deep.equal(['a', 'b', 'c'])
  return { world, api: world.api, runs }
}

/** Makes the ConfigMap `x` name something, once it is there and then anew. */
const pointing = (api: FakeApi) => (target: string) => {
  const data = { for: target }
  if (api.get(ConfigMap, 'x') === undefined) api.create(ConfigMap, 'x', { data })
  else api.edit(ConfigMap, 'x', (map) => Object.assign(map, { data }))
}

describe('@watches (promise 2)', () => {
  for (const [what, returned, expected] of [
    ['an object’s place', { name: 'a', namespace: 'shop' }, ['a']],
    ['a text', 'shop/b', ['b']],
    ['a name, which is in the namespace of what changed', { name: 'b' }, ['b']],
    ['a name as a text', 'c', ['c']],
    ['several of both', ['shop/a', { name: 'c', namespace: 'shop' }], ['a', 'c']],
    ['the same twice', ['shop/a', 'shop/a'], ['a']],
    ['nothing', undefined, []],
    ['an empty list', [], []],
    ['an object that is not there', 'shop/x', []],
    ['a promise', Promise.resolve('shop/a'), ['a']],
  ] as const) {
    it(`runs what its method returns: ${what}`, async () => {
      const { api, runs } = await watching(() => returned)
      api.create(ConfigMap, 'x', { data: {} })
      await settle()
      expect(runs).to.deep.equal(expected)
    })
  }

  it('calls the method for additions, changes and deletions, not for noise', async () => {
    const calls: string[] = []
    const { api } = await watching((map) => void calls.push(JSON.stringify(map['data'] ?? null)))
    api.create(ConfigMap, 'x', { data: { a: '1' } })
    api.edit(ConfigMap, 'x', (map) => {
      map['data'] = { a: '2' }
    })
    await settle()
    expect(calls.splice(0).sort()).to.deep.equal(['{"a":"1"}', '{"a":"1"}', '{"a":"2"}'])
    api.delete(ConfigMap, 'x')
    await settle()
    expect(calls).to.deep.equal(['{"a":"2"}'])
  })

  it('runs also the object that a reference has left', async () => {
    const { api, runs } = await watching((map) => map['data'].for as string)
    api.create(ConfigMap, 'x', { data: { for: 'shop/a' } })
    await settle()
    api.edit(ConfigMap, 'x', (map) => {
      map['data'] = { for: 'shop/b' }
    })
    await settle()
    expect(runs.sort()).to.deep.equal(['a', 'a', 'b'])
  })

  it('runs once for a change, although the object is mapped as it is and as it was', async () => {
    const { api, runs } = await watching(() => 'shop/a')
    api.create(ConfigMap, 'x', { data: {} })
    await settle()
    runs.length = 0
    api.edit(ConfigMap, 'x', (map) => {
      map['data'] = { a: '1' }
    })
    await settle()
    expect(runs).to.deep.equal(['a'])
  })

  it('lets the method look through the primaries', async () => {
    const users = (map: Any, ctx: WatchContext<Any>) =>
      ctx.primaries({ namespace: 'shop' }).flatMap((db) => (db['spec'].config === map.metadata.name ? [db.metadata] : []))
    const { api, runs } = await watching(users)
    api.create(ConfigMap, 'b-config', { data: {} })
    await settle()
    expect(runs).to.deep.equal(['b'])
  })

  it('calls a method that threw again, so that no change is lost', async () => {
    let calls = 0
    const { world, api, runs } = await watching(() => {
      if (++calls < 3) throw new Error('not now')
      return 'shop/a'
    })
    api.create(ConfigMap, 'x', { data: {} })
    await world.ms(249)
    expect(runs).to.deep.equal([])
    await world.ms(501)
    expect([calls, runs]).to.deep.equal([3, ['a']])
    expect(world.logged('error')).to.deep.equal(Array(2).fill('a watch method failed; it is called again'))
  })

  it('maps ten objects at a time, however many have changed', async () => {
    const gate = deferred()
    let [now, most, calls] = [0, 0, 0]
    const { api } = await watching(async () => {
      calls++
      most = Math.max(most, ++now)
      await gate.promise
      now--
    })
    for (let i = 0; i < 40; i++) api.create(ConfigMap, `x${i}`, { data: {} })
    await settle()
    expect(calls).to.equal(10)
    gate.resolve()
    await settle()
    expect([calls, most, now]).to.deep.equal([40, 10, 0])
  })

  for (const end of ['succeeds', 'fails']) {
    it(`maps the oldest state and the last change of what came during a call that ${end}`, async () => {
      const gate = deferred()
      gate.promise.catch(() => {})
      const calls: string[] = []
      const { api, runs } = await watching(async (map) => {
        calls.push(map['data'].for)
        if (calls.length === 1) await gate.promise
        return map['data'].for as string
      })
      const point = pointing(api)
      point('shop/x')
      await settle()
      for (const name of ['a', 'x', 'b', 'c']) point(`shop/${name}`)
      await settle()
      expect(calls.splice(0)).to.deep.equal(['shop/x'])
      if (end === 'fails') gate.reject(new Error('not now'))
      else gate.resolve()
      await settle()
      expect(calls).to.deep.equal(['shop/x', 'shop/b', 'shop/c'])
      expect(runs).to.deep.equal(['b', 'c'])
    })
  }

  it('merges what changes while the object waits to be mapped again', async () => {
    let broken = true
    const calls: string[] = []
    const { world, api, runs } = await watching((map) => {
      calls.push(map['data'].for)
      if (broken) throw new Error('not now')
      return map['data'].for as string
    })
    const point = pointing(api)
    point('shop/a')
    await world.ms(249)
    point('shop/b')
    await settle()
    expect(calls.splice(0)).to.deep.equal(['shop/a'])
    broken = false
    await world.ms(1)
    expect(calls).to.deep.equal(['shop/a', 'shop/b'])
    expect(runs).to.deep.equal(['a', 'b'])
  })

  it('has one row of retries for an object, which grows with every failure and ends with a success', async () => {
    let broken = true
    let calls = 0
    const { world, api, runs } = await watching(() => {
      calls++
      if (broken) throw new Error('no')
      return 'shop/a'
    })
    const point = pointing(api)
    for (let i = 0; i < 50; i++) {
      point(`shop/${i}`)
      await world.ms(1000)
    }
    await world.ms(3_600_000)
    calls = 0
    await world.ms(600_000)
    // Twice, three states each.
    expect(calls).to.equal(6)
    broken = false
    await world.ms(300_000)
    expect([calls, runs]).to.deep.equal([9, ['a']])
    await world.ms(3_600_000)
    expect(calls).to.equal(9)
    // The next failure is the first one again.
    broken = true
    point('shop/b')
    await settle()
    calls = 0
    await world.ms(250)
    expect(calls).to.equal(2)
  })

  it('begins with short pauses again after a success, also where the object has changed during it', async () => {
    const gate = deferred()
    let calls = 0
    const { world, api } = await watching(async () => {
      if (++calls === 5) await gate.promise
      else throw new Error('no')
    })
    const point = pointing(api)
    point('shop/a')
    await world.ms(10_000)
    expect(calls).to.equal(5)
    point('shop/b')
    await settle()
    gate.resolve()
    await world.ms(1000)
    expect(calls).to.equal(7)
    await world.ms(250)
    expect(calls).to.equal(9)
  })

  it('tries a changed object again within a second, whatever the back-off', async () => {
    let calls = 0
    const { world, api } = await watching(() => {
      calls++
      throw new Error('no')
    })
    const point = pointing(api)
    point('shop/a')
    await world.ms(600_000)
    calls = 0
    point('shop/b')
    await world.ms(999)
    expect(calls).to.equal(0)
    await world.ms(1)
    expect(calls).to.equal(2)
  })

  it('runs what an object names now, although the method throws for what it was', async () => {
    const { world, api, runs } = await watching((map) => {
      if (map['data'].for === 'bad') throw new Error('bad')
      return map['data'].for as string
    })
    const point = pointing(api)
    point('bad')
    await world.ms(1000)
    point('shop/a')
    await world.ms(1000)
    expect(runs).to.deep.equal(['a'])
    // What is tried again is not in the way of the next change, nor does it stand for it.
    point('shop/b')
    await world.ms(1000)
    expect(runs).to.deep.equal(['a', 'a', 'b'])
  })

  it('forgets an object that is deleted, once its last form has been mapped', async () => {
    let calls = 0
    const { world, api, runs } = await watching((map) => {
      calls++
      if (map['data'].for === 'bad') throw new Error('bad')
      return map['data'].for as string
    })
    const point = pointing(api)
    point('bad')
    await settle()
    point('shop/a')
    api.delete(ConfigMap, 'x')
    await world.ms(250)
    expect(runs).to.deep.equal(['a'])
    calls = 0
    await world.ms(3_600_000)
    expect(calls).to.equal(0)
  })

  it('maps also what was deleted before it could be mapped, and what came in its place', async () => {
    let broken = true
    const { world, api, runs } = await watching((map) => {
      if (broken) throw new Error('not now')
      return map['data'].for as string
    })
    const point = pointing(api)
    point('shop/a')
    api.delete(ConfigMap, 'x')
    point('shop/b')
    await settle()
    broken = false
    await world.ms(500)
    expect(runs).to.deep.equal(['a', 'b'])
  })

  it('gives up waiting for a call after a minute and repeats it, so that none blocks the others', async () => {
    const aborted: string[] = []
    let calls = 0
    const { world, api, runs } = await watching((map, ctx) => {
      if (map.metadata.name === 'last') return 'shop/a'
      if (++calls > 10) return 'shop/b'
      ctx.signal.addEventListener('abort', () => aborted.push(ctx.signal.reason.message))
      return new Promise(() => {})
    })
    for (let i = 0; i < 10; i++) api.create(ConfigMap, `x${i}`, { data: {} })
    await settle()
    api.create(ConfigMap, 'last', { data: {} })
    await world.ms(59_999)
    expect([aborted, runs]).to.deep.equal([[], []])
    await world.ms(1)
    expect(aborted).to.deep.equal(Array(10).fill('map() took longer than 1m'))
    expect(runs).to.deep.equal(['a'])
    await world.ms(250)
    expect(runs).to.include('b')
  })

  it('is not part of the run whose write brought the change, nor are its retries', async () => {
    const world = new World()
    const inRun: boolean[] = []
    const reconcile = async (_db: Any, ctx: Ctx) => {
      inRun.push(currentRun.getStore() !== undefined)
      await ctx.client.create(ConfigMap, { metadata: { name: 'x', namespace: 'shop' }, data: {} } as never)
    }
    const map = () => {
      inRun.push(currentRun.getStore() !== undefined)
      if (inRun.length < 3) throw new Error('not now')
    }
    await world.start(handler({ reconcile, map }, { watches: [{ kind: ConfigMap, method: 'map', options: {} }] }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(249)
    expect(inRun.slice(0, 2)).to.deep.equal([true, false])
    await world.ms(1)
    expect(inRun.at(-1)).to.equal(false)
  })

  it('calls nothing any more once the operator has stopped', async () => {
    const gate = deferred()
    const reasons: string[] = []
    let calls = 0
    const { world, api, runs } = await watching(async (map, ctx) => {
      calls++
      if (map.metadata.name === 'retried') throw new Error('no')
      ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason.message))
      await gate.promise
      return 'shop/a'
    })
    api.create(ConfigMap, 'retried', { data: {} })
    for (let i = 0; i < 12; i++) api.create(ConfigMap, `x${i}`, { data: {} })
    await settle()
    expect(calls).to.equal(11)
    await world.stop()
    expect(reasons).to.deep.equal(Array(10).fill('the operator is stopping'))
    gate.resolve()
    api.create(ConfigMap, 'late', { data: {} })
    await world.ms(3_600_000)
    expect([calls, runs, world.clock.pending]).to.deep.equal([11, [], 0])
    expect(world.logged('error')).to.deep.equal(['a watch method failed; it is called again'])
  })

  it('calls nothing any more from the moment it is told to stop, before anything is aborted', async () => {
    const clock = new ManualClock()
    const [calls, woken]: [string[], string[]] = [[], []]
    const gate = deferred()
    const map = async (map: Any) => {
      calls.push(map.metadata.name)
      if (map.metadata.name === 'retried') throw new Error('no')
      await gate.promise
      return 'shop/a'
    }
    const mapper = new WatchMapper({
      instance: { map },
      method: 'map',
      when: undefined,
      primary: Database,
      primaries: undefined as never,
      client: undefined as never,
      clock,
      random: () => 0.5,
      log: new World().log,
      signal: new AbortController().signal,
      fieldManager: 'tsop',
      wake: (key) => woken.push(key),
    })
    const change = (name: string): void => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop', uid: name, resourceVersion: '1' } }
      mapper.map({ type: 'added', key: `shop/${name}`, uid: name, resourceVersion: '1', object, old: undefined, initial: false })
    }
    change('retried')
    for (let i = 0; i < 12; i++) change(`x${i}`)
    await settle()
    expect(calls.splice(0)).to.have.length(11)
    mapper.stop()
    await settle()
    expect(clock.pending).to.equal(0)
    gate.resolve()
    change('late')
    await clock.advance(3_600_000)
    expect([calls, woken]).to.deep.equal([[], []])
  })

  it('says what is wrong with what a method returned', async () => {
    const { world, api } = await watching(() => [5])
    api.create(ConfigMap, 'x', { data: {} })
    await settle()
    const line = world.lines.find(({ level }) => level === 'error')
    expect(line?.fields.err.message).to.equal("map() must return objects with name and namespace, or texts 'namespace/name', not 5")
  })

  it('does not let a method change what the cache has', async () => {
    const { world, api } = await watching((map) => {
      map['data'].hacked = 'x'
    })
    api.create(ConfigMap, 'x', { data: {} })
    await settle()
    let read: Any | undefined
    await world.stop()
    await world.start(
      handler(
        {
          map: (map) => {
            map['data'].hacked = 'x'
          },
          reconcile: async (_db, ctx: Ctx) => {
            read = (await ctx.get(ConfigMap, 'x')) as Any
          },
        },
        { watches: [{ kind: ConfigMap, method: 'map', options: {} }] },
      ),
    )
    expect(read?.['data']).to.deep.equal({})
  })

  it('does not let a method change what the method of another class gets', async () => {
    const world = new World()
    const seen: object[] = []
    const watches = [{ kind: ConfigMap, method: 'map', options: {} }]
    const vandal = (map: Any) => {
      map['data'] = { hacked: 'x' }
    }
    const reader = (map: Any) => void seen.push(map['data'])
    await world.start(handler({ map: vandal }, { watches }), handler({ map: reader }, { kind: Site, watches }))
    world.api.create(ConfigMap, 'x', { data: { a: '1' } })
    await settle()
    expect(seen).to.deep.equal([{ a: '1' }])
  })

  it('maps only what `when` lets through', async () => {
    const { api, runs } = await watching(() => 'shop/a', { when: (map: Any) => map.metadata.name === 'x' })
    api.create(ConfigMap, 'y', { data: {} })
    await settle()
    expect(runs).to.deep.equal([])
    api.create(ConfigMap, 'x', { data: {} })
    await settle()
    expect(runs).to.deep.equal(['a'])
  })

  it('maps an object for which `when` throws, and says so', async () => {
    const when = () => {
      throw new Error('no such field')
    }
    const { world, api, runs } = await watching(() => 'shop/a', { when })
    api.create(ConfigMap, 'x', { data: {} })
    await world.ms(3_600_000)
    expect(runs).to.deep.equal(['a'])
    expect(world.logged('error')).to.deep.equal(['`when` threw; the object is mapped as if it had returned true'])
  })

  it('lets the server select by labels', async () => {
    const { api, runs } = await watching(() => 'shop/a', { labels: { for: 'db' } })
    api.create(ConfigMap, 'y', { data: {} })
    api.create(ConfigMap, 'x', { data: {}, metadata: { labels: { for: 'db' } } })
    await settle()
    expect(runs).to.deep.equal(['a'])
    expect(api.seen('watch configmaps')[0]?.query.get('labelSelector')).to.equal('for=db')
  })

  it('an event of a watched object does not cut a back-off', async () => {
    const world = new World()
    let runs = 0
    const reconcile = () => {
      runs++
      throw new Error('no')
    }
    const watches = [{ kind: ConfigMap, method: 'map', options: {} }]
    await world.start(handler({ reconcile, map: () => 'shop/a' }, { watches }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(1800)
    expect(runs).to.equal(4)
    world.api.create(ConfigMap, 'x', { data: {} })
    await world.ms(1000)
    expect(runs).to.equal(4)
  })
})

describe('no hidden watch (promise 9)', () => {
  it('watches the declared kinds and nothing else', async () => {
    const world = new World()
    const reconcile = async (_db: Any, ctx: Ctx) => {
      await ctx.get(Secret, 'x')
      await ctx.list(StatefulSet)
    }
    await world.start(handler({ reconcile, config: () => ({}) }, { owns: { config: ConfigMap } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(world.api.seen(/^watch/).map(({ plural }) => plural)).to.deep.equal(['databases', 'configmaps'])
    expect(world.api.seen(/^(get|list)/).map(({ text }) => text)).to.deep.equal(['get secrets/x', 'list statefulsets'])
  })

  it('reads a declared kind from the cache, any other live', async () => {
    const world = new World()
    const read: unknown[] = []
    const reconcile = async (_db: Any, ctx: Ctx) => {
      read.push((await ctx.get(ConfigMap, 'x'))?.metadata.name, (await ctx.list(ConfigMap)).length)
      read.push((await ctx.get(Secret, 'x'))?.metadata.name, await ctx.get(Secret, 'none'))
    }
    await world.start(handler({ reconcile, map: () => undefined }, { watches: [{ kind: ConfigMap, method: 'map', options: {} }] }))
    world.api.create(ConfigMap, 'x')
    world.api.create(Secret, 'x')
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(read).to.deep.equal(['x', 1, 'x', undefined])
    expect(world.api.seen(/configmaps/).map(({ verb }) => verb)).to.deep.equal(['watch'])
  })

  it('reads live what a label selection of the watch may leave out', async () => {
    const world = new World()
    const read: unknown[] = []
    const reconcile = async (_db: Any, ctx: Ctx) => {
      read.push((await ctx.get(ConfigMap, 'unlabelled'))?.metadata.name, (await ctx.list(ConfigMap)).length)
    }
    const watches = [{ kind: ConfigMap, method: 'map', options: { labels: { for: 'db' } } }]
    await world.start(handler({ reconcile, map: () => undefined }, { watches }))
    world.api.create(ConfigMap, 'unlabelled')
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(read).to.deep.equal(['unlabelled', 1])
  })

  it('reads live what lies outside the watched namespaces', async () => {
    const world = new World()
    const read: unknown[] = []
    const reconcile = async (_db: Any, ctx: Ctx) => {
      read.push(
        (await ctx.get(ConfigMap, { name: 'x', namespace: 'other' }))?.metadata.name,
        (await ctx.list(ConfigMap, { namespace: '*' })).length,
      )
    }
    const watches = [{ kind: ConfigMap, method: 'map', options: {} }]
    await world.startWith({ namespaces: ['shop'] }, handler({ reconcile, map: () => undefined }, { watches }))
    world.api.create(ConfigMap, 'x', { metadata: { namespace: 'other' } })
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(read).to.deep.equal(['x', 1])
    expect(world.api.seen(/^watch/).map(({ namespace }) => namespace)).to.deep.equal(['shop', 'shop'])
  })

  it('reads live what another class watches but has not seen yet', async () => {
    const world = new World()
    const read: unknown[] = []
    const reconcile = async (_db: Any, ctx: Ctx) => void read.push((await ctx.get(ConfigMap, 'x'))?.metadata.name)
    const other = handler({ map: () => undefined }, { kind: Site, watches: [{ kind: ConfigMap, method: 'map', options: {} }] })
    world.api.fail('watch configmaps', 403, 'Forbidden', 99)
    world.api.create(ConfigMap, 'x')
    world.api.create(Database, 'a', { spec: {} })
    await world.start(handler({ reconcile }), other)
    expect(read).to.deep.equal(['x'])
  })

  it('asks the server once for a kind whose scope is not given', async () => {
    const world = new World()
    const unknown = { apiVersion: 'v1', kind: 'ConfigMap' }
    await world.start(handler({ config: () => ({}) }, { owns: { config: unknown } }))
    for (const name of ['a', 'b']) world.api.create(Database, name, { spec: {} })
    await settle()
    expect(world.api.all(ConfigMap)).to.have.length(2)
    expect(world.api.seen(/^discover/)).to.have.length(1)
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.status).to.equal('True')
  })
})
