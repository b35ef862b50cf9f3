/** Until crd/ is there: custom kinds without a schema, established at once. */
import type { Core } from '../core.ts'
import type { ApiObject, ResourceType, Schema } from '../types.ts'

const ANYTHING: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

export function startDefinitions(core: Core): void {
  core.store.bucket('apiextensions.k8s.io/customresourcedefinitions').watch(core.store.revision, ({ type, object }) => {
    const { group, names } = object.spec
    core.registry.set(
      group,
      names.plural,
      type === 'DELETED' ? [] : object.spec.versions.filter((v: ApiObject) => v.served).map((v: ApiObject) => typeOf(object, v)),
    )
    if (type === 'ADDED') core.tasks.soon(() => establish(core, object.metadata.name ?? ''))
  })
}

function establish(core: Core, name: string): void {
  const bucket = core.store.bucket('apiextensions.k8s.io/customresourcedefinitions')
  const stored = bucket.get('', name)
  if (stored === undefined) return
  const at = new Date(core.clock.now()).toISOString()
  const condition = (type: string, reason: string) => ({ type, status: 'True', reason, message: '', lastTransitionTime: at })
  const status = {
    conditions: [condition('NamesAccepted', 'NoConflicts'), condition('Established', 'InitialNamesAccepted')],
    acceptedNames: stored.object.spec.names,
    storedVersions: ['v1'],
  }
  bucket.put('', name, { ...stored.object, metadata: { ...stored.object.metadata }, status }, stored.revision)
}

// biome-ignore lint/suspicious/noExplicitAny: a stand-in
function typeOf({ spec }: ApiObject, version: any): ResourceType {
  const { group, names, scope } = spec
  const storage = spec.versions.find((each: { storage: boolean }) => each.storage)?.name ?? version.name
  const subresources = Object.keys(version.subresources ?? {})
  const scale = version.subresources?.scale
  return {
    group,
    version: version.name,
    resource: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    custom: true,
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    subresources,
    bucket: `${group}/${names.plural}`,
    storageVersion: `${group}/${storage}`,
    schema: { root: version.schema?.openAPIV3Schema ?? ANYTHING, resolve: (schema) => schema },
    strategy: { generation: true, allowUnconditionalUpdate: false },
    ...(scale === undefined
      ? {}
      : { scale: { spec: scale.specReplicasPath, status: scale.statusReplicasPath, selector: scale.labelSelectorPath } }),
  }
}
