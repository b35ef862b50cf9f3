/** What the soak does to the cluster, and how it should look in the end. */
import type { Client } from '../../lib/api/client.ts'
import { isConflict, isNotFound } from '../../lib/api/status-error.ts'
import { kind } from '../../lib/resource/kind.ts'
import { Pot } from './pot.ts'

const NAMESPACE = 'default'
const ConfigMap = kind('v1', 'ConfigMap', { plural: 'configmaps', scope: 'Namespaced' })

export interface WorldOptions {
  readonly client: Client
  /** How many there should be. */
  readonly objects: number
  readonly random: () => number
  readonly say: (text: string) => void
}

export class World {
  readonly #client: Client
  readonly #objects: number
  readonly #random: () => number
  readonly #say: (text: string) => void
  readonly #sizes = new Map<string, number>()
  readonly #busy = new Set<Promise<unknown>>()
  #named = 0
  created = 0
  changed = 0
  deleted = 0
  tampered = 0
  failed = 0

  constructor({ client, objects, random, say }: WorldOptions) {
    this.#client = client
    this.#objects = objects
    this.#random = random
    this.#say = say
  }

  get size(): number {
    return this.#sizes.size
  }

  async fill(): Promise<void> {
    while (this.size < this.#objects) await this.create()
  }

  /** One of: a new object, a change, a deletion, somebody's hand on a child. */
  async step(): Promise<void> {
    const what = this.#random()
    if (this.size < this.#objects || what < 0.02) return this.#track(this.create())
    const name = this.#any()
    if (what < 0.15) return this.#track(this.#delete(name))
    if (what < 0.25) return this.#track(this.#tamper(name))
    return this.#track(this.#change(name))
  }

  async create(): Promise<void> {
    const name = `pot-${this.#named++}`
    const size = this.#dice(1000)
    this.#sizes.set(name, size)
    const spec = { size, waits: this.#random() < 0.1, fails: this.#random() < 0.05 }
    await this.#client.create(Pot, { metadata: { name, namespace: NAMESPACE }, spec } as never)
    this.created++
  }

  async #change(name: string): Promise<void> {
    const size = this.#dice(1000)
    this.#sizes.set(name, size)
    const spec = { size, waits: this.#random() < 0.1, fails: this.#random() < 0.05 }
    await this.#client.patch(Pot, { name, namespace: NAMESPACE }, { type: 'merge', value: { spec } })
    this.changed++
  }

  async #delete(name: string): Promise<void> {
    this.#sizes.delete(name)
    await this.#client.delete(Pot, { name, namespace: NAMESPACE })
    this.deleted++
  }

  async #tamper(name: string): Promise<void> {
    const ref = { name, namespace: NAMESPACE }
    if (this.#random() < 0.5) await this.#client.delete(ConfigMap, ref)
    else await this.#client.patch(ConfigMap, ref, { type: 'merge', value: { data: { size: 'wrong' } } })
    this.tampered++
  }

  /** Objects that are not as they should be, and children nobody owns. */
  async unfinished(): Promise<string[]> {
    const pots = (await this.#client.list(Pot, { namespace: NAMESPACE })).items as unknown as Live[]
    const maps = new Map(
      ((await this.#client.list(ConfigMap, { namespace: NAMESPACE })).items as unknown as Live[]).map((map) => [map.metadata.name, map]),
    )
    const problems: string[] = []
    const owners = new Set(pots.map(({ metadata }) => metadata.uid))
    for (const { metadata, spec, status } of pots) {
      const { name, generation, uid } = metadata
      const wanted = this.#sizes.get(name)
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      const child = maps.get(name)
      if (wanted === undefined) problems.push(`${name} should be gone`)
      else if (spec?.size !== wanted) problems.push(`${name} has not the size that was written last`)
      else if (ready?.status !== 'True' || status?.observedGeneration !== generation) problems.push(`${name} is not ready`)
      else if (status?.size !== wanted) problems.push(`${name} has an old status`)
      else if (child?.data?.['size'] !== String(wanted)) problems.push(`the child of ${name} is not as desired`)
      else if (child.metadata.ownerReferences?.[0]?.uid !== uid) problems.push(`the child of ${name} belongs to a former owner`)
    }
    for (const name of this.#sizes.keys()) if (!pots.some(({ metadata }) => metadata.name === name)) problems.push(`${name} is not there`)
    for (const [name, { metadata }] of maps) {
      const owner = metadata.ownerReferences?.[0]?.uid
      if (owner !== undefined && !owners.has(owner)) problems.push(`${name} is a child of nobody`)
    }
    return problems
  }

  async removeAll(): Promise<void> {
    const names = [...this.#sizes.keys()]
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) await this.#track(this.#delete(name))
      }),
    )
  }

  async left(): Promise<string[]> {
    const pots = (await this.#client.list(Pot, { namespace: NAMESPACE })).items as unknown as Live[]
    const maps = (await this.#client.list(ConfigMap, { namespace: NAMESPACE })).items as unknown as Live[]
    return [...pots, ...maps.filter(({ metadata }) => metadata.ownerReferences !== undefined)].map(({ metadata }) => metadata.name)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#busy)
  }

  async #track(work: Promise<void>): Promise<void> {
    const done = work.catch((error) => {
      // Several hands on one object, or a child that the operator has not made yet.
      if (!isNotFound(error) && !isConflict(error)) {
        this.failed++
        this.#say(String(error))
      }
    })
    this.#busy.add(done)
    await done
    this.#busy.delete(done)
  }

  #dice(sides: number): number {
    return Math.floor(this.#random() * sides)
  }

  #any(): string {
    const names = [...this.#sizes.keys()]
    return names[this.#dice(names.length)] as string
  }
}

interface Live {
  readonly metadata: { name: string; uid: string; generation?: number; ownerReferences?: { uid: string }[] }
  readonly spec?: { size: number }
  readonly data?: Record<string, string>
  readonly status?: { size?: number; observedGeneration?: number; conditions?: { type: string; status: string }[] }
}
