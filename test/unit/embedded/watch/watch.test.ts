import { expect } from 'chai'
import type { ApiError } from '../../../../lib/embedded/status.ts'
import type { ResourceType } from '../../../../lib/embedded/types.ts'
import type { WatchEncoder } from '../../../../lib/embedded/watch.ts'
import { configMaps, Reader, World, widgets } from './world.ts'

describe('a watch', () => {
  let world: World
  beforeEach(() => {
    world = new World()
  })
  afterEach(() => {
    expect(world.faults).to.deep.equal([])
  })

  it('without resourceVersion shows the state in the order of keys, then what happens', async () => {
    world.put('n', 'b')
    world.put('n', 'a')
    world.put('m', 'z')
    const reader = world.watch('', { namespace: 'n' })
    expect(reader.lines).to.deep.equal(['ADDED a 3', 'ADDED b 2'])
    world.put('n', 'a', { x: 1 })
    world.put('m', 'y')
    world.delete('n', 'b')
    await world.settled()
    expect(reader.lines.slice(2)).to.deep.equal(['MODIFIED a 5', 'DELETED b 7'])
  })

  it('writes the events of a turn as one chunk', async () => {
    const reader = world.watch('')
    for (let i = 0; i < 100; i++) world.put('n', `c${i}`)
    await world.settled()
    expect(reader.writes).to.equal(1)
    expect(reader.lines).to.have.length(100)
  })

  it('replays what happened after its resourceVersion', async () => {
    world.put('n', 'a')
    const revision = world.put('n', 'b')
    world.put('n', 'a', { x: 1 })
    world.delete('n', 'b')
    const reader = world.watch(`resourceVersion=${revision}`)
    world.put('n', 'c')
    await world.settled()
    expect(reader.lines).to.deep.equal(['MODIFIED a 4', 'DELETED b 5', 'ADDED c 6'])
  })

  it('shows a deleted object as it was last, with the revision of the deletion', async () => {
    world.put('n', 'a', { data: { x: '1' } })
    const reader = world.watch('resourceVersion=2')
    world.delete('n', 'a')
    await world.settled()
    expect(reader.events[0]).to.deep.equal({
      type: 'DELETED',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n', resourceVersion: '3' }, data: { x: '1' } },
    })
  })

  it('says inside the stream that its resourceVersion is too old, and ends', () => {
    const small = new World(2)
    for (const name of ['a', 'b', 'c', 'd']) small.put('n', name)
    expect(small.watch('resourceVersion=3').lines).to.deep.equal(['ADDED c 4', 'ADDED d 5'])
    const reader = small.watch('resourceVersion=2')
    expect(reader.events).to.deep.equal([
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'too old resource version: 2 (3)',
          reason: 'Expired',
          code: 410,
        },
      },
    ])
    expect(reader.end_).to.equal('ended')
  })

  it('forgets what was before a compaction', () => {
    world.put('n', 'a')
    world.core.store.compact()
    expect(world.watch('resourceVersion=1').lines).to.deep.equal(['ERROR 410 too old resource version: 1 (2)'])
    expect(world.watch('resourceVersion=2').lines).to.deep.equal([])
  })

  it('waits for a resourceVersion that is still to come', async () => {
    const reader = world.watch('resourceVersion=3')
    world.put('n', 'a')
    world.put('n', 'b')
    world.put('n', 'c')
    await world.settled()
    expect(reader.lines).to.deep.equal(['ADDED c 4'])
  })

  describe('with a selector', () => {
    it('adds what comes to match, deletes what ceases to, and hides the rest', async () => {
      world.put('n', 'a', { labels: { x: '1' } })
      world.put('n', 'b')
      const reader = world.watch('labelSelector=x%3D1')
      world.put('n', 'b', { labels: { x: '1' } })
      world.put('n', 'b', { labels: { x: '1' }, data: {} })
      world.put('n', 'b', { labels: { x: '2' }, data: {} })
      world.put('n', 'b', { labels: { x: '3' } })
      world.delete('n', 'b')
      world.delete('n', 'a')
      await world.settled()
      expect(reader.lines).to.deep.equal(['ADDED a 2', 'ADDED b 4', 'MODIFIED b 5', 'DELETED b 6', 'DELETED a 9'])
      expect(reader.events[3]!.object, 'the state that matched').to.deep.include({ data: {} })
      expect(reader.events[3]!.object.metadata.labels).to.deep.equal({ x: '1' })
    })

    it('of one name is a watch of one object', async () => {
      world.put('n', 'a')
      world.put('n', 'b')
      const reader = world.watch('fieldSelector=metadata.name%3Db', { namespace: 'n' })
      world.put('n', 'a', { x: 1 })
      world.delete('n', 'b')
      world.put('n', 'b')
      await world.settled()
      expect(reader.lines).to.deep.equal(['ADDED b 3', 'DELETED b 5', 'ADDED b 6'])
    })

    it('of a field of the kind follows that field', async () => {
      world.put('', 'a', { spec: { color: 'red' } }, widgets)
      const reader = world.watch('fieldSelector=spec.color%3Dblue', { of: widgets })
      world.put('', 'a', { spec: { color: 'blue' } }, widgets)
      world.put('', 'a', { spec: { color: 'red' } }, widgets)
      await world.settled()
      expect(reader.lines).to.deep.equal(['ADDED a 3', 'DELETED a 4'])
    })
  })

  describe('with initial events', () => {
    it('marks their end with a bookmark that has the revision of the state', () => {
      world.put('n', 'a')
      world.put('', 'w', {}, widgets)
      const reader = world.watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true')
      expect(reader.lines).to.deep.equal(['ADDED a 2', 'BOOKMARK 3!'])
      expect(reader.events[1]!.object).to.deep.equal({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { resourceVersion: '3', annotations: { 'k8s.io/initial-events-end': 'true' } },
      })
    })

    it('has no mark without bookmarks, and the mark in a watch from nowhere in particular too', () => {
      world.put('n', 'a')
      expect(world.watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan').lines).to.deep.equal(['ADDED a 2'])
      for (const query of ['allowWatchBookmarks=true', 'allowWatchBookmarks=1&resourceVersion=0']) {
        expect(world.watch(query).lines).to.deep.equal(['ADDED a 2', 'BOOKMARK 2!'])
      }
    })

    it('begins now where they are not wanted', async () => {
      world.put('n', 'a')
      const reader = world.watch('sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true')
      world.put('n', 'b')
      await world.settled()
      expect(reader.lines).to.deep.equal(['ADDED b 3'])
    })

    it('cannot show a state that is still to come', () => {
      const reader = world.watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99')
      expect(reader.lines).to.deep.equal(['ERROR 504 Timeout: Too large resource version: 99, current: 1'])
      expect(reader.events[0]!.object.details).to.deep.equal({
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      })
    })
  })

  describe('over time', () => {
    it('gets a bookmark a minute and one two seconds before its end', async () => {
      const reader = world.watch('resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=150')
      world.put('', 'w', {}, widgets)
      await world.clock.advance(59_999)
      expect(reader.lines).to.deep.equal([])
      await world.clock.advance(1)
      world.put('n', 'a')
      await world.settled()
      await world.clock.advance(60_000)
      await world.clock.advance(27_999)
      expect(reader.lines).to.deep.equal(['BOOKMARK 2', 'ADDED a 3', 'BOOKMARK 3'])
      await world.clock.advance(1)
      expect(reader.lines.slice(3)).to.deep.equal(['BOOKMARK 3'])
      await world.clock.advance(2_000)
      expect(reader.lines).to.have.length(4)
      expect(reader.end_).to.equal('ended')
      expect(world.clock.pending).to.equal(0)
    })

    it('gets no bookmark that would lead it back', async () => {
      const reader = world.watch('resourceVersion=5&allowWatchBookmarks=true')
      await world.clock.advance(60_000)
      expect(reader.lines).to.deep.equal([])
    })

    it('ends after timeoutSeconds, or after half an hour to an hour', async () => {
      const short = world.watch('timeoutSeconds=1')
      const long = world.watch('')
      await world.clock.advance(999)
      expect(short.end_).to.equal(undefined)
      await world.clock.advance(1)
      expect(short.end_).to.equal('ended')
      await world.clock.advance(44 * 60_000)
      expect(long.end_).to.equal(undefined)
      await world.clock.advance(60_000)
      expect(long.end_).to.equal('ended')
    })

    it('leaves nothing behind when the client goes', async () => {
      const reader = world.watch('allowWatchBookmarks=true')
      reader.stop()
      world.put('n', 'a')
      await world.settled()
      expect(reader.lines).to.deep.equal(['BOOKMARK 1!'])
      expect(world.clock.pending).to.equal(0)
    })
  })

  it('tells what was deleted with a kind, and ends when the kind is no longer served', async () => {
    world.put('', 'a', {}, widgets)
    const reader = world.watch('', { of: widgets })
    const other = world.watch('')
    world.delete('', 'a', widgets)
    world.core.registry.set('x.io', 'widgets', [])
    await world.settled()
    expect(reader.lines).to.deep.equal(['ADDED a 2', 'DELETED a 3'])
    expect(reader.end_).to.equal('ended')
    expect(other.end_).to.equal(undefined)
  })

  it('goes on when the kind is served anew, as its new schema has it', async () => {
    const reader = world.watch('', { of: widgets })
    world.core.registry.set('x.io', 'widgets', [
      { ...widgets, convert: (object) => ({ ...object, converted: true }), storageVersion: 'x.io/v2' },
    ])
    world.put('', 'a', { apiVersion: 'x.io/v2' }, widgets)
    await world.settled()
    expect(reader.events[0]!.object).to.include({ converted: true })
    expect(reader.end_).to.equal(undefined)
  })

  it('keeps the order where conversions take their time', async () => {
    const answers: (() => void)[] = []
    const slowly: ResourceType = {
      ...widgets,
      storageVersion: 'x.io/v2',
      convert: (object, apiVersion) => new Promise((resolve) => answers.push(() => resolve({ ...object, apiVersion }))),
    }
    world.put('', 'a', { apiVersion: 'x.io/v2' }, slowly)
    const reader = world.watch('allowWatchBookmarks=true', { of: slowly })
    world.put('', 'b', { apiVersion: 'x.io/v2' }, slowly)
    world.put('', 'c', { apiVersion: 'x.io/v1' }, slowly)
    await world.settled()
    expect(reader.lines).to.deep.equal([])
    answers[0]!()
    await world.clock.advance(0)
    expect(reader.lines).to.deep.equal(['ADDED a 2', 'BOOKMARK 2!'])
    answers[1]!()
    await world.clock.advance(0)
    expect(reader.lines.slice(2)).to.deep.equal(['ADDED b 3', 'ADDED c 4'])
  })

  it('encodes an event once for all watches that share an encoding', async () => {
    let encoded = 0
    const shared: WatchEncoder = Object.assign((event: object) => `${encoded++ < 0 ? '' : JSON.stringify(event)}\n`, { shared: 'json' })
    const readers = Array.from({ length: 100 }, () => world.watch('resourceVersion=1', { encode: shared }))
    world.put('n', 'a')
    world.put('n', 'b')
    await world.settled()
    expect(encoded).to.equal(2)
    for (const reader of readers) expect(reader.lines).to.deep.equal(['ADDED a 2', 'ADDED b 3'])
  })

  describe('of a slow reader', () => {
    it('waits until it has read, then goes on where it was', async () => {
      world.put('n', 'a')
      const sink = new Reader()
      sink.slow = true
      world.watch('', { sink })
      world.put('n', 'b')
      world.put('n', 'c')
      await world.settled()
      expect(sink.lines).to.deep.equal(['ADDED a 2'])
      sink.read(true)
      expect(sink.lines).to.deep.equal(['ADDED a 2', 'ADDED b 3', 'ADDED c 4'])
      world.put('n', 'd')
      await world.settled()
      sink.read()
      world.put('n', 'e')
      await world.settled()
      expect(sink.lines.slice(3)).to.deep.equal(['ADDED d 5', 'ADDED e 6'])
    })

    it('is cut off when too much waits for it, and the writers never wait', async () => {
      const sink = new Reader()
      sink.slow = true
      world.watch('resourceVersion=1', { sink })
      world.put('n', 'a')
      await world.settled()
      for (let i = 0; i < 10_000; i++) world.put('n', 'a', { i })
      expect(sink.end_).to.equal(undefined)
      world.put('n', 'a')
      expect(sink.end_).to.equal('broken')
      sink.read()
      expect(sink.lines).to.deep.equal(['ADDED a 2'])
    })

    it('may have a long history to catch up with, on top of which as much may come as ever', async () => {
      for (let i = 0; i < 10_000; i++) world.put('n', 'a', { i })
      const sink = new Reader()
      sink.slow = true
      world.watch('resourceVersion=1', { sink })
      for (let i = 0; i < 5_000; i++) world.put('n', 'b', { i })
      expect(sink.end_).to.equal(undefined)
      sink.read()
      await world.settled()
      expect(sink.lines).to.have.length(15_000)
    })

    it('whose objects are converted as well waits for both', async () => {
      let convert = () => {}
      const slowly: ResourceType = {
        ...widgets,
        convert: (object, apiVersion) => new Promise((resolve) => (convert = () => resolve({ ...object, apiVersion }))),
      }
      const sink = new Reader()
      sink.slow = true
      world.put('', 'a', {}, widgets)
      world.put('', 'b', { apiVersion: 'x.io/v2' }, widgets)
      world.put('', 'c', {}, widgets)
      world.watch('', { of: slowly, sink })
      convert()
      await world.clock.advance(0)
      expect(sink.lines).to.deep.equal(['ADDED a 2', 'ADDED b 3'])
      sink.read(true)
      expect(sink.lines).to.deep.equal(['ADDED a 2', 'ADDED b 3', 'ADDED c 4'])
    })

    it('may have a large state to read at the beginning', async () => {
      for (let i = 0; i < 11_000; i++) world.put('n', `c${i}`)
      const sink = new Reader()
      sink.slow = true
      world.watch('', { sink })
      world.put('n', 'new')
      await world.settled()
      for (let reads = 0; reads < 100; reads++) sink.read(true)
      expect(sink.end_).to.equal(undefined)
      expect(sink.lines).to.have.length(11_001)
    })
  })

  it('breaks off, rather than leave a gap, where an event cannot be encoded', async () => {
    const reader = world.watch('', {
      encode: () => {
        throw new Error('cannot')
      },
    })
    const other = world.watch('')
    world.put('n', 'a')
    await world.settled()
    expect(reader.end_).to.equal('broken')
    expect(other.lines).to.deep.equal(['ADDED a 2'])
    expect(world.faults.splice(0).map(String)).to.deep.equal(['Error: cannot'])
  })

  it('refuses options that do not go together', () => {
    const refused = (query: string): string => {
      try {
        world.watch(query)
        return 'accepted'
      } catch (error) {
        const { code, reason, message } = error as ApiError
        return `${code} ${reason} ${message}`
      }
    }
    const invalid = (text: string) => `422 Invalid ListOptions.meta.k8s.io "" is invalid: ${text}`
    expect(refused('resourceVersion=abc')).to.equal(
      '500  resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    )
    expect(refused('sendInitialEvents=true')).to.equal(
      invalid('resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    )
    expect(refused('resourceVersionMatch=Foo')).to.equal(
      invalid(
        '[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided, ' +
          'resourceVersionMatch: Unsupported value: "Foo": supported values: "NotOlderThan"]',
      ),
    )
    expect(refused('continue=abc')).to.equal(
      invalid('resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided'),
    )
    expect(refused('timeoutSeconds=abc')).to.equal('400 BadRequest strconv.ParseInt: parsing "abc": invalid syntax')
    expect(refused('fieldSelector=spec.x%3D1')).to.match(/^400 /)
  })
})

describe('a kind with two names', () => {
  it('has one history: a watch of either sees what happens through the other', async () => {
    const world = new World()
    const events: ResourceType = { ...configMaps, group: 'events.k8s.io', storageVersion: 'v1' }
    const reader = world.watch('', { of: events })
    world.put('n', 'a')
    await world.settled()
    expect(reader.events[0]!.object).to.deep.include({ apiVersion: 'events.k8s.io/v1' })
  })
})
