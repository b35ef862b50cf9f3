/** The core of a server, with the built-in kinds and nothing stored. */
import { builtinCodec, builtinStrategies } from './builtin/strategies/all.ts'
import { builtinTypes } from './builtin/types.ts'
import type { Core } from './core.ts'
import { BUCKET as DEFINITIONS } from './crd/definition.ts'
import { definitionStrategy } from './crd/definitions.ts'
import { createOperations } from './operations/operations.ts'
import { createRegistry } from './registry.ts'
import { Requests } from './requests.ts'
import { createStore, type StoreOptions } from './store/store.ts'
import { type ServerClock, serverClock, Tasks } from './tasks.ts'
import type { Lookup, ResourceType, Strategy } from './types.ts'

export interface CoreOptions {
  readonly clock?: ServerClock
  readonly random?: () => number
  readonly history?: { readonly size?: number }
  /** What a former server saved. */
  readonly restore?: StoreOptions['restore']
}

export function createCore(options: CoreOptions, report: (error: unknown) => void): Core {
  const clock = options.clock ?? serverClock
  const historySize = options.history?.size
  const { restore } = options
  const store = createStore({
    report,
    ...(historySize === undefined ? {} : { historySize }),
    ...(restore === undefined ? {} : { restore }),
  })
  const registry = createRegistry()
  for (const types of byResource(builtinTypes(strategies()))) {
    const [first] = types
    if (first !== undefined) registry.set(first.group, first.resource, types.map(typed))
  }
  const lookup: Lookup = {
    get: (group, resource, namespace, name) => store.bucket(`${group}/${resource}`).get(namespace, name)?.object,
    list: (group, resource, namespace) =>
      store
        .bucket(`${group}/${resource}`)
        .list(namespace === undefined ? {} : { namespace })
        .map(({ object }) => object),
  }
  const core: Core = {
    clock,
    random: options.random ?? Math.random,
    tasks: new Tasks(clock, report),
    store,
    registry,
    lookup,
    operations: createOperations(() => core),
    requests: new Requests(),
    services: new Map(),
    admission: [],
    authorizer: undefined,
  }
  return core
}

const strategies = (): ReadonlyMap<string, Strategy> => new Map([...builtinStrategies(), [DEFINITIONS, definitionStrategy]])

/** A kind whose objects are decoded and written as its Go type would be. */
const typed = (type: ResourceType): ResourceType => ({ ...type, ...builtinCodec(type) })

function byResource(types: readonly ResourceType[]): Iterable<readonly ResourceType[]> {
  const groups = new Map<string, ResourceType[]>()
  for (const type of types) {
    const key = `${type.group}/${type.resource}`
    const known = groups.get(key)
    if (known === undefined) groups.set(key, [type])
    else known.push(type)
  }
  return groups.values()
}
