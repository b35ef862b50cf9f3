/**
 * What a test on the real control plane builds its world with:
 *
 * ```ts
 * it('repairs a child that was edited', inNamespace(async (t) => {
 *   await t.startOperator({ handlers: 'test/cluster/fixtures/widget.ts' })
 *   await t.apply({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: {} })
 *   await t.until(() => t.client.find(ConfigMap, t.ref('a')), 'the child of a')
 * }))
 * ```
 *
 * Every test has a namespace of its own, so that they can run side by side. Definitions of kinds are shared by the whole cluster:
 * a test that changes or deletes one uses a group of its own (`t.id` is unique).
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '../../lib/api/client.ts'
import { systemClock } from '../../lib/api/clock.ts'
import { createTransport } from '../../lib/api/http-transport.ts'
import { loadCluster } from '../../lib/api/kubeconfig.ts'
import { isNotFound } from '../../lib/api/status-error.ts'
import { type CustomResourceDefinition, type KindRef, type KubeObject, kind, type ObjectRef } from '../../lib/resource/kind.ts'
import { asGenerated, generatedRole } from './fixtures/generated-role.ts'
import { Operator, type OperatorOptions } from './operator.ts'
import { type Truthy, type UntilOptions, until } from './until.ts'

export { Operator, type OperatorOptions, until }

export const Namespace = kind('v1', 'Namespace', { plural: 'namespaces', scope: 'Cluster' })
export const Definition = kind<KubeObject & CustomResourceDefinition & { status?: { conditions?: { type: string; status: string }[] } }>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  { plural: 'customresourcedefinitions', scope: 'Cluster' },
)

/** What a test gets: its namespace and all that it does there. */
export interface World {
  readonly namespace: string
  /** Unique to this test: letters and digits. */
  readonly id: string
  readonly kubeconfig: string
  /** May do everything. */
  readonly client: Client
  /** Where an object of this name is in the test's namespace. */
  ref(name: string): ObjectRef
  /** Runs kubectl in the test's namespace and gives what it printed. */
  kubectl(...args: string[]): Promise<string>
  /** `kubectl apply` of objects, or of a file or folder by its path. */
  apply(...manifests: (object | string)[]): Promise<void>
  /** A file with this object, or with a document for each of a list; gone after the test. */
  file(object: object): Promise<string>
  /** Installs the definitions of kinds made with `resource()`, and waits until the API serves them. */
  install(...kinds: KindRef<unknown>[]): Promise<void>
  until<T>(ask: () => T | Promise<T>, what: string | (() => string), options?: UntilOptions): Promise<Truthy<T>>
  /**
   * Starts `tsop-run` on the test's namespace. It ends with the test. Where roles have been generated for these handlers, it runs as the
   * service account that has them, and may do nothing else; not with a `KUBECONFIG` of its own in `env`.
   */
  startOperator(options: OperatorOptions): Promise<Operator>
  /** Called at the end of the test, the last one first. */
  onEnd(f: () => unknown): void
}

