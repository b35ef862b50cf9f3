/**
 * An operator of handler classes in this process, on an embedded API server that allows it only what generated roles allow: what it asked
 * for, and what it was refused. The server checks owner references as OpenShift's does, and streams no lists, as before Kubernetes 1.34:
 * so every verb has its use.
 */
import { Client } from '../../../lib/api/client.ts'
import { type Clock, systemClock } from '../../../lib/api/clock.ts'
import { ConnectionError, TimeoutError } from '../../../lib/api/status-error.ts'
import { collect, type HandlerClass } from '../../../lib/decorators/collect.ts'
import { ownerReferencesPermission } from '../../../lib/embedded/admission-control/owner-references.ts'
import type { Attributes } from '../../../lib/embedded/core.ts'
import { inProcess } from '../../../lib/embedded/http/in-process.ts'
import { statusResponse } from '../../../lib/embedded/http/limits.ts'
import { createServer, type EmbeddedServer } from '../../../lib/embedded/server.ts'
import { badRequest } from '../../../lib/embedded/status.ts'
import type { ApiRequest } from '../../../lib/embedded/types.ts'
import { BUILDER_LABEL } from '../../../lib/engine/children.ts'
import { Manager } from '../../../lib/engine/manager.ts'
import { definitionsOf } from '../../../lib/generate/crds.ts'
import type { Manifest, OperatorModel } from '../../../lib/generate/operator.ts'
import type { Permission } from '../../../lib/generate/permissions.ts'
import { type KindRef, type KubeObject, kind } from '../../../lib/resource/kind.ts'
import { logTo } from '../../../lib/testing/log-lines.ts'

export interface Trial {
  /** May do everything. */
  readonly client: Client
  readonly server: EmbeddedServer
  /** Waits for something true. Throws `Refused` as soon as the operator is refused anything. */
  until<T>(ask: () => T | Promise<T>, what: string): Promise<NonNullable<T>>
  apply(...objects: object[]): Promise<void>
  /** A child that an earlier version of the operator made and this one does not know any more. */
  leftOver(ref: KindRef, owner: KubeObject, builder: string, object?: object): Promise<void>
  /** The next write of the operator to this resource meets a change by somebody else. */
  conflict(match: { resource: string; subresource?: string }): void
  /** Its next write to this resource, brought about by `touch`, fails: that is told by an Event. Resolves when it has recovered. */
  fails(match: { resource: string; subresource?: string }, touch: () => Promise<unknown>): Promise<void>
  /** From a kind and a name to what is there, in the namespace `default`. */
  find<O>(ref: KindRef<O>, name: string, namespace?: string): Promise<O | undefined>
  /** Gone, and waited for. */
  gone(ref: KindRef<unknown>, name: string, namespace?: string): Promise<void>
}

export interface Story {
  readonly name: string
  readonly classes: readonly HandlerClass[]
  /** From the first object to the last, so that the operator does all that it can do. */
  tell(t: Trial): Promise<void>
}

export class Refused extends Error {
  override readonly name = 'Refused'
}

export const SERVICE_ACCOUNT = { name: 'operator', namespace: 'operator-home' }
const USER = `system:serviceaccount:${SERVICE_ACCOUNT.namespace}:${SERVICE_ACCOUNT.name}`

export function modelOf({ classes, name }: Pick<Story, 'classes' | 'name'>, namespaces?: readonly string[]): OperatorModel {
  const specs = classes.map((each) => collect(each))
  return { operator: name, name: SERVICE_ACCOUNT.name, home: SERVICE_ACCOUNT.namespace, namespaces, specs }
}

/** Runs the story under these roles. `refused` is empty where all went well; else the story ended there. */
export async function underRoles(story: Story, roles: readonly Manifest[]): Promise<{ used: Permission[]; refused: string[] }> {
  const server = await createServer({ rbac: true, simulate: { nodes: [] } })
  const used = new Map<string, Permission>()
  const refused: string[] = []
  try {
    server.core.admission.push(ownerReferencesPermission(server.core))
    const { authorizer } = server.core
    if (authorizer === undefined) throw new Error('the server allows everything')
    server.core.authorizer = {
      ...authorizer,
      authorize(attributes) {
        const answer = authorizer.authorize(attributes)
        if (answer.allowed && isOperator(attributes)) note(used, attributes)
        return answer
      },
    }
    server.core.requests.listen(({ attributes, status }) => {
      if (status === 403 && attributes !== undefined && isOperator(attributes)) refused.push(text(attributes))
    })
    await run(story, roles, server, refused)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
  } finally {
    await server.close()
  }
  return { used: [...used.values()], refused }
}

