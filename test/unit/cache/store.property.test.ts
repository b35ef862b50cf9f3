import { expect } from 'chai'
import fc from 'fast-check'
import { type Change, compareResourceVersions, Store } from '../../../lib/cache/store.ts'
import { type KubeObject, keyOf } from '../../../lib/resource/kind.ts'
import { configMap } from './objects.ts'

const KEYS = ['n/a', 'n/b', 'm/a', 'm/c']
const OWNERS = ['o', 'p', undefined]

type Step =
  | { do: 'write'; key: number; owner: number; ours: boolean }
  | { do: 'delete'; key: number; ours: boolean }
  | { do: 'event'; watch: number }
  | { do: 'repeat'; event: number }
  | { do: 'answer'; which: number }
  | { do: 'list'; watch: number }
  | { do: 'bookmark'; watch: number }
  | { do: 'relist'; watch: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('write' as const), key: fc.nat(3), owner: fc.nat(2), ours: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), key: fc.nat(3), ours: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('event' as const), watch: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const), event: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('list' as const), watch: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('bookmark' as const), watch: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('relist' as const), watch: fc.nat(1) }) },
)

interface Event {
  readonly version: number
  readonly deleted: boolean
  readonly object: KubeObject
}

interface Watch {
  readonly namespace?: string
  at: number
  list?: { objects: KubeObject[]; version: number } | undefined
}

/**
 * An API server with its history, and a client of it: watches that are behind (one for all namespaces, or one a namespace),
 * answers to own writes that are late, and lists that were made earlier than they are applied.
 */
class World {
  readonly store = new Store()
  readonly #watches: Watch[]
  readonly #live = new Map<string, KubeObject>()
  readonly #history: Event[] = []
  readonly #answers: (() => void)[] = []
  #version = 8

  constructor(perNamespace: boolean) {
    this.#watches = perNamespace
      ? [
          { namespace: 'n', at: 8 },
          { namespace: 'm', at: 8 },
        ]
      : [{ at: 8 }]
  }

  do(step: Step): void {
    switch (step.do) {
      case 'write':
        this.#write(KEYS[step.key] as string, OWNERS[step.owner], step.ours)
        break
      case 'delete':
        this.#delete(KEYS[step.key] as string, step.ours)
        break
      case 'event':
        this.#deliver(this.#watch(step.watch))
        break
      case 'repeat':
        this.#repeat(step.event)
        break
      case 'answer':
        this.#answers.splice(step.which % Math.max(1, this.#answers.length), 1)[0]?.()
        break
      case 'list': {
        const watch = this.#watch(step.watch)
        const objects = [...this.#live.values()].filter((object) => isIn(object, watch))
        watch.list = { objects: structuredClone(objects), version: this.#version }
        break
      }
      case 'bookmark': {
        const { at, namespace } = this.#watch(step.watch)
        this.store.reached(`${at}`, { namespace, bookmark: true })
        break
      }
      case 'relist':
        this.#relist(this.#watch(step.watch))
        break
    }
  }

  /** All that is under way arrives. */
  settle(): void {
    for (const answer of this.#answers.splice(0)) answer()
    for (const watch of this.#watches) while (watch.at < this.#version) this.#deliver(watch)
  }

  get content(): KubeObject[] {
    return [...this.#live.values()].sort(byKey)
  }

  #write(key: string, owner: string | undefined, ours: boolean): void {
    const there = this.#live.get(key)
    const version = ++this.#version
    const uid = there?.metadata.uid ?? `${key}-${version}`
    const object = configMap(key, version, { uid, ...(owner === undefined ? {} : { owner }) })
    this.#live.set(key, object)
    this.#history.push({ version, deleted: false, object })
    if (ours) this.#answers.push(() => this.store.wrote(structuredClone(object)))
  }

  #delete(key: string, ours: boolean): void {
    const there = this.#live.get(key)
    if (there === undefined) return
    const version = ++this.#version
    const object = structuredClone(there)
    object.metadata.resourceVersion = `${version}`
    this.#live.delete(key)
    this.#history.push({ version, deleted: true, object })
    if (ours) this.#answers.push(() => this.store.deletedByUs(key, there.metadata.uid))
  }

  #watch(n: number) {
    return this.#watches[n % this.#watches.length] as Watch
  }

  #deliver(watch: Watch): void {
    const event = this.#history.find(({ version, object }) => version > watch.at && isIn(object, watch))
    if (event === undefined) watch.at = this.#version
    else {
      this.#apply(event)
      watch.at = event.version
    }
    this.store.reached(`${watch.at}`, { namespace: watch.namespace })
  }

  #apply({ deleted, object }: Event): void {
    if (deleted) this.store.removed(structuredClone(object))
    else this.store.put(structuredClone(object))
  }

