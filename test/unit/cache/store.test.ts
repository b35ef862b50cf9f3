import { expect } from 'chai'
import { type Change, compareResourceVersions, Store } from '../../../lib/cache/store.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { configMap } from './objects.ts'

function told(store: Store): string[] {
  const changes: string[] = []
  store.subscribe((change) => changes.push(`${change.type} ${change.key}@${change.resourceVersion}`))
  return changes
}

function silentLog(errors: object[] = []): Log {
  const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error: (fields) => void errors.push(fields as object), child: () => log }
  return log
}

describe('compareResourceVersions', () => {
  it('orders by length, then by text, beyond the numbers that JavaScript can tell apart', () => {
    expect(compareResourceVersions('9', '10')).to.be.lessThan(0)
    expect(compareResourceVersions('10', '9')).to.be.greaterThan(0)
    expect(compareResourceVersions('9007199254740993', '9007199254740992')).to.be.greaterThan(0)
    expect(compareResourceVersions('12', '12')).to.equal(0)
  })
})

describe('Store', () => {
  let store: Store
  beforeEach(() => {
    store = new Store()
  })

  describe('versions', () => {
    it('takes a newer version and ignores an equal or older one', () => {
      const changes = told(store)
      for (const version of [9, 10, 9, 10, 11]) store.put(configMap('n/a', version))
      expect(changes).to.deep.equal(['added n/a@9', 'updated n/a@10', 'updated n/a@11'])
      expect(store.meta('n/a')?.resourceVersion).to.equal('11')
    })

    it('takes another uid under the same name for a deletion and an addition', () => {
      store.put(configMap('n/a', 5, { uid: 'first' }))
      const changes: string[] = []
      store.subscribe((change) => changes.push(`${change.type} ${change.uid}`))
      store.put(configMap('n/a', 8, { uid: 'second' }))
      expect(changes).to.deep.equal(['deleted first', 'added second'])
    })

    it('ignores what is told of a former object of the same name', () => {
      store.put(configMap('n/a', 8, { uid: 'second' }))
      const changes = told(store)
      store.put(configMap('n/a', 5, { uid: 'first' }))
      store.removed(configMap('n/a', 9, { uid: 'first' }))
      expect(changes).to.deep.equal([])
      expect(store.meta('n/a')?.uid).to.equal('second')
    })

    it('does not let a deletion older than what it has remove an object', () => {
      store.wrote(configMap('n/a', 9))
      store.removed(configMap('n/a', 8))
      expect(store.has('n/a')).to.equal(true)
    })
  })

  describe('own writes', () => {
    it('shows the response of an own write before its event, and tells it once', () => {
      const changes = told(store)
      store.wrote(configMap('n/a', 5))
      store.put(configMap('n/a', 5))
      expect(changes).to.deep.equal(['added n/a@5'])
    })

    it('does not bring back an object by a response that comes after its DELETED event', () => {
      store.put(configMap('n/a', 5))
      store.removed(configMap('n/a', 8))
      store.reached('8')
      store.wrote(configMap('n/a', 7))
      expect(store.size).to.equal(0)
    })

    it('shows the response of a create although others were deleted before', () => {
      store.reached('8')
      store.wrote(configMap('n/b', 9))
      expect(store.has('n/b')).to.equal(true)
    })

    it('judges the response by how far the watch of its namespace has come', () => {
      store.reached('90', { namespace: 'fast' })
      store.reached('5', { namespace: 'slow' })
      store.wrote(configMap('slow/a', 9))
      store.wrote(configMap('fast/a', 9))
      expect([...store.keys()]).to.deep.equal(['slow/a'])
    })

    it('does not keep what its watch does not select, and drops what an own write took out of the selection', () => {
      store = new Store({ selects: (object) => object.metadata.labels?.['app'] === 'db' })
      store.wrote(configMap('n/other', 5))
      store.wrote(configMap('n/a', 6, { labels: { app: 'db' } }))
      expect([...store.keys()]).to.deep.equal(['n/a'])
      store.wrote(configMap('n/a', 7))
      expect(store.size).to.equal(0)
    })
  })

  describe('own deletes', () => {
    beforeEach(() => store.put(configMap('n/a', 5)))

    it('removes the object at once, tells it once, and says which one it was', () => {
      const changes = told(store)
      expect(store.deletedByUs('n/a', 'uid-a')).to.equal('uid-a')
      store.put(configMap('n/a', 6))
      store.removed(configMap('n/a', 7))
      expect(changes).to.deep.equal(['deleted n/a@5'])
      expect(store.has('n/a')).to.equal(false)
    })

    it('leaves a successor of the same name alone', () => {
      store.put(configMap('n/a', 9, { uid: 'next' }))
      expect(store.deletedByUs('n/a', 'uid-a')).to.equal(undefined)
      expect(store.meta('n/a')?.uid).to.equal('next')
    })

    it('forgets the delete with the DELETED event', () => {
      store.deletedByUs('n/a', 'uid-a')
      store.removed(configMap('n/a', 7))
      store.put(configMap('n/a', 8))
      expect(store.has('n/a')).to.equal(true)
    })

    it('remembers the delete through a list that was made before it', () => {
      store.deletedByUs('n/a', 'uid-a')
      store.replace([configMap('n/a', 5)], '6')
      store.put(configMap('n/a', 7))
      expect(store.has('n/a')).to.equal(false)
    })

    it('remembers the delete through a list that is older than the object', () => {
      store.deletedByUs('n/a', 'uid-a')
      store.replace([], '4')
      store.put(configMap('n/a', 5))
      expect(store.has('n/a')).to.equal(false)
    })

    it('forgets the delete with a list made after it', () => {
      store.deletedByUs('n/a', 'uid-a')
      store.replace([], '6')
      store.put(configMap('n/a', 7))
      expect(store.has('n/a')).to.equal(true)
    })

    it('forgets the delete of an object it did not know after two bookmarks', () => {
      store.deletedByUs('n/b', 'uid-b')
      store.put(configMap('n/b', 6))
      expect(store.has('n/b')).to.equal(false)
      store.reached('7', { bookmark: true })
      store.reached('8', { bookmark: true })
      store.put(configMap('n/b', 9))
      expect(store.has('n/b')).to.equal(true)
    })

    it('leaves another object that bears the name by now', () => {
      expect(store.deletedByUs('n/a', 'uid-of-its-predecessor')).to.equal(undefined)
      expect(store.meta('n/a')?.uid).to.equal('uid-a')
      store.put(configMap('n/a', 9))
      expect(store.meta('n/a')?.resourceVersion).to.equal('9')
    })
  })

  describe('lists', () => {
    it('replaces all: adds, updates and removes', () => {
      for (const [name, version] of Object.entries({ same: 1, old: 2, gone: 3 })) store.put(configMap(`n/${name}`, version))
      const changes = told(store)
      store.replace([configMap('n/same', 1), configMap('n/old', 8), configMap('n/new', 9)], '10')
      expect(changes).to.deep.equal(['deleted n/gone@3', 'updated n/old@8', 'added n/new@9'])
    })

    it('keeps what is newer than the list', () => {
      store.wrote(configMap('n/created', 12))
      store.wrote(configMap('n/changed', 13))
      store.replace([configMap('n/changed', 4)], '10')
      expect(store.meta('n/created')?.resourceVersion).to.equal('12')
      expect(store.meta('n/changed')?.resourceVersion).to.equal('13')
    })

    it('touches the objects of its namespace only', () => {
      store.put(configMap('n/a', 1))
      store.put(configMap('n-2/a', 2, { uid: 'other' }))
      store.replace([], '10', { namespace: 'n' })
      expect([...store.keys()]).to.deep.equal(['n-2/a'])
    })

    it('is complete for readers before it tells the first change', () => {
      const seen: number[] = []
      store.subscribe(() => seen.push(store.size))
      store.replace([configMap('n/a', 1), configMap('n/b', 2)], '3')
      expect(seen).to.deep.equal([2, 2])
    })

    it('marks its changes as initial', () => {
      const initial: boolean[] = []
      store.subscribe((change) => initial.push(change.initial))
      store.replace([configMap('n/a', 1)], '1')
      store.put(configMap('n/a', 2))
      expect(initial).to.deep.equal([true, false])
    })

    it('follows a server whose history went back', () => {
      store.replace([configMap('n/a', 100), configMap('n/b', 101), configMap('n/c', 102)], '120')
      store.deletedByUs('n/c', 'uid-c')
      const changes = told(store)
      store.replace([configMap('n/a', 30), configMap('n/c', 31)], '40')
      expect(changes).to.deep.equal(['deleted n/b@101', 'updated n/a@30', 'added n/c@31'])
      store.put(configMap('n/a', 41))
      expect(store.meta('n/a')?.resourceVersion).to.equal('41')
    })
  })

  describe('drafts', () => {
    it('keep what the store has in the same version, and what goes on meanwhile', () => {
      for (const [name, version] of Object.entries({ same: 1, replaced: 2, deleted: 3, left: 4 }))
        store.put(configMap(`n/${name}`, version))
      const draft = store.draft()
      for (const [name, version] of Object.entries({ same: 1, replaced: 2, deleted: 3, left: 4, new: 5 }))
        draft.add(configMap(`n/${name}`, version))
      store.wrote(configMap('n/replaced', 12))
      store.deletedByUs('n/deleted', 'uid-deleted')
      store.removed(configMap('n/left', 13))
      const changes = told(store)
      draft.commit('10')
      expect(changes).to.deep.equal(['added n/new@5'])
      expect(store.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)).to.deep.equal([
        'same@1',
        'replaced@12',
        'new@5',
      ])
    })

    it('leave the store as it was when they are discarded', () => {
      store.put(configMap('n/a', 1))
      store.put(configMap('n/b', 2))
      const draft = store.draft()
      for (const object of [configMap('n/a', 1), configMap('n/b', 7), configMap('n/c', 8)]) draft.add(object)
      draft.delete(configMap('n/c', 9))
      draft.discard()
      expect(store.list()).to.deep.equal([configMap('n/a', 1), configMap('n/b', 2)])
    })
  })

  describe('readers', () => {
    it('gives each reader an object of his own', () => {
      store.put(configMap('n/a', 1, { data: { x: '1' } }))
      const object = store.get('n/a') as ReturnType<typeof configMap>
      object.data = { x: '2' }
      expect(store.get('n/a')).to.deep.equal(configMap('n/a', 1, { data: { x: '1' } }))
    })

    it('strips managedFields and nothing else', () => {
      const object = configMap('n/a', 1, { labels: { app: 'db' } })
      Object.assign(object.metadata, { managedFields: [{ manager: 'x' }] })
      store.put(object)
      expect(store.get('n/a')).to.deep.equal(configMap('n/a', 1, { labels: { app: 'db' } }))
    })

    it('lists by namespace and labels', () => {
      store.put(configMap('n/a', 1, { labels: { app: 'db' } }))
      store.put(configMap('n/b', 2, { labels: { app: 'web' } }))
      store.put(configMap('nn/c', 3, { labels: { app: 'db' } }))
      const names = (options: Parameters<Store['list']>[0]) => store.list(options).map((object) => object.metadata.name)
      expect(names({})).to.deep.equal(['a', 'b', 'c'])
      expect(names({ namespace: 'n' })).to.deep.equal(['a', 'b'])
      expect(names({ labels: { app: 'db' } })).to.deep.equal(['a', 'c'])
      expect(names({ namespace: 'n', labels: 'app in (db)' })).to.deep.equal(['a'])
    })

    it('knows generation, deletion and controller without parsing', () => {
      store.put(configMap('n/a', 1, { owner: 'o', deleting: true }))
      expect(store.meta('n/a')).to.deep.include({
        key: 'n/a',
        uid: 'uid-a',
        resourceVersion: '1',
        generation: undefined,
        deleting: true,
        controllerUid: 'o',
      })
    })

    it('finds the objects of an owner, as ownership comes and goes', () => {
      store.put(configMap('n/a', 1, { owner: 'o' }))
      store.put(configMap('n/b', 2, { owner: 'o' }))
      expect(store.ownedKeys('o')).to.deep.equal(['n/a', 'n/b'])
      store.put(configMap('n/a', 3, { owner: 'p' }))
      expect(store.ownedBy('p').map((object) => object.metadata.name)).to.deep.equal(['a'])
      expect(store.ownedKeys('o')).to.deep.equal(['n/b'])
      store.removed(configMap('n/b', 4))
      expect(store.ownedKeys('o')).to.deep.equal([])
    })
  })

  describe('listeners', () => {
    it('get the object of the event itself, and what was there before', () => {
      const changes: Change[] = []
      store.subscribe((change) => changes.push(change))
      const first = configMap('n/a', 1)
      const second = configMap('n/a', 2, { data: { x: '1' } })
      store.put(first)
      store.put(second)
      expect(changes[0]?.object).to.equal(first)
      expect(changes[0]?.old).to.equal(undefined)
      expect(changes[1]?.object).to.equal(second)
      expect(changes[1]?.old).to.deep.equal(first)
    })

    it('get the last known object of a deletion, with the version of the event', () => {
      store.put(configMap('n/a', 1))
      const changes: Change[] = []
      store.subscribe((change) => changes.push(change))
      const last = configMap('n/a', 3, { deleting: true })
      store.removed(last)
      expect(changes[0]?.object).to.equal(last)
      expect(changes[0]?.resourceVersion).to.equal('3')
      expect(changes[0]?.old).to.deep.equal(configMap('n/a', 1))
    })

    it('are all told, and the store goes on, when one throws', () => {
      const errors: object[] = []
      store = new Store({ log: silentLog(errors) })
      store.subscribe(() => {
        throw new Error('broken')
      })
      const changes = told(store)
      store.replace([configMap('n/a', 1), configMap('n/b', 2)], '3')
      store.put(configMap('n/a', 4))
      expect(changes).to.deep.equal(['added n/a@1', 'added n/b@2', 'updated n/a@4'])
      expect(errors).to.have.length(3)
    })

    it('see changes in the same order when one of them writes to the store', () => {
      store.subscribe((change) => {
        if (change.resourceVersion === '1') store.put(configMap('n/a', 2))
      })
      const changes = told(store)
      store.put(configMap('n/a', 1))
      expect(changes).to.deep.equal(['added n/a@1', 'updated n/a@2'])
    })

    it('read a listed object while they are called, also when one of them replaced it, and not later', () => {
      const changes: Change[] = []
      store.subscribe(({ key }) => {
        if (key === 'n/a') store.put(configMap('n/b', 9))
      })
      store.subscribe((change) => {
        changes.push(change)
        if (change.key === 'n/b') expect(change.object.metadata.resourceVersion).to.equal(change.resourceVersion)
      })
      store.replace([configMap('n/a', 1), configMap('n/b', 2)], '3')
      expect(changes.map(({ key, resourceVersion }) => `${key}@${resourceVersion}`)).to.deep.equal(['n/a@1', 'n/b@2', 'n/b@9'])
      expect(changes[1]?.object).to.deep.equal(configMap('n/b', 2))
      expect(() => changes[0]?.object).to.throw('while the listener is called')
      expect(changes[2]?.old).to.deep.equal(configMap('n/b', 2))
    })

    it('are not called any more after they unsubscribed', () => {
      const changes: Change[] = []
      const stop = store.subscribe((change) => changes.push(change))
      stop()
      store.put(configMap('n/a', 1))
      expect(changes).to.deep.equal([])
    })
  })
})