async function run(story: Story, roles: readonly Manifest[], server: EmbeddedServer, refused: readonly string[]): Promise<void> {
  const admin = new Client({ transport: transport(server, { authorization: `Bearer ${server.token}` }), clock: systemClock })
  const apply = async (...objects: object[]) => {
    for (const object of objects) {
      const { apiVersion, kind: name, metadata } = object as KubeObject
      const ref = kind(apiVersion ?? '', name ?? '')
      const { namespaced } = await admin.discovery.resolve(ref)
      const place = namespaced ? { namespace: 'default', ...metadata } : metadata
      await admin.apply(ref, { ...object, metadata: place } as KubeObject, { fieldManager: 'test', force: true })
    }
  }
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SERVICE_ACCOUNT.namespace } })
  await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: SERVICE_ACCOUNT }, ...roles)
  const specs = story.classes.map((each) => collect(each))
  await apply(...definitionsOf(specs))
  await server.settled()

  const path = await admin.pathOf(kind('v1', 'ServiceAccount'), SERVICE_ACCOUNT, 'token')
  const answer = await admin.transport.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
    timeoutMs: 5000,
  })
  const token = JSON.parse(answer.body.toString()) as { status: { token: string } }
  const isFromOperator = ({ headers }: ApiRequest) => headers['authorization'] === `Bearer ${token.status.token}`
  const manager = new Manager({
    name: story.name,
    client: new Client({
      transport: transport(server, { authorization: `Bearer ${token.status.token}` }),
      clock: systemClock,
      userAgent: `${story.name}/test`,
    }),
    handlers: story.classes.map((each, i) => ({ spec: specs[i]!, instance: new (each as unknown as new () => object)() })),
    clock: FAST,
    ownsProcess: false,
    log: logTo(() => {}),
  })
  const trial: Trial = {
    client: admin,
    server,
    apply,
    async until(ask, what) {
      for (const start = performance.now(); ; ) {
        if (refused.length > 0) throw new Refused(refused.join(', '))
        const answer = await ask()
        if (answer) return answer
        if (performance.now() - start > 8_000) throw new Error(`waited in vain for ${what}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    leftOver: async (ref, owner, builder, object = {}) => {
      const { apiVersion, kind: name, metadata } = owner
      const { uid } = metadata
      const reference = { apiVersion, kind: name, name: metadata.name, uid, controller: true, blockOwnerDeletion: true }
      const { metadata: extra, ...rest } = object as { metadata?: object }
      const namespace = ref.scope === 'Namespaced' ? { namespace: 'default' } : {}
      const labels = { [BUILDER_LABEL]: builder }
      const all = { name: `${metadata.name}-old`, ...namespace, labels, ownerReferences: [reference], ...extra }
      await admin.create(ref, { ...rest, metadata: all } as never)
    },
    conflict: (match) => void server.faults.fail(409, { ...match, verb: 'patch', times: 1, where: isFromOperator }),
    async fails(match, touch) {
      const fault = server.faults.fail(500, { ...match, verb: 'patch', times: 1, where: isFromOperator })
      let passed = false
      const end = server.core.requests.listen(({ request, attributes: to, status }) => {
        const same = to?.verb === 'patch' && to.resource === match.resource && to.subresource === (match.subresource ?? '')
        if (same && status < 300 && fault.hits > 0 && isFromOperator(request)) passed = true
      })
      await touch()
      await trial.until(() => passed && manager.unrest.length === 0, `the failure of ${match.resource} to pass`)
      end()
    },
    find: (ref, name, namespace = 'default') => admin.find(ref, ref.scope === 'Cluster' ? { name } : { name, namespace }),
    async gone(ref, name, namespace) {
      await trial.until(async () => (await trial.find(ref, name, namespace)) === undefined, `${ref.kind} ${name} to go`)
    },
  }
  try {
    void manager.start()
    await story.tell(trial)
    await trial.until(() => manager.unrest.length === 0, 'the operator to be idle')
  } finally {
    // What has happened again is told at the end.
    await manager.stop(0)
  }
}

/** Back-offs and pauses in a fraction of their time. */
const FAST: Clock = { ...systemClock, after: (ms, f) => systemClock.after(ms / 20, f) }

function transport(server: EmbeddedServer, headers: Record<string, string>) {
  const handle = async (request: ApiRequest) =>
    request.url.includes('sendInitialEvents=true') ? statusResponse(badRequest('lists are not streamed here')) : server.handle(request)
  return inProcess(handle, {
    clock: systemClock,
    headers,
    errors: {
      timeout: (message) => new TimeoutError(message),
      connection: (message, cause) => new ConnectionError(message, { cause }),
    },
  })
}

const isOperator = ({ user, path }: Attributes) => user.name === USER && path === undefined

function note(used: Map<string, Permission>, { verb, group, resource, subresource, namespace, name }: Attributes): void {
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  used.set(`${group} ${full} ${verb} ${namespace} ${name}`, { group, resource: full, verb, name, namespace })
}

function text({ verb, group, resource, subresource, namespace, name }: Attributes): string {
  return `${verb} ${[resource, subresource].filter(Boolean).join('/')}.${group} ${[namespace, name].filter(Boolean).join('/')}`
}