/** The body of a test that has a namespace of its own. */
export function inNamespace(body: (t: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const kubeconfig = process.env['TSOP_TEST_KUBECONFIG']
    if (kubeconfig === undefined) throw new Error('Start these tests with npm run test:cluster; see test/control-plane/README.md.')
    const cluster = await loadCluster({ kubeconfig, env: {} })
    const transport = createTransport(cluster, { clock: systemClock, random: Math.random })
    const client = new Client({ transport, clock: systemClock })
    const id = Math.random().toString(36).slice(2, 10)
    const namespace = `test-${id}`
    const operators: Operator[] = []
    let restricted: Promise<string> | undefined
    const ends: (() => unknown)[] = [() => removeNamespace(client, namespace)]
    try {
      await client.create(Namespace, { metadata: { name: namespace } })
      const world: World = {
        namespace,
        id,
        kubeconfig,
        client,
        ref: (name) => ({ name, namespace }),
        kubectl: (...args) => kubectl(kubeconfig, namespace, args),
        apply: (...manifests) => apply(kubeconfig, namespace, manifests),
        async file(object) {
          const folder = await mkdtemp(join(tmpdir(), 'object-'))
          ends.push(() => rm(folder, { recursive: true, force: true }))
          const file = join(folder, 'object.json')
          await writeFile(
            file,
            [object]
              .flat()
              .map((each) => JSON.stringify(each))
              .join('\n---\n'),
          )
          return file
        },
        install: async (...kinds) => {
          for (const each of kinds) await install(client, each)
        },
        until,
        async startOperator(options) {
          const where = options.allNamespaces ? ['--all-namespaces'] : ['--namespace', namespace]
          const role = options.env?.['KUBECONFIG'] === undefined ? generatedRole(options.handlers) : undefined
          restricted ??= role === undefined ? undefined : asGenerated(world, role)
          const operator = await Operator.start({ ...options, args: [...where, ...(options.args ?? [])] }, (await restricted) ?? kubeconfig)
          operators.push(operator)
          ends.push(() => operator.stop('SIGKILL'))
          return operator
        },
        onEnd: (f) => ends.push(f),
      }
      await body(world)
    } catch (error) {
      if (error instanceof Error)
        for (const operator of operators) error.message += `\n--- the operator said:\n${operator.log.slice(-6000)}`
      throw error
    } finally {
      for (const end of ends.reverse()) await end()
      await transport.close()
    }
  }
}

/** A namespace whose objects wait for the finalizer of an operator that is no more would never go. */
async function removeNamespace(client: Client, namespace: string): Promise<void> {
  await client.delete(Namespace, { name: namespace }).catch((error) => {
    // A test that deletes its namespace itself may find it gone by now.
    if (!isNotFound(error)) throw error
  })
  for (const { spec } of (await client.list(Definition)).items) {
    const version = spec.versions.find((each) => each.served)
    if (version === undefined || spec.scope === 'Cluster') continue
    const each = kind(`${spec.group}/${version.name}`, spec.names.kind, { plural: spec.names.plural, scope: spec.scope })
    // A definition that another test takes away meanwhile has no objects left.
    const { items } = await client.list(each, { namespace }).catch(() => ({ items: [] }))
    for (const { metadata } of items) {
      if (metadata.finalizers === undefined) continue
      await client
        .patch(each, { name: metadata.name, namespace }, { type: 'merge', value: { metadata: { finalizers: null } } })
        .catch(() => {})
    }
  }
}

async function install(client: Client, ref: KindRef<unknown>): Promise<void> {
  if (ref.crd === undefined) throw new Error(`${ref.kind} has no definition to install`)
  const { name } = ref.crd.metadata
  await client.apply(Definition, ref.crd, { fieldManager: 'test', force: true })
  await until(async () => {
    const live = await client.get(Definition, { name })
    return live.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
  }, `${name} to be established`)
  await until(() => client.list(ref), `the API to serve ${name}`)
}

async function apply(kubeconfig: string, namespace: string, manifests: readonly (object | string)[]): Promise<void> {
  for (const manifest of manifests) {
    if (typeof manifest === 'string') await kubectl(kubeconfig, namespace, ['apply', '-f', manifest])
    else {
      const own = (manifest as { metadata?: { namespace?: string } }).metadata?.namespace
      await kubectl(kubeconfig, own ?? namespace, ['apply', '-f', '-'], JSON.stringify(manifest))
    }
  }
}

function kubectl(kubeconfig: string, namespace: string, args: readonly string[], input?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const path = process.env['TSOP_TEST_KUBECTL'] ?? 'kubectl'
    const all = ['--kubeconfig', kubeconfig, '--namespace', namespace, ...args]
    // Metrics are longer than the 1 MiB that are read by default.
    const child = execFile(path, all, { maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`))
    })
    child.stdin?.end(input)
  })
}
