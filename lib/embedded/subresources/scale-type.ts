/** `autoscaling/v1`, Scale: a kind that is never stored. */
import { builtinShape } from '../builtin/shapes/shape.ts'
import { ageOf, NAME_AND_AGE } from '../table.ts'
import type { ApiObject, ResourceType, Schema, TableColumn } from '../types.ts'

/** Nothing in a Scale is a list: a strategic patch of it is a merge. */
const ANYTHING: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const [NAME, AGE] = NAME_AND_AGE.columns as readonly [TableColumn, TableColumn]

export const SCALE: ResourceType = {
  group: 'autoscaling',
  version: 'v1',
  resource: 'scales',
  singular: 'scale',
  kind: 'Scale',
  listKind: 'ScaleList',
  shortNames: [],
  categories: [],
  namespaced: true,
  custom: false,
  verbs: [],
  subresources: [],
  bucket: 'autoscaling/scales',
  storageVersion: 'autoscaling/v1',
  schema: { root: ANYTHING, resolve: (schema) => schema },
  strategy: {},
  columns: {
    columns: [
      NAME,
      { name: 'Desired', type: 'integer', description: 'Number of desired replicas' },
      { name: 'Available', type: 'integer', description: 'Number of actual replicas' },
      AGE,
    ],
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      ageOf(metadata.creationTimestamp, now),
    ],
  },
  prune: (object: ApiObject) => builtinShape('autoscaling', 'v1', 'Scale')?.decode(object) ?? [],
}
