/** A controller that fails for want of a kind: which one it is, and what to do. */

import type { Client } from '../api/client.ts'
import { UnknownKindError } from '../api/discovery.ts'
import type { ControllerStatus } from '../engine/manager.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import { type KindRef, kindName } from '../resource/kind.ts'

/** The controllers as they are, but for the problem of those that lack a kind. */
export function explained(
  controllers: readonly ControllerStatus[],
  specs: readonly HandlerSpec[],
  client: Pick<Client, 'discovery'>,
): Promise<ControllerStatus[]> {
  return Promise.all(
    controllers.map(async (controller) => {
      const spec = specs.find(({ kind }) => kindName(kind) === controller.kindName)
      if (controller.state !== 'failing' || spec === undefined) return controller
      for (const kind of [spec.kind, ...spec.owns.map((owned) => owned.kind), ...spec.watches.map((watched) => watched.kind)]) {
        if (await isMissing(kind, client)) return { ...controller, problem: missing(kind) }
      }
      return controller
    }),
  )
}

/** Discovery is open to everybody who may log in; where it does not answer, what the engine says stands. */
async function isMissing(kind: KindRef, { discovery }: Pick<Client, 'discovery'>): Promise<boolean> {
  try {
    await discovery.resolve(kind)
    return false
  } catch (error) {
    return error instanceof UnknownKindError
  }
}

function missing(kind: KindRef): string {
  const installable = kind.crd !== undefined && kind.foreign !== true
  return `${kindName(kind)} is not installed in the cluster; ${installable ? 'run with --install-crds' : 'install its definition'}`
}
