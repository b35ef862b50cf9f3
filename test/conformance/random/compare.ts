/** Runs a sequence of operations on two servers and compares all answers, and all that watches saw. */
import { answersOf, firstDifference, word } from '../case.ts'
import type { Target } from '../target.ts'
import { DEFINITIONS, World } from '../world.ts'
import { GROUP_VERSION, KIND_NAME, type Kind, THING } from './contents.ts'
import { Client, type Operation, OWN } from './operations.ts'

/** Makes the custom kind, under the same name on each server. @returns its group */
export async function prepare(targets: readonly Target[]): Promise<string> {
  const id = word()
  const worlds = targets.map((target) => new World(target, id))
  await Promise.all(worlds.map((world) => world.define(THING)))
  // The first write of a new kind waits on a real server.
  await Promise.all(
    worlds.map((world) =>
      world.quiet.post(`/apis/${world.group}/v1/namespaces/default/things?dryRun=All`, {
        apiVersion: `${world.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
      }),
    ),
  )
  return `${id}.example.com`
}

export async function unprepare(targets: readonly Target[], group: string): Promise<void> {
  for (const target of targets) await target.ask({ method: 'DELETE', path: `${DEFINITIONS}/things.${group}` })
}

/** The first difference; undefined: none. */
export async function compare(real: Target, other: Target, group: string, operations: readonly Operation[]): Promise<string | undefined> {
  const [expected, actual] = await Promise.all([real, other].map((target) => run(target, group, operations)))
  return firstDifference(withoutQuotes(expected), withoutQuotes(actual))
}

/** An error quotes the whole object that a patch has made, in an order of members that Go's libraries leave. */
function withoutQuotes(answers: unknown): unknown[] {
  return JSON.parse(JSON.stringify(answers), (_, value) =>
    typeof value === 'string' ? value.replace(/(?<=Invalid value: )"(\{|map\[).*"(?=: )/s, '<the object>') : value,
  )
}

async function run(target: Target, group: string, operations: readonly Operation[]): Promise<unknown[]> {
  const world = new World(target, word())
  try {
    const made = await world.quiet.post('/api/v1/namespaces', { metadata: { name: world.namespace } })
    await world.quiet.until('configmaps/kube-root-ca.crt', ({ status }) => status === 200)
    const client = new Client(world, group)
    for (const operation of operations) await client.run(operation)
    const kinds = [...new Set(operations.map(({ kind }) => kind))].sort()
    for (const kind of kinds) await seen(world, client, kind, group, made.body.metadata.resourceVersion)
    return answersOf(world)
  } finally {
    await empty(world, target, group, operations)
    await world.close()
  }
}

/** A real server has 250 addresses for services: none may wait for its finalizers. */
async function empty(world: World, target: Target, group: string, operations: readonly Operation[]): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const objects = new Set(operations.map(({ kind, name }) => JSON.stringify([kind, name])))
  for (const each of objects) {
    const [kind, name] = JSON.parse(each) as [Kind, string]
    const version = GROUP_VERSION[kind](group)
    const path = world.at(version === 'v1' ? `${kind}/${name}` : `${version}/${kind}/${name}`)
    await target.ask({ method: 'PATCH', path, headers, body: { metadata: { finalizers: null } } })
    await target.ask({ method: 'DELETE', path })
  }
}

/** All events of the kind since the beginning: a last object tells where they end. */
async function seen(world: World, client: Client, kind: Kind, group: string, from: string): Promise<void> {
  const last = { apiVersion: GROUP_VERSION[kind](group), kind: KIND_NAME[kind], metadata: { name: 'zz', labels: { x: '1' } } }
  const whole = { ...last, ...(kind === 'services' && { spec: { ports: [{ port: 1 }] } }), ...(kind === 'deployments' && DEPLOYED) }
  await world.quiet.post(client.collection(kind), whole)
  for (const selector of ['', 'labelSelector=x%3D1']) {
    const own = kind === 'configmaps' ? `&${OWN}` : ''
    const watch = await world.watch(`${client.collection(kind)}?watch=1&resourceVersion=${from}${own}${selector && `&${selector}`}`)
    await watch.untilNamed('zz')
  }
  await world.get(`${client.collection(kind)}?${kind === 'configmaps' ? OWN : ''}`)
}

const DEPLOYED = {
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
