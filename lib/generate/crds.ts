/** The definitions of the handlers' kinds as manifests, one file each. */

import { type Endpoint, withConversion } from '../admission/configurations.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import type { CustomResourceDefinition } from '../resource/kind.ts'
import type { GeneratedFile } from './plan.ts'
import { toYaml } from './yaml.ts'

/**
 * Every definition once, by name; those of kinds defined elsewhere (`foreign`) are left to their owners. `endpoint`: whom the API server asks for
 * conversions, of kinds that have some.
 */
export function definitionsOf(specs: readonly HandlerSpec[], endpoint?: Endpoint): CustomResourceDefinition[] {
  const found = new Map<string, CustomResourceDefinition>()
  for (const { kind, owns, watches } of specs) {
    for (const { crd, foreign, conversion } of [kind, ...owns.map((owned) => owned.kind), ...watches.map((watched) => watched.kind)]) {
      if (crd === undefined || foreign === true) continue
      found.set(crd.metadata.name, (endpoint === undefined ? undefined : withConversion({ crd, conversion }, endpoint)) ?? crd)
    }
  }
  return [...found.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** `databases.db.example.com.yaml` and so on. */
export function crdFiles(definitions: readonly CustomResourceDefinition[]): GeneratedFile[] {
  return definitions.map((crd) => ({ path: `${crd.metadata.name}.yaml`, content: toYaml(crd) }))
}
