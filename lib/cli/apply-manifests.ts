/** `--apply`: samples and whatever else must be there, by server-side apply, before the operator starts. */

import { UnknownKindError } from '../api/discovery.ts'
import { isNotFound } from '../api/status-error.ts'
import { kind, kindName } from '../resource/kind.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { type ApplyContext, established, FIELD_MANAGER, text } from './install-crds.ts'
import { isBusy, patiently } from './patiently.ts'
import type { Manifest } from './read-manifests.ts'

const PATIENCE_MS = 10_000

/** `namespace`: for namespaced objects that name none. Rejects with a `CliError` that names the object. */
export async function applyManifests(manifests: readonly Manifest[], namespace: string, context: ApplyContext): Promise<void> {
  const { client, clock, signal, log } = context
  for (const manifest of manifests) {
    const ref = kind<Manifest>(manifest.apiVersion, manifest.kind)
    try {
      await patiently(clock, signal, PATIENCE_MS, soon, async () => {
        const { namespaced } = await client.discovery.resolve(ref)
        const object = namespaced ? { ...manifest, metadata: { namespace, ...manifest.metadata } } : manifest
        await client.apply(ref, object, { fieldManager: FIELD_MANAGER, force: true, signal })
      })
    } catch (error) {
      signal.throwIfAborted()
      throw new CliError(exitCodes.cluster, `cannot apply ${kindName(manifest)} ${manifest.metadata.name}: ${text(error)}`, {
        cause: error,
      })
    }
    log.info({ kind: kindName(manifest), object: manifest.metadata.name }, 'applied')
    if (manifest.kind === 'CustomResourceDefinition') await established(manifest.metadata.name, context)
  }
}

/** A kind whose definition was just established is served a moment later; 404 comes from a namespace or an endpoint that is not there yet. */
function soon(error: unknown): boolean {
  return isBusy(error) || error instanceof UnknownKindError || isNotFound(error)
}