  /** A server that sends an event twice. */
  #repeat(n: number): void {
    const past = this.#history.filter(({ version, object }) => this.#watches.some((watch) => isIn(object, watch) && version <= watch.at))
    const event = past[n % past.length]
    if (event !== undefined) this.#apply(event)
  }

  #relist(watch: Watch): void {
    const list = watch.list
    // The reflector lists only after the watch has ended: a list is never older than what the watch told.
    if (list === undefined || list.version < watch.at) return
    this.store.replace(structuredClone(list.objects), `${list.version}`, { namespace: watch.namespace })
    watch.at = list.version
    watch.list = undefined
  }
}

function isIn(object: KubeObject, { namespace }: { namespace?: string }): boolean {
  return namespace === undefined || object.metadata.namespace === namespace
}

function byKey(a: KubeObject, b: KubeObject): number {
  return keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1
}

/** Checks every change against those before it, and keeps what they add up to. */
class Ledger {
  readonly content = new Map<string, KubeObject>()
  readonly #versions = new Map<string, string>()
  readonly #gone = new Set<string>()

  note({ type, key, uid, resourceVersion, object, old }: Change): void {
    const there = this.content.get(key)
    expect(there?.metadata, `${type} ${key}: old`).to.deep.equal(old?.metadata)
    if (type === 'deleted') {
      expect(there?.metadata.uid).to.equal(uid)
      this.content.delete(key)
      this.#gone.add(uid)
      return
    }
    expect(there?.metadata.uid).to.equal(type === 'updated' ? uid : undefined)
    expect(this.#gone.has(uid), `${uid} came back`).to.equal(false)
    const before = this.#versions.get(uid)
    if (before !== undefined) expect(compareResourceVersions(resourceVersion, before), `${uid} went back`).to.be.greaterThan(0)
    this.#versions.set(uid, resourceVersion)
    this.content.set(key, structuredClone(object))
  }
}

function check(perNamespace: boolean, steps: readonly Step[]): void {
  const world = new World(perNamespace)
  const ledger = new Ledger()
  const failures: unknown[] = []
  world.store.subscribe((change) => {
    try {
      ledger.note(change)
    } catch (error) {
      failures.push(error)
    }
  })
  const same = () => {
    if (failures.length > 0) throw failures[0]
    const content = world.store.list().sort(byKey)
    expect(content).to.deep.equal([...ledger.content.values()].sort(byKey))
    for (const owner of ['o', 'p']) {
      const owned = content.filter((object) => object.metadata.ownerReferences?.[0]?.uid === owner).map((object) => keyOf(object.metadata))
      expect(world.store.ownedKeys(owner).sort()).to.deep.equal(owned)
    }
  }
  for (const step of steps) {
    world.do(step)
    same()
  }
  world.settle()
  same()
  expect(world.store.list().sort(byKey)).to.deep.equal(world.content)
}

describe('Store, whatever comes in whatever order', () => {
  const steps = fc.array(step, { maxLength: 60, size: 'max' })

  for (const perNamespace of [false, true]) {
    it(`ends at the newest state and tells it without going back, with ${perNamespace ? 'a watch a namespace' : 'one watch'}`, () => {
      fc.assert(
        fc.property(steps, (steps) => check(perNamespace, steps)),
        { seed: 20261130, numRuns: 1000 },
      )
    }).timeout(20_000)
  }
})
